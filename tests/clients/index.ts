// The suites of HTTP clients, as their authors wrote them, with ours attached to every instance: for an address that they never call, and for all.
// `pnpm check clients`; `pnpm example tests/clients/index.ts ky` runs one of them.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath, pathToFileURL } from 'node:url';
import '@service-auth/test-tools/end-with-this-process';
import { differences } from './differences.ts';
import { install } from './install.ts';
import { type Suite, suites } from './suites.ts';

const redirectImports = fileURLToPath(new URL('attach/redirect-imports.ts', import.meta.url));

type Covered = 'foreign' | 'all';

/** The names of the tests that pass. Of several with one name, all do. */
async function passing(
  name: string,
  suite: Suite,
  folder: string,
  { covered, only }: { covered?: Covered; only?: ReadonlySet<string> } = {},
): Promise<ReadonlySet<string>> {
  const preloads = [redirectImports, ...(suite.preload ? [suite.preload] : [])];
  const ours = covered && {
    COVERED: covered,
    NODE_OPTIONS: ['--conditions=@service-auth/source', ...preloads.map((file) => `--import=${file}`)].join(' '),
    ...(suite.standIn && { CLIENT_STAND_IN: pathToFileURL(suite.standIn).href }),
  };
  const [command = '', ...argv] = [...suite.run, ...(only ? suite.some([...only]) : suite.all)];
  // In CI, got's tests allow for slow machines.
  const env = { ...process.env, CI: 'true', CLIENT: name, CLIENT_ENTRY: `${folder}/${suite.entry}`, ...ours };
  const child = spawn(command, argv, { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'], detached: true });
  const lines = (await text(child.stdout)).matchAll(
    /^(not )?ok(?: \d+)?(?: -)? (.*?)( # (?:SKIP|TODO)\b.*| # time=.*)?$/gm,
  );
  // A test that the suite itself skips neither passes nor fails. One that is skipped only with ours is missing among those that pass, so it is reported.
  const passed = new Set<string>();
  const failed = new Set<string>();
  for (const [, not, title = '', directive = ''] of lines) {
    if (!/SKIP|TODO/.test(directive)) (not ? failed : passed).add(title.replace(`${folder}/`, ''));
  }
  return without(passed, failed);
}

function without(names: ReadonlySet<string>, others: ReadonlySet<string>): ReadonlySet<string> {
  return new Set([...names].filter((name) => !others.has(name)));
}

const names = process.argv.slice(2);
for (const [name, suite] of Object.entries(suites)) {
  if (names.length > 0 && !names.includes(name)) continue;
  const folder = await install(suite);
  const before = await passing(name, suite, folder);
  for (const covered of ['foreign', 'all'] as const) {
    const listed = new Set((differences[name]?.[covered] ?? []).flatMap(({ tests }) => tests));
    let lost = without(before, await passing(name, suite, folder, { covered }));
    // Some tests measure time, so what fails unexpectedly runs again, with ours and without.
    for (let again = 0; again < 2 && without(lost, listed).size > 0; again += 1) {
      const unexpected = without(lost, listed);
      const kept = await passing(name, suite, folder, { covered, only: unexpected });
      const failing = without(unexpected, await passing(name, suite, folder, { only: unexpected }));
      lost = without(without(lost, kept), failing);
    }
    console.log(
      `${name} ${suite.version}, ${covered}: ${before.size - lost.size} of the ${before.size} that pass without ours; ${listed.size} listed.`,
    );
    const problems = [
      ...[...without(lost, listed)].map((test) => `fails with ours: ${test}`),
      ...[...without(listed, lost)].map((test) => `is listed, but does not fail, or not only with ours: ${test}`),
    ];
    for (const problem of problems) console.error(`${name}, ${covered}: ${problem}`);
    if (problems.length > 0 || before.size === 0) process.exitCode = 1;
  }
}

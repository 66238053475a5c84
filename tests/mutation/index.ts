// Changes the sources in small ways and looks whether the tests notice: `pnpm mutation [group [file ...]]`, all groups without a name. With `--sample 20 --seed 7`
// only 20 mutants of each group, which this seed draws. All of them take a day. docs/data/mutation.json has what it found last.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { cpSync, globSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../protocol/src/random.ts';
import { root } from '../support/tools/packages/packages.ts';
import { type Mutant, mutantsOf, mutated } from './mutants.ts';

interface Group {
  readonly package: string;
  /** The tests that have to notice. */
  readonly tests: readonly string[];
  readonly mutate: readonly string[];
  /** The least share of mutants that the tests must notice, those in `equivalent.json` left out. Default: any. */
  readonly least?: number;
  /** True: only the tests near a changed file run, because all of them take minutes. Others may notice what those do not. */
  readonly onlyNear?: boolean;
}

type Result = 'noticed' | 'timed out' | 'equivalent' | 'not noticed';

/** A mutant that no test can notice, and the reason. */
interface Equivalent {
  readonly file: string;
  /** The line as it is in the source, without the white space around it. */
  readonly line: string;
  readonly replacement: string;
  readonly why: string;
}

const source = 'packages/core/src';
const proved = [
  ...['ledger/*', 'token/memory', 'token/cached-token', 'platform/instant', 'record/seal'],
  ...['endpoint/url-scope', 'endpoint/token-endpoint'],
];
// The tests of the ledger have a folder of their own, those of the other rooms lie beside each other.
const testOf = (name: string) => (name.startsWith('ledger/') ? name : basename(name));
const whole = (name: string): Group => ({
  package: name,
  tests: [`packages/${name}/test/**/*.test.ts`],
  mutate: [`packages/${name}/src/**/*.ts`],
});
const adapter = (name: string): Group => {
  const group = whole(name);
  return { ...group, tests: [...group.tests, `tests/compat/http-clients/test/${name}.test.ts`], least: 85 };
};
/** Nobody has tried all their mutants yet, so no share is demanded. */
const others = [...['cloudflare', 'dynamodb', 'mysql', 'postgres', 'redis', 'sqlite'], ...['opentelemetry', 'testing']];
const groups: Readonly<Record<string, Group>> = {
  proved: {
    package: 'core',
    // Their own tests alone, so that a mutant does not have to be noticed by accident.
    tests: proved.map((name) => `packages/core/test/${testOf(name)}.test.ts`),
    mutate: proved.map((name) => `${source}/${name}.ts`),
    least: 100,
  },
  core: { ...whole('core'), least: 95 },
  axios: adapter('axios'),
  fetch: adapter('fetch'),
  got: adapter('got'),
  undici: adapter('undici'),
  nestjs: adapter('nestjs'),
  ...Object.fromEntries(others.map((name) => [name, whole(name)])),
  // Without the fleets of processes that are killed for minutes.
  file: { ...whole('file'), tests: ['packages/file/test/!(fleet|interruptions|kills).test.ts'] },
  cli: { ...whole('cli'), onlyNear: true },
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    sample: { type: 'string' },
    seed: { type: 'string', default: String(Math.floor(Date.now() / 86_400_000)) },
  },
});
const [asked, ...files] = positionals;
if (asked && !(asked in groups)) {
  console.error(`No such group: ${asked}. There are: ${Object.keys(groups).join(', ')}.`);
  process.exit(2);
}
const folder = join(root, 'tests/mutation');
execFileSync('pnpm', ['install', '--frozen-lockfile', '--dir', join(folder, 'tools')], { stdio: 'pipe' });
const equivalents = JSON.parse(readFileSync(join(folder, 'equivalent.json'), 'utf8')) as Equivalent[];
const copy = mkdtempSync(join(tmpdir(), 'service-auth-mutation-'));
let running: ChildProcess | undefined;
process.on('exit', () => {
  end(running);
  rmSync(copy, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130));
copyTo(copy);
/** How long the tests of these files take without a change. */
const durations = new Map<string, number>();
for (const [name, group] of Object.entries(groups)) if (asked === undefined || asked === name) await run(name, group);

async function run(name: string, group: Group): Promise<void> {
  const tests = globSync(group.tests, { cwd: root }).sort();
  const mutate = files.length > 0 ? files.map((file) => `packages/${group.package}/src/${file}.ts`) : group.mutate;
  const all = await mutantsOf(globSync(mutate, { cwd: root }).sort());
  const mutants = values.sample ? createRandom(values.seed).shuffled(all).slice(0, Number(values.sample)) : all;
  const results = new Map<Mutant, Result>();
  for (const mutant of mutants) {
    const result = await resultOf(mutant, tests, group.onlyNear);
    results.set(mutant, result);
    const { file, line, column, mutator, replacement } = mutant;
    console.log(`${result}: ${file}:${line}:${column} ${mutator}`);
    if (result === 'not noticed') console.log(`  ${lineOf(mutant)}\n  -> ${replacement}`);
  }
  const summary = (of: readonly Mutant[]) => {
    const count = (...these: Result[]) => of.filter((mutant) => these.includes(results.get(mutant) as Result)).length;
    const noticed = count('noticed', 'timed out');
    return {
      mutants: of.length,
      noticed,
      'by a time-out': count('timed out'),
      equivalent: count('equivalent'),
      'not noticed': count('not noticed'),
      share: Number(((100 * noticed) / (of.length - count('equivalent'))).toFixed(1)),
    };
  };
  const paths = [...new Set(mutants.map(({ file }) => file))].sort();
  const rows = paths.map((path) => [path, summary(mutants.filter(({ file }) => file === path))]);
  const total = summary(mutants);
  console.table({ ...Object.fromEntries(rows), [name]: total });
  // The share of a few mutants says little.
  if (!values.sample && total.share < (group.least ?? 0)) process.exitCode = 1;
}

/** Runs first the tests near the changed file, whose names have a word in common with it: most mutants are noticed before the others begin. */
async function resultOf(mutant: Mutant, tests: readonly string[], onlyNear = false): Promise<Result> {
  if (equivalents.some((equivalent) => isSame(mutant, equivalent))) return 'equivalent';
  const own = wordsOf(mutant.file);
  const near = tests.filter((test) => wordsOf(test).some((word) => own.includes(word)));
  const rest = onlyNear && near.length > 0 ? [] : tests.filter((test) => !near.includes(test));
  for (const these of [near, rest].filter(({ length }) => length > 0)) {
    const limitMs = 10_000 + 3 * (await durationOf(these));
    const path = join(copy, mutant.file);
    const text = readFileSync(path, 'utf8');
    writeFileSync(path, mutated(text, mutant));
    const code = await vitest(these, limitMs);
    writeFileSync(path, text);
    if (code !== 0) return code === undefined ? 'timed out' : 'noticed';
  }
  return 'not noticed';
}

function wordsOf(path: string): string[] {
  return path.replace(/^.*?\/(src|test)\/|(\.test)?\.ts$/g, '').split(/\W/);
}

async function durationOf(tests: readonly string[]): Promise<number> {
  const key = tests.join();
  const startedAt = performance.now();
  const known = durations.get(key);
  if (known !== undefined) return known;
  if ((await vitest(tests)) !== 0) throw new Error(`tests fail without a change:\n${readFileSync(join(copy, 'log'))}`);
  const duration = performance.now() - startedAt;
  durations.set(key, duration);
  return duration;
}

/** Runs tests in the copy and returns the code with which they ended. Undefined: they took too long. */
async function vitest(tests: readonly string[], limitMs?: number): Promise<number | undefined> {
  const log = openSync(join(copy, 'log'), 'w');
  const command = join(root, 'node_modules/.bin/vitest');
  // A group of processes, to end what the tests started, too.
  const child = spawn(command, ['run', '--bail=1', '--project=!compat*', ...tests], {
    cwd: copy,
    stdio: ['ignore', log, log],
    detached: true,
  });
  running = child;
  let isLate = false;
  const timer = setTimeout(
    () => {
      isLate = true;
      end(child);
    },
    limitMs ?? 2 ** 31 - 1,
  );
  const code = await new Promise<number>((resolve) => child.once('exit', (code) => resolve(code ?? 1)));
  clearTimeout(timer);
  running = undefined;
  return isLate ? undefined : code;
}

function end(child: ChildProcess | undefined): void {
  if (child?.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
}

/** The repository as it is, without what was built or fetched. */
function copyTo(folder: string): void {
  const left = new Set(['.git', 'dist', '.cache', '.turbo', '.vite', '.vite-temp']);
  const modules = join(root, 'node_modules');
  const filter = (path: string) => path !== modules && !left.has(basename(path));
  cpSync(root, folder, { recursive: true, verbatimSymlinks: true, filter });
  symlinkSync(modules, join(folder, 'node_modules'));
}

function isSame(mutant: Mutant, { file, line, replacement }: Equivalent): boolean {
  return mutant.file === file && mutant.replacement === replacement && lineOf(mutant) === line;
}

function lineOf({ file, line }: Mutant): string {
  return readFileSync(join(root, file), 'utf8').split('\n')[line - 1]?.trim() ?? '';
}

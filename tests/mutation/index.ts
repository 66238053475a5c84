// Changes the sources in small ways and looks whether the tests notice: `pnpm mutation [group [file ...]]`, all groups without a name. With `--sample 20 --seed 7`
// only what stands on 20 lines of the group that this seed draws.
// It takes hours, so no check runs it. What it found last is in docs/data/mutation.json.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { createRandom } from '../chaos/src/random.ts';
import { root } from '../support/tools/packages/packages.ts';

interface Group {
  readonly package: string;
  /** The tests that have to notice. */
  readonly tests: readonly string[];
  readonly mutate: readonly string[];
  /** The least share of mutants that the tests must notice, those in `equivalent.json` left out. Default: any. */
  readonly least?: number;
  /** A test that takes longer has noticed. */
  readonly testTimeoutMs: number;
}

/** The part of a Stryker mutant that this script uses. Stryker is installed only when it runs. */
interface Mutant {
  readonly status: string;
  readonly fileName: string;
  readonly location: { readonly start: { readonly line: number; readonly column: number } };
  readonly mutatorName: string;
  readonly replacement: string;
}
type StrykerModule = { Stryker: new (options: object) => { runMutationTest(): Promise<Mutant[]> } };

/** A mutant that no test can notice, and the reason. */
interface Equivalent {
  readonly file: string;
  /** The line as it is in the source, without the white space around it. */
  readonly line: string;
  readonly replacement: string;
  readonly why: string;
}

const withoutCode = /^\s*(\W*$|\/?\*|\/\/|import |export (type|interface|\*|\{))/;
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
  testTimeoutMs: 20_000,
});
const adapter = (name: string): Group => {
  const group = whole(name);
  return { ...group, tests: [...group.tests, `tests/compat/http-clients/test/${name}.test.ts`], least: 85 };
};
/** Nobody has tried all their mutants yet, so no share is demanded. */
const others = [
  ...['cloudflare', 'dynamodb', 'file', 'mysql', 'postgres', 'redis', 'sqlite'],
  ...['cli', 'opentelemetry', 'testing'],
];
const groups: Readonly<Record<string, Group>> = {
  proved: {
    package: 'core',
    // Their own tests alone, so that a mutant does not have to be noticed by accident.
    tests: proved.map((name) => `packages/core/test/${testOf(name)}.test.ts`),
    mutate: proved.map((name) => `${source}/${name}.ts`),
    least: 100,
    // Counting what is covered makes loops over millions slow.
    testTimeoutMs: 60_000,
  },
  core: {
    package: 'core',
    tests: ['packages/core/test/**/*.test.ts'],
    mutate: [`${source}/**/*.ts`, ...proved.map((name) => `!${source}/${name}.ts`)],
    least: 95,
    testTimeoutMs: 6_000,
  },
  axios: adapter('axios'),
  fetch: adapter('fetch'),
  got: adapter('got'),
  undici: adapter('undici'),
  nestjs: adapter('nestjs'),
  ...Object.fromEntries(others.map((name) => [name, whole(name)])),
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { sample: { type: 'string' }, seed: { type: 'string', default: '1' } },
});
const [asked, ...files] = positionals;
if (asked && !(asked in groups)) {
  console.error(`No such group: ${asked}. There are: ${Object.keys(groups).join(', ')}.`);
  process.exit(2);
}
const folder = join(root, 'tests/mutation');
execFileSync('pnpm', ['install', '--frozen-lockfile', '--dir', join(folder, 'tools')], { stdio: 'pipe' });
const { Stryker } = (await import(
  createRequire(join(folder, 'tools/package.json')).resolve('@stryker-mutator/core')
)) as StrykerModule;
const equivalents = JSON.parse(readFileSync(join(folder, 'equivalent.json'), 'utf8')) as Equivalent[];
for (const [name, group] of Object.entries(groups)) if (asked === undefined || asked === name) await run(name, group);

async function run(name: string, group: Group): Promise<void> {
  process.env['MUTATION_PACKAGE'] = group.package;
  process.env['MUTATION_TESTS'] = group.tests.join(' ');
  process.env['MUTATION_TEST_TIMEOUT'] = `${group.testTimeoutMs}`;
  const cache = `node_modules/.cache/mutation/${name}`;
  const tempDirName = `.stryker-tmp-${name}`;
  // Only what the tests of the package need.
  const needed = [
    `packages/${group.package}/**`,
    'tests/compat/http-clients/**',
    'tests/support/**',
    'tests/mutation/*.ts',
    'docs/*.md',
    '*.json',
  ];
  const mutate = files.length > 0 ? files.map((file) => `packages/${group.package}/src/${file}.ts`) : group.mutate;
  const mutants = await new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'tests/mutation/vitest.config.ts', related: false },
    mutate: values.sample ? sampleOf(mutate, Number(values.sample), Number(values.seed)) : mutate,
    ignorePatterns: [
      '/**',
      '!/{packages,tests}/',
      '!/tests/{compat,mutation,support}/',
      ...needed.map((pattern) => `!/${pattern}`),
      'node_modules',
      'dist',
    ],
    coverageAnalysis: 'perTest',
    // Stryker remembers which test noticed which mutant. It runs again the mutants of changed code, and survivors that new tests may notice.
    incremental: true,
    incrementalFile: `${cache}.incremental.json`,
    reporters: ['progress-append-only', 'json', 'html'],
    jsonReporter: { fileName: `${cache}.json` },
    htmlReporter: { fileName: `${cache}.html` },
    // One more than most have processors: a mutant that never answers only waits.
    concurrency: 3,
    timeoutMS: 6_000,
    tempDirName,
    logLevel: 'warn',
  }).runMutationTest();
  rmSync(join(root, tempDirName), { recursive: true, force: true });

  const noticed = ({ status }: Mutant) => status === 'Killed' || status === 'Timeout';
  const survived = ({ status }: Mutant) => status === 'Survived' || status === 'NoCoverage';
  const isEquivalent = (mutant: Mutant) => equivalents.some((equivalent) => isSame(mutant, equivalent));
  const unexplained = mutants.filter((mutant) => survived(mutant) && !isEquivalent(mutant));
  for (const { fileName, location, mutatorName, replacement } of unexplained) {
    const { line, column } = location.start;
    console.log(`${relative(root, fileName)}:${line}:${column} ${mutatorName}`);
    console.log(`  ${lineOf(fileName, line)}\n  -> ${replacement}`);
  }
  const summary = (of: readonly Mutant[]) => {
    const count = (is: (mutant: Mutant) => boolean) => of.filter(is).length;
    const counted = count(noticed) + of.filter((mutant) => unexplained.includes(mutant)).length;
    return {
      mutants: of.length,
      noticed: count(noticed),
      'by a time-out': count(({ status }) => status === 'Timeout'),
      equivalent: count((mutant) => survived(mutant) && isEquivalent(mutant)),
      'not noticed': counted - count(noticed),
      'could not run': count((mutant) => !noticed(mutant) && !survived(mutant)),
      share: Number(((100 * count(noticed)) / counted).toFixed(1)),
    };
  };
  const total = summary(mutants);
  const paths = [...new Set(mutants.map(({ fileName }) => fileName))].sort();
  const rows = paths.map((path) => [
    relative(root, path),
    summary(mutants.filter((mutant) => mutant.fileName === path)),
  ]);
  console.table({ ...Object.fromEntries(rows), [name]: total });
  if (total.share < (group.least ?? 0)) process.exitCode = 1;
}

/** Draws lines with code, each as Stryker takes it: `file:7-7`. */
function sampleOf(patterns: readonly string[], count: number, seed: number): readonly string[] {
  const paths = globSync([...patterns], { cwd: root }).sort();
  const lines = paths.flatMap((path) =>
    readFileSync(join(root, path), 'utf8')
      .split('\n')
      .flatMap((line, index) => (withoutCode.test(line) ? [] : [`${path}:${index + 1}-${index + 1}`])),
  );
  return createRandom(seed).shuffled(lines).slice(0, count);
}

function isSame(mutant: Mutant, equivalent: Equivalent): boolean {
  return (
    relative(root, mutant.fileName) === equivalent.file &&
    mutant.replacement === equivalent.replacement &&
    lineOf(mutant.fileName, mutant.location.start.line) === equivalent.line
  );
}

function lineOf(file: string, line: number): string {
  return readFileSync(file, 'utf8').split('\n')[line - 1]?.trim() ?? '';
}

// Changes the sources in small ways and looks whether the tests notice: `pnpm mutation [group ...]`, all groups without a name.
// It takes an hour, so no check runs it. What it found last is in docs/mutation-testing.md.
import { readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { Stryker } from '@stryker-mutator/core';
import { root } from './packages.ts';

interface Group {
  readonly package: string;
  /** The tests that have to notice. */
  readonly tests: readonly string[];
  readonly mutate: readonly string[];
  /** The least share of mutants that the tests must notice, those in `equivalent.json` left out. */
  readonly least: number;
}

/** A mutant that no test can notice, and the reason. */
interface Equivalent {
  readonly file: string;
  /** The line as it is in the source, without the white space around it. */
  readonly line: string;
  readonly replacement: string;
  readonly why: string;
}

const source = 'packages/core/src';
const proved = ['ledger/*', 'seal', 'url-scope', 'token-endpoint'];
const adapter = (name: string): Group => ({
  package: name,
  tests: [`packages/${name}/test/**/*.test.ts`],
  mutate: [`packages/${name}/src/**/*.ts`],
  least: 85,
});
const groups: Readonly<Record<string, Group>> = {
  proved: {
    package: 'core',
    // Their own tests alone, so that a mutant does not have to be noticed by accident.
    tests: proved.map((name) => `packages/core/test/${name}.test.ts`),
    mutate: proved.map((name) => `${source}/${name}.ts`),
    least: 100,
  },
  core: {
    package: 'core',
    tests: ['packages/core/test/**/*.test.ts'],
    mutate: [`${source}/**/*.ts`, ...proved.map((name) => `!${source}/${name}.ts`)],
    least: 95,
  },
  axios: adapter('axios'),
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in groups));
if (unknown.length > 0) {
  console.error(`No such group: ${unknown.join(', ')}. There are: ${Object.keys(groups).join(', ')}.`);
  process.exit(2);
}
const equivalents = JSON.parse(readFileSync(join(root, 'scripts/mutation/equivalent.json'), 'utf8')) as Equivalent[];
for (const [name, group] of Object.entries(groups))
  if (asked.length === 0 || asked.includes(name)) await run(name, group);

async function run(name: string, { package: folder, tests, mutate, least }: Group): Promise<void> {
  process.env['MUTATION_TESTS'] = tests.join(' ');
  const cache = `node_modules/.cache/mutation/${name}`;
  const tempDirName = `.stryker-tmp-${name}`;
  const mutants = await new Stryker({
    testRunner: 'vitest',
    plugins: ['@stryker-mutator/vitest-runner'],
    vitest: { configFile: 'scripts/mutation/vitest.config.ts', related: false },
    mutate: [...mutate],
    // Only what the tests of the package need, and none of the links between packages: those would lead back to the originals.
    ignorePatterns: [
      '/**',
      ...[
        'packages',
        `packages/${folder}`,
        `packages/${folder}/**`,
        'scripts',
        'scripts/mutation',
        'scripts/mutation/**',
      ],
      ...['package.json', 'tsconfig*.json'],
    ]
      .map((pattern, index) => (index === 0 ? pattern : `!/${pattern}`))
      .concat('node_modules', 'dist'),
    coverageAnalysis: 'perTest',
    // What was noticed and by which test: run again are mutants of changed code, and survivors that new tests may notice.
    incremental: true,
    incrementalFile: `${cache}.incremental.json`,
    reporters: ['progress-append-only', 'json', 'html'],
    jsonReporter: { fileName: `${cache}.json` },
    htmlReporter: { fileName: `${cache}.html` },
    concurrency: 2,
    timeoutMS: 30_000,
    tempDirName,
    logLevel: 'warn' as never,
  }).runMutationTest();
  rmSync(join(root, tempDirName), { recursive: true, force: true });

  const count = (...statuses: string[]) => mutants.filter(({ status }) => statuses.includes(status)).length;
  const survivors = mutants.filter(({ status }) => status === 'Survived' || status === 'NoCoverage');
  const unexplained = survivors.filter((mutant) => !equivalents.some((equivalent) => isSame(mutant, equivalent)));
  for (const { fileName, location, mutatorName, replacement } of unexplained) {
    console.log(
      `${relative(root, fileName)}:${location.start.line}:${location.start.column} ${mutatorName}\n  ${lineOf(fileName, location.start.line)}\n  -> ${replacement}`,
    );
  }
  const noticed = count('Killed', 'Timeout');
  const score = (100 * noticed) / (noticed + unexplained.length);
  console.log(
    `${name}: ${noticed} of ${noticed + survivors.length} noticed (${count('Timeout')} by a time-out), ` +
      `${survivors.length - unexplained.length} equivalent, ${unexplained.length} not noticed: ${score.toFixed(1)} %`,
  );
  if (score < least) process.exitCode = 1;
}

function isSame(
  mutant: { fileName: string; location: { start: { line: number } }; replacement: string },
  equivalent: Equivalent,
): boolean {
  return (
    relative(root, mutant.fileName) === equivalent.file &&
    mutant.replacement === equivalent.replacement &&
    lineOf(mutant.fileName, mutant.location.start.line) === equivalent.line
  );
}

function lineOf(file: string, line: number): string {
  return readFileSync(file, 'utf8').split('\n')[line - 1]?.trim() ?? '';
}

// Everything that CI runs. `pnpm check` runs all of it, `pnpm check types lint` only that,
// `pnpm check --without test` all but that. Every step runs even if one before it failed.
import { spawnSync } from 'node:child_process';
import { root } from './packages.ts';

// The one question for which the linter needs types, and a tool of its own.
const promiseRules = ['no-floating-promises', 'await-thenable'];

const source = '--conditions=@service-auth/source';
// The tests of core take every branch of it.
const ledger = 'packages/core/src/ledger';

const steps: Record<string, string[]> = {
  lint: ['biome', 'ci', '--colors=off', '.'],
  promises: ['oxlint', '--type-aware', '--allow=all', ...promiseRules.map((rule) => `--deny=typescript/${rule}`)],
  types: ['tsc', '--project', 'tsconfig.json'],
  'types-web': ['tsc', '--project', 'tsconfig.web.json'],
  unused: ['knip'],
  packages: ['node', 'scripts/check-packages.ts'],
  imports: ['node', 'scripts/check-imports.ts'],
  comments: ['node', 'scripts/check-comments.ts'],
  docs: ['node', 'scripts/check-docs.ts'],
  links: ['node', 'scripts/check-links.ts'],
  test: ['vitest', 'run', '--project=core', '--project=light', '--project=isolated', '--project=heavy'],
  coverage: [
    'vitest',
    'run',
    '--coverage',
    `--coverage.include=${ledger}/**`,
    '--project=core',
    '--project=isolated',
    'packages/core',
  ],
  // The longest tests in full. `pnpm test` runs a part of them.
  thorough: ['vitest', 'run', '--project=thorough'],
  compat: ['vitest', 'run', '--project=compat*'],
  simulation: ['node', source, 'tests/protocol/simulate.ts'],
  build: ['turbo', 'run', 'build', '--output-logs=errors-only'],
  size: ['node', 'scripts/check-size.ts'],
  packed: ['node', 'scripts/check-packed.ts'],
  outcomes: ['node', source, 'scripts/check-outcomes.ts'],
  runtimes: ['node', source, 'scripts/check-runtimes.ts'],
  next: ['node', source, 'scripts/check-next.ts'],
  observability: ['vitest', 'run', '--project=observability'],
  frameworks: ['node', 'scripts/check-frameworks.ts'],
  release: ['node', 'scripts/check-release.ts'],
};

const asked = process.argv.slice(2);
const without = asked[0] === '--without';
const unknown = asked.slice(without ? 1 : 0).filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`No such step: ${unknown.join(', ')}. There are: ${Object.keys(steps).join(', ')}.`);
  process.exit(2);
}
const chosen = Object.entries(steps).filter(([name]) => asked.length === 0 || asked.includes(name) !== without);

if (chosen.length === 0 || (without && asked.length === 1)) {
  console.error(`Nothing to check. There are: ${Object.keys(steps).join(', ')}.`);
  process.exit(2);
}

const failed: string[] = [];
for (const [name, [command = '', ...argv]] of chosen) {
  const startedAt = performance.now();
  const run = spawnSync(command, argv, {
    cwd: root,
    encoding: 'utf8',
    stdio: name === 'test' ? 'inherit' : 'pipe',
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  });
  const passed = run.status === 0;
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${passed ? '✓' : '✗'} ${name.padEnd(10)} ${seconds.padStart(5)} s`);
  const output = `${run.stdout ?? ''}${run.stderr ?? ''}${run.error ?? ''}`.trimEnd();
  const notes = output.split('\n').filter((line) => line.startsWith('warning: '));
  if (passed) for (const note of notes) console.log(`    ${note}`);
  else {
    failed.push(name);
    console.log(`\n${command} ${argv.join(' ')}\n${output}\n`);
  }
}

console.log(
  failed.length === 0
    ? `\nAll ${chosen.length} checks passed.`
    : `\n${failed.length} of ${chosen.length} checks failed: ${failed.join(', ')}.`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

import { check, quick } from './suites.ts';

// The one question for which the linter needs types, and a tool of its own.
const promiseRules = ['no-floating-promises', 'await-thenable'];

const source = '--conditions=@service-auth/source';
// The tests of core take every branch of it.
const ledger = 'packages/core/src/ledger';

/** The command line of each check, in the order in which CI runs them. */
export const steps: Record<string, string[]> = {
  lint: ['biome', 'ci', '--colors=off', '.'],
  promises: ['oxlint', '--type-aware', '--allow=all', ...promiseRules.map((rule) => `--deny=typescript/${rule}`)],
  types: ['tsc', '--project', 'tsconfig.json'],
  'types-site': ['docs/node_modules/.bin/vue-tsc', '--project', 'docs/.vitepress/theme/tsconfig.json'],
  'types-web': ['tsc', '--project', 'tsconfig.web.json'],
  unused: ['knip'],
  packages: ['node', 'scripts/check-packages.ts'],
  imports: ['node', 'scripts/check-imports.ts'],
  comments: ['node', 'scripts/check-comments.ts'],
  docs: ['node', 'scripts/check-docs.ts'],
  links: ['node', 'scripts/check-links.ts'],
  suites: ['node', 'scripts/check-suites.ts'],
  test: ['vitest', 'run', quick],
  coverage: [
    'vitest',
    'run',
    '--coverage',
    `--coverage.include=${ledger}/**`,
    '--project=quick core',
    '--project=quick isolated',
    'packages/core',
  ],
  servers: check('servers'),
  'command-line': check('command-line'),
  examples: check('examples'),
  reliability: check('reliability'),
  compat: ['vitest', 'run', '--project=compat*'],
  simulation: ['node', source, 'tests/protocol/simulate.ts'],
  build: ['turbo', 'run', 'build', '--output-logs=errors-only'],
  size: ['node', 'scripts/check-size.ts'],
  packed: ['node', 'scripts/check-packed.ts'],
  outcomes: ['node', source, 'scripts/check-outcomes.ts'],
  runtimes: ['node', source, 'scripts/check-runtimes.ts'],
  workers: ['node', source, 'scripts/check-workers.ts'],
  next: ['node', source, 'scripts/check-next.ts'],
  observability: check('observability'),
  site: ['node', 'scripts/check-site.ts', '--project=site'],
  frameworks: ['node', 'scripts/check-frameworks.ts', '--project=frameworks'],
  release: ['node', 'scripts/check-release.ts'],
};

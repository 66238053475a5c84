/** One thing that must be true of the repository. */
export interface Check {
  /** The command line. Its test files, if Vitest runs it, are below. */
  readonly run: readonly string[];
  /** What no other check finds. */
  readonly finds: string;
  /** Its tests mostly wait for processes and sockets, so its files run side by side even beside another check. */
  readonly waits?: true;
  /** It does little but let time pass, so it runs beside two others. */
  readonly idles?: true;
  /** It takes longer than a change can wait for, so it runs only under `--night`, or if it is named. */
  readonly night?: true;
  /** The command line under `--night`, with larger numbers. Default: the same, and its tests see `isNight`. */
  readonly runAtNight?: readonly string[];
}

/**
 * The test files that need a server, start many processes or take minutes, by the check that runs them. `pnpm test` runs all others.
 * Each name is a project of vitest.config.ts.
 */
export const suites = {
  servers: [
    'packages/{dynamodb,mysql,postgres,redis}/test/**/*.test.ts',
    'packages/cloudflare/test/{contract,worker}.test.ts',
    'packages/sqlite/test/!(sqlite-store).test.ts',
    'tests/{interop,leaks}/test/*.test.ts',
  ],
  'command-line': ['packages/cli/test/**/*.test.ts'],
  examples: ['examples/{test,vitest}/*.test.ts'],
  reliability: [
    'packages/core/test/service-auth.{deaths,outage}.test.ts',
    'packages/file/test/{fleet,interruptions,kills}.test.ts',
    'tests/chaos/test/*.test.ts',
    'tests/protocol/test/*.test.ts',
    'tests/soak/test/*.test.ts',
  ],
  'cold-starts': ['tests/cold-starts/test/*.test.ts'],
  observability: ['tests/observability/test/*.test.ts'],
  packed: ['tests/packed/test/*.test.ts'],
  frameworks: ['tests/interop/frameworks/test/*.test.ts'],
  site: ['docs/test/{browser,built-site,pictures}.test.ts'],
} as const;

/** The projects of `pnpm test`. */
export const quick: string = '--project=quick*';

const source = '--conditions=@service-auth/source';
const suite = (name: keyof typeof suites) => ['vitest', 'run', `--project=${name}`];
// The one question for which the linter needs types, and a tool of its own.
const promiseRules = ['no-floating-promises', 'await-thenable'].map((rule) => `--deny=typescript/${rule}`);
// The tests of core take every branch of it.
const ledger = 'packages/core/src/ledger';

/** Everything that CI runs, in the order in which it begins: first what the others need or what ends at once, then the longest. Those of the night come last. */
export const checks: Readonly<Record<string, Check>> = {
  test: {
    run: ['vitest', 'run', quick, '--coverage', `--coverage.include=${ledger}/**`],
    finds: 'a behaviour that one package lost, and a branch of the ledger that no test takes',
  },
  build: {
    run: ['turbo', 'run', 'build', '--output-logs=errors-only'],
    finds: 'a package or a declaration that cannot be built',
  },
  lint: {
    run: ['biome', 'ci', '--colors=off', '.'],
    finds: 'code that breaks a rule of style or is formatted otherwise',
  },
  promises: {
    run: ['oxlint', '--type-aware', '--allow=all', ...promiseRules],
    finds: 'a promise that nobody awaits',
  },
  types: { run: ['tsc', '--project', 'tsconfig.json'], finds: 'a wrong type in sources, tests, examples and scripts' },
  'types-site': {
    run: ['docs/node_modules/.bin/vue-tsc', '--project', 'docs/.vitepress/theme/tsconfig.json'],
    finds: 'a wrong type in the theme of the site',
  },
  'types-web': {
    run: ['tsc', '--project', 'tsconfig.web.json'],
    finds: 'a use of Node in what runs in browsers and workers',
  },
  unused: { run: ['knip'], finds: 'a file, an export or a dependency that nobody uses' },
  api: {
    run: ['node', 'scripts/check-api.ts'],
    finds: 'a change of what a package offers to TypeScript that its report does not show',
  },
  packages: {
    run: ['node', 'scripts/check-packages.ts'],
    finds: 'a package of another shape',
  },
  imports: {
    run: ['node', 'scripts/check-imports.ts'],
    finds: 'a circle of files or folders, and an import that a file or a package may not have',
  },
  places: {
    run: ['node', 'scripts/check-places.ts'],
    finds: 'a place that nothing names when the type that it depends on gets a new member',
  },
  docs: {
    run: ['node', 'scripts/check-docs.ts'],
    finds: 'TypeScript in a page that does not compile, and a link that leads nowhere',
  },
  'command-line': {
    run: ['node', source, 'tests/packed/command-line.ts'],
    finds: 'a command that fails as published, on the oldest Node that it supports or the newest one',
    waits: true,
  },
  reliability: {
    run: suite('reliability'),
    finds: 'a promise that long outages, real kills and chaos over each store break, and a judge that does not tell',
  },
  packed: {
    run: suite('packed'),
    finds: 'an entry, a type, an example or a client that fails as published, on some Node or TypeScript',
  },
  servers: {
    run: suite('servers'),
    finds: 'a database or an OAuth server that behaves otherwise than a store or a client expects',
    waits: true,
  },
  observability: {
    run: suite('observability'),
    finds: 'an alert or a dashboard that Prometheus answers otherwise',
    idles: true,
  },
  'cold-starts': {
    run: suite('cold-starts'),
    finds: 'functions that start at once, or stop while they ask, and cost more tokens than they should',
    idles: true,
  },
  frameworks: {
    run: suite('frameworks'),
    finds: 'a framework, a bundler or Jest that stores a token, loses one or does not load the packages',
  },
  release: { run: ['node', 'tests/release/index.ts'], finds: 'a version that npm, pnpm, Yarn or Bun cannot install' },
  simulation: {
    run: ['node', source, 'tests/protocol/simulate.ts', '--seeds', '150'],
    runAtNight: ['node', source, 'tests/protocol/simulate.ts', '--minutes', '240'],
    finds: 'faults, clocks and processes in an order that exceeds the limit or breaks another promise',
  },
  site: {
    run: ['node', 'docs/check-site.ts'],
    finds: 'a page, a link or a budget of the site that a browser shows otherwise',
  },
  examples: { run: suite('examples'), finds: 'an example that prints something else than it says', waits: true },
  compat: {
    // The packed contract has the other versions by day.
    run: ['vitest', 'run', '--project=compat nest-10'],
    runAtNight: ['vitest', 'run', '--project=compat*'],
    finds: 'an older version of a client or of Nest that an adapter does not serve',
  },
  runtimes: {
    run: ['node', source, 'tests/runtimes/index.ts'],
    finds: 'a runtime that core or the fetch adapter does not run on',
  },
  workers: {
    run: ['node', source, 'tests/runtimes/try-worker-example.ts'],
    finds: 'a Worker that wrangler does not build, or that is issued two tokens',
  },
  outcomes: {
    run: ['node', source, 'tests/runtimes/compare-outcomes.ts'],
    finds: 'a runtime in which a failed request costs something else than its page says',
  },
  size: { run: ['node', 'scripts/check-size.ts'], finds: 'a package that grew' },
  chaos: {
    run: ['node', source, 'tests/chaos/index.ts', '60'],
    finds: 'an order of real kills, stops and outages over some store that breaks a promise',
    night: true,
  },
  worlds: {
    run: ['node', source, 'tests/protocol/worlds.ts'],
    finds: 'an outage in which callers wait longer, or more tokens are lost, than the pages say',
    night: true,
  },
  fuzz: {
    run: ['node', source, 'tests/protocol/fuzz.ts', '--runs', '100000'],
    finds: 'an input from outside that crashes, hangs or goes through',
    night: true,
  },
  mutation: {
    run: ['node', 'tests/mutation/index.ts', '--sample', '20'],
    finds: 'a change of the sources that no test notices',
    night: true,
  },
  clients: {
    run: ['node', source, 'tests/clients/index.ts'],
    finds: 'a test of an HTTP client, cloned from GitHub, that fails when an adapter is attached',
    night: true,
  },
};

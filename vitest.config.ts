import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultServerConditions } from 'vite';
import { configDefaults, type TestProjectInlineConfiguration, type ViteUserConfig } from 'vitest/config';
import { suites } from './scripts/checks.ts';

const inCi = Boolean(process.env['CI']);

const tests = [
  '{packages,tests,tests/compat,tests/support}/*/test/**/*.test.ts',
  '{bench,docs,examples,scripts}/test/**/*.test.ts',
  'examples/vitest/*.test.ts',
];
// They would measure what other tests do.
const measured = ['bench/test/**/*.test.ts'];
const core = ['packages/core/test/**/*.test.ts'];
// Each of these replaces modules, or looks at what the whole process holds, so it has a process of its own.
const isolated = [
  'packages/core/test/{fetch-transport,polluted-platform,prototype-pollution}.test.ts',
  'packages/file/test/**/*.test.ts',
  'packages/undici/test/global-proxy.test.ts',
];

type ProjectConfig = NonNullable<TestProjectInlineConfiguration['test']>;

/** A project of `pnpm test`, without the files that checks run. */
function quick(name: string, { exclude = [], ...test }: ProjectConfig): TestProjectInlineConfiguration {
  const others = Object.values(suites).flat();
  return {
    extends: true,
    test: { ...test, name: `quick ${name}`, exclude: [...configDefaults.exclude, ...exclude, ...others] },
  };
}

/** The project of a check: `pnpm check servers`. */
function suite(name: keyof typeof suites, test: ProjectConfig): TestProjectInlineConfiguration {
  return { extends: true, test: { ...test, name, include: [...suites[name]] } };
}

/** The folders of what a package under tests/compat depends on, by their names. */
function dependenciesOf(compat: URL): Record<string, string> {
  const { dependencies } = JSON.parse(readFileSync(compat, 'utf8')) as { dependencies: Record<string, string> };
  const folderOf = (name: string) => fileURLToPath(new URL(`node_modules/${name}`, compat));
  return Object.fromEntries(Object.keys(dependencies).map((name) => [name, folderOf(name)]));
}

/** The tests of @service-auth/nestjs with what tests/compat/nest-<version> depends on, in place of the package's own dependencies. */
function withNest(version: string): TestProjectInlineConfiguration {
  const compat = new URL(`tests/compat/nest-${version}/package.json`, import.meta.url);
  return {
    extends: true,
    root: fileURLToPath(new URL('packages/nestjs', import.meta.url)),
    resolve: { alias: dependenciesOf(compat) },
    test: {
      name: `compat nest-${version}`,
      include: ['test/*.test.ts'],
      env: { NEST: version },
      isolate: false,
    },
  };
}

/** The tests of @service-auth/opentelemetry with the older SDK and the oldest API. */
function withOpenTelemetry2(): TestProjectInlineConfiguration {
  const compat = new URL('tests/compat/opentelemetry-2/package.json', import.meta.url);
  const sdkTrace = fileURLToPath(new URL('sdk-trace.ts', compat));
  return {
    extends: true,
    root: fileURLToPath(new URL('packages/opentelemetry', import.meta.url)),
    resolve: { alias: { ...dependenciesOf(compat), '@opentelemetry/sdk-trace': sdkTrace } },
    test: {
      name: 'compat opentelemetry-2',
      include: ['test/*.test.ts'],
      execArgv: [`--import=${new URL('without-module.ts', compat)}`],
    },
  };
}

// Vitest has Node resolve by these too. Node alone does not know `module`, under which the AWS SDK has files for bundlers.
const conditions = ['@service-auth/source', ...defaultServerConditions.filter((name) => name !== 'module')];

const config: ViteUserConfig = {
  ssr: { resolve: { conditions } },
  test: {
    projects: [
      // Two processes run all files of a project, which saves a start and the loading of the sources for each file. The tests of core
      // change the global WebCrypto, so no other tests run in their processes.
      quick('core', { include: core, exclude: isolated, isolate: false }),
      quick('light', { include: tests, exclude: [...core, ...isolated, ...measured], isolate: false }),
      quick('isolated', { include: isolated }),
      // After the others, one file at a time.
      quick('measured', { include: measured, maxWorkers: 1, sequence: { groupOrder: 1 } }),
      suite('servers', { isolate: false }),
      suite('command-line', { isolate: false }),
      suite('examples', { isolate: false }),
      suite('reliability', { maxWorkers: 1, testTimeout: 120_000 }),
      suite('cold-starts', { maxWorkers: 1 }),
      suite('observability', { maxWorkers: 1 }),
      // `docs/check-site.ts` builds the site first.
      suite('site', { maxWorkers: 1, testTimeout: 120_000 }),
      suite('packed', { globalSetup: './tests/packed/consumer.ts', testTimeout: 240_000 }),
      suite('frameworks', {
        globalSetup: './tests/interop/frameworks/setup.ts',
        maxWorkers: 1,
        testTimeout: 300_000,
        hookTimeout: 300_000,
      }),
      // `pnpm check compat`: what the adapters serve besides the newest versions.
      {
        extends: true,
        test: {
          name: 'compat http-clients',
          include: ['tests/compat/http-clients/test/*.test.ts'],
          env: { CLIENTS: 'older' },
        },
      },
      ...['10', '11', '11-newest'].map(withNest),
      withOpenTelemetry2(),
    ],
    // Two on two processors: while one waits for a socket, the other one computes.
    maxWorkers: '100%',
    env: { NODE_COMPILE_CACHE: fileURLToPath(new URL('node_modules/.cache/compile', import.meta.url)) },
    // For what Node itself loads, by require() and in child processes: sources there, too.
    execArgv: ['--conditions=@service-auth/source'],
    setupFiles: [fileURLToPath(new URL('tests/support/tools/set-up.ts', import.meta.url))],
    reporters: ['default', './tests/support/tools/test-summary.ts'],
    // Generous: tests with real sockets and processes share two cores with the rest.
    testTimeout: 60_000,
    expect: { poll: { timeout: 30_000 } },
    // A failed comparison of whole requests or errors would fill the screen.
    diff: { maxDepth: 4, truncateThreshold: 40 },
    // The cache does not notice an edited tsconfig and would report an old result.
    fsModuleCache: false,
    coverage: {
      provider: 'istanbul',
      include: ['packages/*/src/**/*.ts'],
      reporter: inCi ? ['text-summary'] : ['text', 'html'],
      thresholds: { 'packages/core/src/ledger/**': { branches: 100 } },
    },
  },
};

export default config;

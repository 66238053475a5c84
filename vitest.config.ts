import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defaultServerConditions } from 'vite';
import type { TestProjectInlineConfiguration, ViteUserConfig } from 'vitest/config';

const inCi = Boolean(process.env['CI']);

/** The tests of @service-auth/nestjs with what tests/compat/nest-<version> depends on, in place of the package's own dependencies. */
function withNest(version: string): TestProjectInlineConfiguration {
  const compat = new URL(`tests/compat/nest-${version}/package.json`, import.meta.url);
  const hooks = new URL(`packages/nestjs/test/support/use-nest-version.ts?from=${compat}`, import.meta.url);
  const { dependencies } = JSON.parse(readFileSync(compat, 'utf8')) as { dependencies: Record<string, string> };
  const folderOf = (name: string) => fileURLToPath(new URL(`node_modules/${name}`, compat));
  return {
    extends: true,
    root: fileURLToPath(new URL('packages/nestjs', import.meta.url)),
    resolve: { alias: Object.fromEntries(Object.keys(dependencies).map((name) => [name, folderOf(name)])) },
    test: {
      name: `nest ${version}`,
      include: ['test/*.test.ts'],
      execArgv: [`--import=${hooks}`],
      env: { NEST: version },
      isolate: false,
    },
  };
}

const config: ViteUserConfig = {
  ssr: { resolve: { conditions: ['@service-auth/source', ...defaultServerConditions] } },
  test: {
    include: [
      '{packages,tests,tests/compat,tests/support}/*/test/**/*.test.ts',
      '{bench,examples,scripts}/test/**/*.test.ts',
    ],
    projects: [{ extends: true, test: { name: 'workspace' } }, withNest('10'), withNest('11'), withNest('11-newest')],
    // For what Node itself loads, by require() and in child processes: sources there, too.
    execArgv: ['--conditions=@service-auth/source'],
    reporters: ['default', './scripts/test-summary.ts'],
    // Generous: tests with real sockets and processes share two cores with the rest.
    testTimeout: 20_000,
    // A failed comparison of whole requests or errors would fill the screen.
    diff: { maxDepth: 4, truncateThreshold: 40 },
    // The cache does not notice an edited tsconfig and would report an old result.
    fsModuleCache: false,
    coverage: {
      enabled: inCi,
      provider: 'v8',
      include: ['packages/*/src/**/*.ts'],
      reporter: inCi ? ['text-summary'] : ['text', 'html'],
      thresholds: { 'packages/core/src/ledger/**': { branches: 100 } },
    },
  },
};

export default config;

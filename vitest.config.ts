import { defaultServerConditions } from 'vite';
import type { ViteUserConfig } from 'vitest/config';

const inCi = Boolean(process.env['CI']);

const config: ViteUserConfig = {
  ssr: { resolve: { conditions: ['@service-auth/source', ...defaultServerConditions] } },
  test: {
    include: ['{packages/*,examples,proof}/test/**/*.test.ts'],
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

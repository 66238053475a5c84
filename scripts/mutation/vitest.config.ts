import { defaultServerConditions } from 'vite';
import type { ViteUserConfig } from 'vitest/config';

// Some tests, in one thread without isolation: a mutant takes a second instead of a minute.
const config: ViteUserConfig = {
  ssr: { resolve: { conditions: ['@service-auth/source', ...defaultServerConditions] } },
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split(' '),
    execArgv: ['--conditions=@service-auth/source'],
    isolate: false,
    // Counting what is covered makes loops over millions slow.
    testTimeout: 60_000,
    fsModuleCache: false,
  },
};

export default config;

// The unit tests of axios's own configuration; its other projects run in browsers.
import { fileURLToPath } from 'node:url';
import type { ViteUserConfig } from 'vitest/config';

const { CLIENT_ENTRY: entry = '', COVERED: covered } = process.env;

const config: ViteUserConfig = {
  resolve: { alias: { axios: entry } },
  ssr: { resolve: { conditions: ['@service-auth/source', 'module', 'node', 'development|production'] } },
  test: {
    include: ['tests/unit/**/*.test.js'],
    testTimeout: 10_000,
    // The suite lies in a cache below node_modules, and Vitest would leave its files to Node.
    server: { deps: { inline: true } },
    setupFiles: covered ? [fileURLToPath(new URL('axios.ts', import.meta.url))] : [],
  },
};

export default config;

import { defineConfig } from 'orval';

export default defineConfig({
  fetch: {
    input: 'openapi.json',
    output: {
      client: 'fetch',
      target: 'generated/orval-fetch.ts',
      override: { mutator: { path: 'orval-fetch-mutator.ts', name: 'send' } },
    },
  },
  axios: {
    input: 'openapi.json',
    output: {
      client: 'axios-functions',
      target: 'generated/orval-axios.ts',
      override: { mutator: { path: 'orval-axios-mutator.ts', name: 'send' } },
    },
  },
});

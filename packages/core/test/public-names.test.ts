import { expect, test } from 'vitest';
import * as core from '../src/index.ts';

test('the package exports these names, and no others', () => {
  expect(Object.keys(core).sort()).toEqual([
    'ServiceAuthError',
    'createAccessToken',
    'createServiceAuth',
    'createServiceAuthFromEnv',
    'fetchTransport',
    'isServiceAuthError',
    'memoryStore',
  ]);
});

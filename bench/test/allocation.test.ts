import { expect, test } from 'vitest';
import { allocationFlags } from '../harness/allocation.ts';
import type { Client } from '../harness/client.ts';
import { inProcess } from '../harness/in-process.ts';

const client: Client = {
  tokenUrl: 'https://auth.example.com/oauth/token',
  apiUrl: 'https://api.example.com/api/v1/orders',
  clientId: 'client',
  clientSecret: 'secret',
  audience: 'api',
};
// The bytes that Date.now() and its numbers may take before the compiler keeps them in registers. A promise takes more.
const numbers = 40;

const bytes = await inProcess<Client, Record<string, number>>('allocation', client, [
  ...allocationFlags,
  '--conditions=@service-auth/source',
]);

test.each(['getToken()', 'peekToken()', 'covers(url)'])('%s allocates nothing while the token is fresh', (call) => {
  expect(bytes[call]).toBeLessThan(numbers);
});

test('getToken() allocates no more than the options that it is given', () => {
  expect(bytes['getToken({ signal })']).toBeLessThan(numbers + 32);
});

test('a promise would be noticed', () => {
  expect(bytes['a new promise']).toBeGreaterThan(numbers);
});

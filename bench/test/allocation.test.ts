import { expect, test } from 'vitest';
import { allocationFlags } from '../harness/allocation.ts';
import { type Client, clientAt } from '../harness/client.ts';
import { inProcess } from '../harness/in-process.ts';

// The bytes that Date.now() and its numbers may take before the compiler keeps them in registers. A promise takes more.
const numbers = 40;

const bytes = await inProcess<Client, Record<string, number>>('allocation', clientAt(), [
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

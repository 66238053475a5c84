import { orSkip } from '@service-auth/test-tools/or-skip';
import { type OpenStore, storeContract } from '@service-auth/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { bundled, startPlatform } from './support/platform.ts';

const platform = await orSkip(async () => startPlatform(await bundled('contract-worker.ts')));
afterAll(() => platform?.[Symbol.asyncDispose]());

// Here are the names of the cases only: they run in the Worker.
const elsewhere: OpenStore = () => Promise.reject(new Error('the store is in the Worker'));

describe.runIf(platform)('the contract of stores, inside a Worker', () => {
  test.each(storeContract(elsewhere))('$name', async ({ name }) => {
    expect(await platform?.post('', name)).toEqual({ status: 200, text: JSON.stringify({ name }) });
  });
});

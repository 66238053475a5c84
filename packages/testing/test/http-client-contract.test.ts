import { describe, expect, test } from 'vitest';
import { type ConnectHttpClient, type ContractCase, httpClientContract } from '../src/index.ts';
import { httpClientMistakes } from './mistakes/http-client-mistakes.ts';
import { connectReferenceAdapter } from './reference-adapter.ts';
import { controls, type Mistake } from './support/controls.ts';

const wholeContract = (connect: ConnectHttpClient) => httpClientContract(connect, { isRejected: true });

describe('a right adapter', () => {
  for (const { name, run } of wholeContract(connectReferenceAdapter)) test(name, run);
  for (const { name, run } of controls(wholeContract, connectReferenceAdapter, httpClientMistakes)) {
    test(name, { timeout: 20_000 }, run);
  }
});

function named<Item extends { readonly name: string }>(items: readonly Item[], name: string): Item {
  const found = items.find((each) => each.name === name);
  if (!found) throw new Error(`There is no "${name}".`);
  return found;
}

/** The right adapter with other errors. */
function rejectingWith(change: (error: unknown) => unknown): ConnectHttpClient {
  return async (context) => {
    const right = await connectReferenceAdapter(context);
    const request: typeof right.request = (request) =>
      right.request(request).catch((error: unknown) => Promise.reject(change(error)));
    return { ...right, request };
  };
}

describe('httpClientContract', () => {
  const neverConnected: ConnectHttpClient = () => {
    throw new Error('not to be connected');
  };
  const names = wholeContract(neverConnected).map(({ name }) => name);

  test('names every case once, and starts nothing before a case is run', () => {
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(60);
  });

  test('has no case for isRejected without that trait', () => {
    const without = httpClientContract(neverConnected).map(({ name }) => name);
    expect(names.filter((name) => !without.includes(name)).every((name) => name.includes('isRejected'))).toBe(true);
    expect(without.some((name) => name.includes('isRejected'))).toBe(false);
  });

  test('has no case that no mistake is caught by', () => {
    const caught = new Set(httpClientMistakes.flatMap(({ caughtBy }) => Object.keys(caughtBy)));
    expect(names.filter((name) => !caught.has(name))).toEqual([]);
  });

  test('finds our error where the client says it is', async () => {
    const wrapping = rejectingWith((error) => Object.assign(new Error('wrapped'), { detail: error }));
    const name = 'ERR_CLOSED reaches the caller after close()';
    await expect(named(httpClientContract(wrapping), name).run()).rejects.toThrow('no ERR_CLOSED was found');
    const failure = (error: unknown) => (error as { detail: unknown }).detail;
    await named(httpClientContract(wrapping, { failure }), name).run();
  });

  test('closes the service when no client can be connected', async () => {
    let url = '';
    const cases: ContractCase[] = httpClientContract(async ({ service }) => {
      url = service.url;
      throw new Error('cannot be connected');
    });
    await expect(cases[0]?.run()).rejects.toThrow('cannot be connected');
    await expect(fetch(url)).rejects.toMatchObject({ cause: { code: 'ECONNREFUSED' } });
  });

  test("judges of a client's own error what its users are told to log", async () => {
    const leaks: Mistake<ConnectHttpClient> = named(httpClientMistakes, 'puts the request into its errors');
    const name = 'a broken connection to the API is reported by the client, without a secret';
    const printable = (error: unknown) => (error as Error).message;
    const leaking = leaks.breaks(connectReferenceAdapter);
    await expect(named(httpClientContract(leaking), name).run()).rejects.toThrow('the error contains a secret');
    await named(httpClientContract(leaking, { printable }), name).run();
  });
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { canariesIn, secretCanary, tokenCanary } from '@service-auth/test-tools/canaries';
import { describe, expect, test, vi } from 'vitest';
import { createServiceAuth, memoryStore, type ServiceAuthOptions, type Transport } from '../src/index.ts';

let clients = 0;

/** Options of a client that no other test has, and the number of tokens that were issued to it. */
function bed(): { options: ServiceAuthOptions; issued(): number } {
  clients += 1;
  let issued = 0;
  const transport: Transport = async () => {
    issued += 1;
    const body = JSON.stringify({ access_token: `${tokenCanary}.${issued}`, token_type: 'Bearer', expires_in: 86_400 });
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  };
  const options = {
    authUrl: 'https://auth.example.com',
    audience: 'orders',
    clientId: `client-${clients}`,
    clientSecret: secretCanary,
    transport,
  };
  return { options, issued: () => issued };
}

/** The values that lie under symbols of the global registry on `globalThis`, and everything that they lead to. */
function reachable(): unknown[] {
  const found = new Set<unknown>();
  const visit = (value: unknown): void => {
    if (value === null || value === undefined || found.has(value)) return;
    found.add(value);
    if (value instanceof Map) for (const entry of value) for (const part of entry) visit(part);
    if (typeof value !== 'object' && typeof value !== 'function') return;
    for (const key of Reflect.ownKeys(value)) visit(Reflect.get(value, key));
  };
  for (const symbol of Object.getOwnPropertySymbols(globalThis)) {
    if (Symbol.keyFor(symbol)?.startsWith('@service-auth')) visit(Reflect.get(globalThis, symbol));
  }
  return [...found];
}

describe('the default store', () => {
  test('is shared by clients of one token endpoint and client id: one token, and one count', async () => {
    const { options, issued } = bed();
    const [one, two] = [createServiceAuth(options), createServiceAuth({ ...options, timeoutMs: 1_000 })];
    expect((await two.getToken()).id).toBe((await one.getToken()).id);
    const other = createServiceAuth({ ...options, audience: 'invoices' });
    await other.getToken();
    expect(issued()).toBe(2);
    expect(await one.getUsage()).toMatchObject({ used: 2 });
  });

  test('is not shared by other client ids, other endpoints, or clients with a store of their own', async () => {
    const { options, issued } = bed();
    const others = [
      { clientId: `${options.clientId} b` },
      { authUrl: 'https://auth.example.org' },
      { store: memoryStore() },
    ];
    for (const other of [{}, ...others]) {
      const auth = createServiceAuth({ ...options, ...other });
      await auth.getToken();
      expect(await auth.getUsage()).toMatchObject({ used: 1 });
    }
    expect(issued()).toBe(4);
  });

  test('outlives 100 reloads of the module with one token', async () => {
    const { options, issued } = bed();
    const ids = new Set<string>();
    for (let reload = 0; reload < 100; reload += 1) {
      vi.resetModules();
      const copy = await import('../src/index.ts');
      expect(copy.createServiceAuth).not.toBe(createServiceAuth);
      ids.add((await copy.createServiceAuth(options).getToken()).id);
    }
    expect([ids.size, issued()]).toEqual([1, 1]);
  });

  test('keeps only data where every part of the process can read it: no function, no secret, no token', async () => {
    const { options } = bed();
    const { value } = await createServiceAuth(options).getToken();
    const found = reachable();
    const texts = found.filter((each) => typeof each === 'string');
    expect(found.length).toBeGreaterThan(5);
    expect(texts.filter((text) => text.startsWith('service-auth/')).length).toBeGreaterThan(0);
    expect(found.filter((each) => typeof each === 'function' && !each.toString().includes('[native code]'))).toEqual(
      [],
    );
    expect(canariesIn([value])).not.toEqual([]);
    expect(canariesIn(texts)).toEqual([]);
    expect(Object.keys(globalThis)).toEqual(expect.not.arrayContaining([expect.stringContaining('service-auth')]));
  });

  test('ignores what a release with another shape keeps', async () => {
    const { options, issued } = bed();
    const shape = Symbol.for('@service-auth/core memory 0');
    Object.defineProperty(globalThis, shape, { value: { records: 'of another shape' }, configurable: true });
    await createServiceAuth(options).getToken();
    Reflect.deleteProperty(globalThis, shape);
    expect(issued()).toBe(1);
  });

  test('works if the global object was frozen before, as a memory of this copy of the module', async () => {
    const { options } = bed();
    const program = `
      Object.freeze(globalThis);
      const { createServiceAuth } = await import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)});
      const body = '{"access_token":"token","token_type":"Bearer","expires_in":86400}';
      const transport = async () => ({ status: 200, headers: {}, body });
      const create = () => createServiceAuth({ ...${JSON.stringify(options)}, transport });
      const ids = [(await create().getToken()).id, (await create().getToken()).id];
      console.log(new Set(ids).size, (await create().getUsage()).used);`;
    const flags = ['--conditions=@service-auth/source', '--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, flags);
    expect(stdout).toBe('1 1\n');
  });

  test('is not used with a clock of a test, which is not that of the other clients', async () => {
    const { options, issued } = bed();
    const clock = { now: Date.now, monotonic: () => performance.now(), setTimer: () => () => {} };
    await createServiceAuth(options).getToken();
    await createServiceAuth({ ...options, clock }).getToken();
    expect(issued()).toBe(2);
  });
});

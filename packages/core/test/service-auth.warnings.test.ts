import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createUsageReader, memoryStore, type Store } from '../src/index.ts';
import { createBed, day, failure, hour, minute, second } from './support/bed.ts';

describe('a damaged record', () => {
  test('is reported once by each process, and the message says which one it is and what helps', async () => {
    const { client, clock, store, token, eventsOf } = createBed();
    const auth = client();
    const { id } = await token(auth);
    const { recordKey } = createUsageReader({
      authUrl: 'https://auth.example.com',
      clientId: 'client-1',
      store,
      clock,
    });
    const key = await recordKey;
    await store.replace('service-auth/3 00000000 {}');
    const other = client();
    for (const one of [auth, other, other]) {
      const { message } = await failure('ERR_STORE_INTEGRITY', clock.until(one.getUsage()));
      expect(message).toContain(`The record ${key} in the durable store is damaged,`);
      expect(message).toContain('run service-auth record discard');
    }
    await failure('ERR_STORE_INTEGRITY', clock.until(other.getToken()));
    expect(eventsOf('store_damaged')).toMatchObject([{ key }, { key }]);
    // The advice of the message helps.
    await store.replace(undefined);
    expect(await auth.getUsage()).toMatchObject({ used: 1, tokens: [{ id }] });
    expect((await token(other)).id).toBe(id);
    await store.replace('damaged');
    await failure('ERR_STORE_INTEGRITY', clock.until(other.getUsage()));
    expect(eventsOf('store_damaged')).toHaveLength(3);
  });

  test.each([
    ['the directory /var/lib/app', 'in the directory /var/lib/app is damaged,'],
    [undefined, 'in the durable store is damaged,'],
    [{ host: 'db' }, 'in the durable store is damaged,'],
  ])('is in the store that calls itself %j', async (name, where) => {
    const { client, clock, store, token } = createBed();
    await token(client());
    await store.replace('damaged');
    const named = { ...store, name } as Store;
    const reader = createUsageReader({
      authUrl: 'https://auth.example.com',
      clientId: 'client-1',
      store: named,
      clock,
    });
    const calls: (() => Promise<unknown>)[] = [() => client({ store: named }).getToken(), () => reader.getUsage()];
    for (const call of calls) {
      const { message } = await failure('ERR_STORE_INTEGRITY', clock.until(call()));
      expect(message).toContain(`The record ${await reader.recordKey} ${where}`);
    }
  });
});

describe('two records of one client id in a process', () => {
  test('are reported, and shown by getUsage', async () => {
    const { client, clock, token, eventsOf } = createBed();
    const [left, right] = [memoryStore({ clock }), memoryStore({ clock })];
    const [one, two] = [client({ store: left }), client({ store: right })];
    for (const auth of [one, two, one, two]) {
      await token(auth);
      await clock.advance(26 * second);
    }
    await one.getUsage();
    await two.getUsage();
    expect(eventsOf('store_warning')).toHaveLength(2);
    await token(two);
    await two.getUsage();
    expect((await one.getUsage()).warnings).toMatchObject([expect.stringContaining('two records of one client id')]);
  });

  test('are not seen in one record, whatever the store objects, and not when the record is lost', async () => {
    const { client, clock, store, token, use, eventsOf } = createBed();
    const sameRecord: Store = { durability: 'durable', load: store.load, swap: store.swap };
    const [one, two] = [client(), client({ store: sameRecord })];
    await token(one);
    await use(two, minute);
    for (let losses = 0; losses < 4; losses++) {
      await store.replace(undefined);
      await use(losses % 2 ? one : two, minute);
      await use(losses % 2 ? two : one, minute);
    }
    expect(eventsOf('store_warning')).toEqual([]);
    const another = client({ clientId: 'client-2', store: memoryStore({ clock }) });
    await token(another);
    await use(one, minute);
    await another.getUsage();
    expect(eventsOf('store_warning')).toEqual([]);
  });
});

describe('a clock of the store that leaps forward', () => {
  test('by more than ten minutes against the clocks of this machine is reported', async () => {
    const { client, clock, store, token, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    store.aheadMs = 9 * minute;
    await auth.getUsage();
    await clock.advance(hour);
    await auth.getUsage();
    expect(eventsOf('clock_anomaly')).toEqual([]);
    store.aheadMs += 11 * minute;
    await auth.getUsage();
    expect(eventsOf('clock_anomaly')).toMatchObject([{ clock: 'store', byMs: 11 * minute }]);
    await auth.getUsage();
    expect(eventsOf('clock_anomaly')).toHaveLength(1);
  });

  test('is not seen in a machine that slept', async () => {
    const { client, clock, token, eventsOf } = createBed();
    const auth = client();
    await token(auth);
    clock.suspend(day / 2);
    await auth.getUsage();
    expect(eventsOf('clock_anomaly').filter(({ clock }) => clock === 'store')).toEqual([]);
  });
});

describe('a store in the memory of a process', () => {
  const names = [
    'KUBERNETES_SERVICE_HOST',
    'AWS_LAMBDA_FUNCTION_NAME',
    'FUNCTIONS_WORKER_RUNTIME',
    'K_SERVICE',
    'VERCEL',
    'NODE_APP_INSTANCE',
    'NODE_UNIQUE_ID',
  ];
  // These tests may run in a pod, or under pm2.
  beforeEach(() => names.forEach((name) => void vi.stubEnv(name, undefined)));
  afterEach(() => void vi.unstubAllEnvs());

  test.each(names)('in production is reported where %s says that the process is not alone', async (name) => {
    vi.stubEnv('NODE_ENV', 'production');
    vi.stubEnv(name, '0');
    const { client, clock, store, token, eventsOf } = createBed();
    const auth = client({ store: memoryStore({ clock }) });
    await token(auth);
    await auth.getUsage();
    expect(eventsOf('store_warning')).toMatchObject([
      { warning: expect.stringContaining(`other processes seem to run (${name})`) },
    ]);
    expect((await auth.getUsage()).warnings).toHaveLength(1);
    // A store that the processes share is not reported.
    const shared: Store = { ...store, load: async () => ({ now: clock.now() }) };
    expect((await client({ store: shared, clientId: 'client-2' }).getUsage()).warnings).toEqual([]);
  });

  test('in production is reported in a worker thread, because each thread has a memory of its own', async () => {
    const program = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}).then(async ({ memoryStore }) => {
        parentPort.postMessage((await memoryStore().load('key')).warnings);
      });`;
    const env = { ...process.env, NODE_ENV: 'production' };
    const worker = new Worker(program, { eval: true, env, execArgv: ['--conditions=@service-auth/source'] });
    onTestFinished(() => void worker.terminate());
    expect(await once(worker, 'message')).toEqual([
      [expect.stringContaining('other processes seem to run (worker_threads)')],
    ]);
  });

  test('is not reported elsewhere', async () => {
    const { client, clock } = createBed();
    const auth = client({ store: memoryStore({ clock }) });
    vi.stubEnv('NODE_ENV', 'production');
    expect((await auth.getUsage()).warnings).toEqual([]);
    vi.stubEnv('NODE_ENV', 'development');
    vi.stubEnv('KUBERNETES_SERVICE_HOST', '10.0.0.1');
    expect((await auth.getUsage()).warnings).toEqual([]);
  });
});

describe('a request with an Authorization of its own', () => {
  test('is reported once by each client, as an event and as a warning of the process', async () => {
    const { client, eventsOf } = createBed();
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue();
    onTestFinished(() => warn.mockRestore());
    const [one, other] = [client(), client()];
    for (const auth of [one, one, other]) expect(auth.reportBypass?.()).toBeUndefined();
    expect(eventsOf('token_bypassed')).toMatchObject([{ instance: 'process 1' }, { instance: 'process 2' }]);
    expect(warn.mock.calls).toEqual(
      Array(2).fill([
        expect.stringMatching(/^A request to https:\/\/api\.example\.com\/ had an Authorization of its own, /),
        'ServiceAuthWarning',
      ]),
    );
  });

  test.each([
    ['without a process', 'process', undefined],
    ['that is a worker', 'navigator', { userAgent: 'Cloudflare-Workers' }],
  ])('is reported on the console of a runtime %s', (_, name, value) => {
    const { client } = createBed();
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    onTestFinished(() => {
      warn.mockRestore();
      vi.unstubAllGlobals();
    });
    const auth = client();
    vi.stubGlobal(name, value);
    auth.reportBypass?.();
    expect(warn).toHaveBeenCalledExactlyOnceWith(
      expect.stringMatching(/^ServiceAuthWarning: A request to https:\/\/api\.example\.com\/ /),
    );
  });
});

import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createUsageReader, memoryStore, type Store } from '../src/index.ts';
import { createBed, day, failure, hour, minute } from './support/bed.ts';
import { secretCanary } from './support/canaries.ts';

const execArgv = ['--conditions=@service-auth/source'];

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
    await store.replace('service-auth/4 00000000 {}');
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
    'ECS_CONTAINER_METADATA_URI_V4',
    'AWS_LAMBDA_FUNCTION_NAME',
    'FUNCTIONS_WORKER_RUNTIME',
    'WEBSITE_INSTANCE_ID',
    'K_SERVICE',
    'GAE_INSTANCE',
    'FLY_MACHINE_ID',
    'VERCEL',
    'NODE_APP_INSTANCE',
  ];
  const environments = ['NODE_ENV', 'VERCEL_ENV', 'AZURE_FUNCTIONS_ENVIRONMENT', 'NODE_TEST_CONTEXT'];
  // These tests may run in a pod, or under pm2.
  beforeEach(() => [...names, ...environments].forEach((name) => void vi.stubEnv(name, undefined)));
  afterEach(() => void vi.unstubAllEnvs());
  const core = new URL('../src/index.ts', import.meta.url).href;

  test.each(names)('is reported where %s says that the process is not alone', async (name) => {
    vi.stubEnv(name, '1');
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

  test('is reported in a worker thread, because each thread has a memory of its own', async () => {
    const program = `
      const { parentPort } = require('node:worker_threads');
      import(${JSON.stringify(core)}).then(async ({ memoryStore }) => {
        parentPort.postMessage((await memoryStore().load('key')).warnings);
      });`;
    const worker = new Worker(program, { eval: true, env: process.env, execArgv });
    onTestFinished(() => void worker.terminate());
    expect(await once(worker, 'message')).toEqual([[expect.stringContaining('seem to run (worker_threads)')]]);
  });

  test('is reported in a worker of a cluster, and not in the process that started it', async () => {
    const program = `
      import cluster from 'node:cluster';
      import { memoryStore } from ${JSON.stringify(core)};
      const name = cluster.isPrimary ? 'primary' : 'worker';
      console.log(name, (await memoryStore().load('key')).warnings?.[0]);
      if (cluster.isPrimary) cluster.fork();
      else process.exit();`;
    const folder = mkdtempSync(join(tmpdir(), 'service-auth-core-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, 'cluster.mjs');
    writeFileSync(file, program);
    const { stdout } = await promisify(execFile)(process.execPath, [...execArgv, file]);
    expect(stdout.trim().split('\n')).toEqual([
      'primary undefined',
      expect.stringMatching(/^worker .*seem to run \(node:cluster\)/),
    ]);
  });

  test.each([
    ['without such a variable', {}],
    ['without such a variable in production', { NODE_ENV: 'production' }],
    ['in development', { KUBERNETES_SERVICE_HOST: '10.0.0.1', NODE_ENV: 'development' }],
    ['in a test', { KUBERNETES_SERVICE_HOST: '10.0.0.1', NODE_ENV: 'test' }],
    ['in a test of node:test', { KUBERNETES_SERVICE_HOST: '10.0.0.1', NODE_TEST_CONTEXT: 'child-v8' }],
    ['under vercel dev', { VERCEL: '1', VERCEL_ENV: 'development' }],
    ['on the local host of Azure', { FUNCTIONS_WORKER_RUNTIME: 'node', AZURE_FUNCTIONS_ENVIRONMENT: 'Development' }],
    ['in the first process of pm2, which may be alone', { NODE_APP_INSTANCE: '0' }],
  ])('is not reported %s', async (_, variables) => {
    for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
    const { client, clock } = createBed();
    expect((await client({ store: memoryStore({ clock }) }).getUsage()).warnings).toEqual([]);
  });

  test('warns the process once, unless a client has a memory store of its own', async () => {
    const program = `
      import { createServiceAuth, memoryStore } from ${JSON.stringify(core)};
      const warnings = [];
      process.on('warning', ({ code, name, message }) => warnings.push({ code, name, message }));
      const use = async (clientId, options) => {
        const common = { authUrl: 'https://auth.example.com', audience: 'orders', clientSecret: '${secretCanary}' };
        await createServiceAuth({ ...common, clientId, ...options }).getUsage();
        await new Promise(setImmediate);
        return warnings.length;
      };
      const counts = { alone: await use('one') };
      Object.assign(process.env, { KUBERNETES_SERVICE_HOST: '10.0.0.1', NODE_ENV: 'development' });
      counts.inDevelopment = await use('one');
      delete process.env.NODE_ENV;
      counts.decided = await use('one', { store: memoryStore() });
      counts.byDefault = await use('one');
      counts.again = await use('two');
      console.log(JSON.stringify({ counts, warnings }));`;
    const flags = [...execArgv, '--no-warnings', '--input-type=module', '--eval', program];
    const { stdout } = await promisify(execFile)(process.execPath, flags, { env: {} });
    const { counts, warnings } = JSON.parse(stdout) as { counts: object; warnings: readonly { message: string }[] };
    expect(counts).toEqual({ alone: 0, inDevelopment: 0, decided: 0, byDefault: 1, again: 1 });
    expect(warnings).toEqual([
      {
        code: 'SERVICE_AUTH_MEMORY_STORE',
        name: 'ServiceAuthWarning',
        message: expect.stringMatching(/^The count is in .* \(KUBERNETES_SERVICE_HOST\), .* store: memoryStore\(\)\. /),
      },
    ]);
    const [, anchor = ''] = /choosing-a-store\.md#(\S+)$/.exec(warnings[0]?.message ?? '') ?? [];
    const page = readFileSync(new URL('../../../docs/choosing-a-store.md', import.meta.url), 'utf8');
    expect(page.toLowerCase()).toContain(`\n## ${anchor.replaceAll('-', ' ')}\n`);
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
        'SERVICE_AUTH_TOKEN_BYPASSED',
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

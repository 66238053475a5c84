import { createServiceAuth, memoryStore, type ServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import { expect, onTestFinished, test } from 'vitest';
import { startTestService, type TestService, type TestServiceOptions } from '../src/index.ts';

async function startService(options: TestServiceOptions): Promise<TestService> {
  const service = await startTestService(options);
  onTestFinished(() => service.close());
  return service;
}

function createAuth(service: TestService, options?: Partial<ServiceAuthOptions>): ServiceAuth {
  const auth = createServiceAuth({ ...service.options, ...options });
  onTestFinished(() => auth.close());
  return auth;
}

test('two clients over one store, with the sources of both, are issued one token for each name', async () => {
  const audiences = ['orders', 'billing', 'stock'];
  const client = { clientId: 'several', clientSecret: 'a secret of no value', audiences };
  const service = await startService({ clients: [client] });
  const store = memoryStore();
  // Clients of one process that share a store object share what they know of the record. These two are two processes.
  const ofProcess = () => ({ ...store });
  const first = createAuth(service, { store: ofProcess() });
  const second = createAuth(service, { store: ofProcess(), audience: 'billing' });
  const sources = [first, first.for({ audience: 'billing' }), first.for({ audience: 'stock' })];
  const others = [second.for({ audience: 'orders' }), second, second.for({ audience: 'stock' })];
  const tokens = await Promise.all([...sources, ...others, ...sources].map((source) => source.getToken()));
  expect(new Set(tokens.map(({ value }) => value)).size).toBe(3);
  expect(service.issuances.map(({ audience }) => audience).toSorted()).toEqual(['billing', 'orders', 'stock']);
  const usage = await first.getUsage();
  expect(usage).toMatchObject({ used: 3, pending: 0 });
  expect(usage.tokens.map(({ audience }) => audience).toSorted()).toEqual(['billing', 'orders', 'stock']);
  expect(await second.getUsage()).toMatchObject({ used: 3 });
});

test('the source of another token renews it after a 401 like a client for it', async () => {
  const service = await startService({
    clients: [{ clientId: 'renews', clientSecret: 'a secret of no value', audiences: ['orders', 'billing'] }],
    audience: 'billing',
  });
  const auth = createAuth(service);
  const billing = auth.for({ audience: 'billing' });
  const ask = async () => {
    const token = await billing.getToken();
    const { status } = await fetch(`${service.baseUrl}/api/v1/`, { headers: { authorization: token.authorization } });
    if (status === 401) await billing.invalidate(token);
    return status;
  };
  expect(await ask()).toBe(200);
  const ordersToken = await auth.getToken();
  service.revoke('all');
  expect([await ask(), await ask()]).toEqual([401, 200]);
  expect(await auth.getToken()).toBe(ordersToken);
  expect(service.issuances.map(({ audience }) => audience)).toEqual(['billing', 'orders', 'billing']);
});

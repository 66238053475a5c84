import { inspect } from 'node:util';
import type { ServiceAuthEvent, ServiceAuthOptions } from '@service-auth/core';
import { getServiceAuthToken, ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { startService } from '@service-auth/test-support/service';
import { createTestClock } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { boot } from './support/boot.ts';

const registryKey = Symbol.for('@service-auth/nestjs');
const billing = getServiceAuthToken('billing');

function twice(first: ServiceAuthOptions, second: ServiceAuthOptions) {
  return boot({
    imports: [ServiceAuthModule.forRoot(first), ServiceAuthModule.forRoot({ ...second, name: 'billing' })],
  });
}

test('several modules with the same options share one client and one token', async () => {
  const service = await startService();
  const useFactory = () => ({ ...service.options, issuanceLimit: { tokens: 100 } });
  const app = await boot({
    imports: [
      ServiceAuthModule.forRootAsync({ useFactory }),
      ServiceAuthModule.forRootAsync({ useFactory }),
      ServiceAuthModule.forRootAsync({ useFactory, name: 'billing' }),
    ],
  });
  expect(app.get(ServiceAuth)).toBe(app.get(billing));
  await Promise.all([app.get(ServiceAuth).getToken(), app.get<ServiceAuth>(billing).getToken()]);
  expect(service.counts.issued).toBe(1);
});

test('a URL object and its text are the same address', async () => {
  const { options } = await startService();
  const app = await twice(
    { ...options, authUrl: new URL(options.authUrl) },
    { ...options, authUrl: `${options.authUrl}/` },
  );
  expect(app.get(ServiceAuth)).toBe(app.get(billing));
});

test.each<[string, Partial<ServiceAuthOptions>]>([
  ['another secret', { clientSecret: 'another-secret' }],
  ['another place for the token', { baseUrl: 'https://elsewhere.example' }],
  ['another limit', { issuanceLimit: { tokens: 10 } }],
  ['another clock', { clock: createTestClock() }],
])('%s makes another client', async (_, difference) => {
  const { options } = await startService();
  const app = await twice(options, { ...options, ...difference });
  expect(app.get(ServiceAuth)).not.toBe(app.get(billing));
});

test('two audiences of one client id count in one budget', async () => {
  const audiences = ['https://one.example/', 'https://two.example/'] as const;
  const service = await startService({ clients: [{ clientId: 'both', clientSecret: 'secret-of-both', audiences }] });
  const app = await twice(service.options, { ...service.options, audience: audiences[1] });
  await app.get(ServiceAuth).getToken();
  await app.get<ServiceAuth>(billing).getToken();
  expect(await app.get(ServiceAuth).getUsage()).toMatchObject({ used: service.counts.issued });
  expect(service.counts.issued).toBe(2);
});

test('a client of that id that comes later counts in the same budget, also after all others were closed', async () => {
  const service = await startService();
  const start = (baseUrl: string) =>
    boot({ imports: [ServiceAuthModule.forRoot({ ...service.options, baseUrl: `${service.baseUrl}/${baseUrl}` })] });
  const first = await start('first');
  const second = await start('second');
  await first.get(ServiceAuth).getToken();
  await first.close();
  const third = await start('third');
  expect(await third.get(ServiceAuth).getUsage()).toMatchObject({ used: 1 });
  await second.close();
  await third.close();
  expect(await (await start('fourth')).get(ServiceAuth).getUsage()).toMatchObject({ used: 1 });
});

test('clients with clocks of their own count for themselves', async () => {
  const service = await startService();
  const app = await twice(
    { ...service.options, clock: createTestClock({ now: Date.now() }) },
    { ...service.options, clock: createTestClock({ now: Date.now() }) },
  );
  await app.get(ServiceAuth).getToken();
  expect(await app.get<ServiceAuth>(billing).getUsage()).toMatchObject({ used: 0 });
});

test('the shutdown of one application leaves the client to the other, that of the last one closes it', async () => {
  const service = await startService();
  const imports = () => [ServiceAuthModule.forRoot(service.options)];
  const [first, second] = [await boot({ imports: imports() }), await boot({ imports: imports() })];
  const auth = second.get(ServiceAuth);
  expect(first.get(ServiceAuth)).toBe(auth);

  await first.close();
  await auth.getToken();
  expect(service.counts.issued).toBe(1);

  await second.close();
  await expect(auth.getToken()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
});

test('a closed client is not shared again', async () => {
  const service = await startService();
  const imports = () => [ServiceAuthModule.forRoot(service.options)];
  const closed = (await boot({ imports: imports() })).get(ServiceAuth);
  await closed.close();
  const auth = (await boot({ imports: imports() })).get(ServiceAuth);
  await expect(auth.getToken()).resolves.toMatchObject({ id: expect.any(String) });
});

test('every listener is called once, even if another one throws', async () => {
  const { options } = await startService();
  const [first, second]: [ServiceAuthEvent[], ServiceAuthEvent[]] = [[], []];
  const listener = (event: ServiceAuthEvent) => {
    first.push(event);
    throw new Error('a listener of the application');
  };
  const app = await twice({ ...options, onEvent: listener }, { ...options, onEvent: listener });
  const other = await boot({
    imports: [ServiceAuthModule.forRoot({ ...options, onEvent: async (event) => void second.push(event) })],
  });
  await app.get(ServiceAuth).getToken();
  expect(first).toMatchObject([{ type: 'token_issued' }]);
  expect(second).toEqual(first);

  await app.close();
  await other.get(ServiceAuth).invalidate(await other.get(ServiceAuth).getToken());
  expect([first.length, second.length]).toEqual([1, 2]);
});

test('what is kept on globalThis shows no secret', async () => {
  const service = await startService();
  const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options)] });
  await app.get(ServiceAuth).getToken();
  const registry: unknown = Reflect.get(globalThis, registryKey);
  const shown = inspect(registry, { depth: Number.POSITIVE_INFINITY, showHidden: true });
  expect(shown).toContain('getToken');
  expect(service.findSecrets(shown)).toEqual([]);
});

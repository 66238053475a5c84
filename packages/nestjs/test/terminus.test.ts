import { EventEmitter, once } from 'node:events';
import { Controller, Get, Inject } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { HealthCheckService, type HealthIndicatorResult, TerminusModule } from '@nestjs/terminus';
import terminus from '@nestjs/terminus/package.json' with { type: 'json' };
import { memoryStore, type ServiceAuthEvent, type ServiceAuthOptions, type Store } from '@service-auth/core';
import { getServiceAuthToken, ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHealthIndicator, type ServiceAuthHealthOptions } from '@service-auth/nestjs/terminus';
import { createAuth, startService } from '@service-auth/test-support/service';
import { createTestClock, type TestService, type TestServiceOptions } from '@service-auth/testing';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { boot } from './support/boot.ts';

const hourMs = 3_600_000;
// Terminus 11 has no word of its own for it.
const degraded = terminus.version.startsWith('11.') ? { status: 'up', degraded: true } : { status: 'degraded' };

interface Subject {
  readonly service: TestService;
  readonly auth: ServiceAuth;
  health(options?: ServiceAuthHealthOptions): Promise<HealthIndicatorResult<'auth'>['auth']>;
}

async function start(
  given: { service?: TestServiceOptions; client?: Partial<ServiceAuthOptions> } = {},
): Promise<Subject> {
  const service = await startService(given.service);
  const imports = [TerminusModule, ServiceAuthModule.forRoot({ ...service.options, ...given.client })];
  const app = await boot({ imports, providers: [ServiceAuthHealthIndicator] });
  const indicator = app.get(ServiceAuthHealthIndicator);
  const health: Subject['health'] = async (options) => (await indicator.isHealthy('auth', options)).auth;
  return { service, auth: app.get(ServiceAuth), health };
}

/** A store that survives the process, and that a test can break. */
function breakableStore(): { store: Store; break(): void; repair(): void } {
  const { load, swap } = memoryStore();
  let broken = false;
  const working = <Result>(call: () => Promise<Result>): Promise<Result> =>
    broken ? Promise.reject(new Error('connection refused')) : call();
  return {
    store: {
      durability: 'durable',
      load: (key, options) => working(() => load(key, options)),
      swap: (key, change, options) => working(() => swap(key, change, options)),
    },
    break() {
      broken = true;
    },
    repair() {
      broken = false;
    },
  };
}

describe('up', () => {
  test('before the first token, because one may be issued', async () => {
    const { service, health } = await start();
    expect(await health()).toEqual({ status: 'up', remaining: 120, usable: 120 });
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('with a token', async () => {
    const { auth, health } = await start();
    await auth.getToken();
    expect(await health()).toEqual({ status: 'up', remaining: 119, usable: 120 });
  });

  test('again after a failure, as soon as there is a token', async () => {
    const clock = createTestClock();
    const { service, auth, health } = await start({ service: { clock } });
    service.tokenEndpoint.next({ status: 503 });
    await expect(auth.getToken()).rejects.toThrow();
    await clock.advance(hourMs);
    await auth.getToken();
    expect(await health()).toMatchObject({ status: 'up' });
  });
});

describe('degraded', () => {
  test('when at most a tenth of the budget is left, or what was asked for', async () => {
    const { auth, health } = await start({ service: { issuanceLimit: { tokens: 100 } } });
    await auth.getToken();
    expect(await health({ lowBudget: 78 })).toMatchObject({ status: 'up' });
    expect(await health({ lowBudget: 79 })).toEqual({
      ...degraded,
      remaining: 79,
      usable: 80,
    });
  });

  test('while the renewal fails and the old token is served', async () => {
    const clock = createTestClock();
    const events = new EventEmitter();
    const onEvent = (event: ServiceAuthEvent) => void events.emit(event.type);
    const { service, auth, health } = await start({ service: { clock }, client: { onEvent } });
    const failed = once(events, 'token_request_failed');
    await auth.getToken();
    service.tokenEndpoint.always({ status: 503 });
    await clock.advance(22 * hourMs);
    await auth.getToken();
    await failed;
    expect(await health()).toMatchObject({ ...degraded, code: 'ERR_TOKEN_ENDPOINT' });
    expect(auth.peekToken()).toBeDefined();
  });

  test('when a token was denied and may be asked for again: without traffic no caller would ask', async () => {
    const clock = createTestClock();
    const { service, auth, health } = await start({ service: { clock } });
    service.tokenEndpoint.next({ status: 503 });
    const { retryAt } = await auth.getToken().catch((error) => error);
    await clock.advance(retryAt - clock.now());
    expect(await health()).toMatchObject({ ...degraded, code: 'ERR_TOKEN_ENDPOINT' });
  });

  test('when the store fails and a token is served, even after a long time without calls', async () => {
    const clock = createTestClock();
    const { store, ...storage } = breakableStore();
    const { auth, health } = await start({ service: { clock }, client: { store } });
    await auth.getToken();
    storage.break();
    await clock.advance(hourMs);
    expect(await health()).toMatchObject({ ...degraded, code: 'ERR_STORE' });
    await expect(auth.getToken()).resolves.toBeDefined();
    storage.repair();
    expect(await health()).toMatchObject({ status: 'up' });
  });
});

describe('down', () => {
  test('when the token endpoint refuses, until it may be asked again', async () => {
    const { service, auth, health } = await start();
    service.setClientSecret('another-secret');
    const { retryAt } = await auth.getToken().catch((error) => error);
    expect(await health()).toEqual({
      status: 'down',
      remaining: 120,
      usable: 120,
      code: 'ERR_CREDENTIALS_REJECTED',
      retryAt: new Date(retryAt).toISOString(),
    });
  });

  test('when the budget is spent and there is no token', async () => {
    const audiences = ['https://one.example/', 'https://two.example/'] as const;
    const client = { clientId: 'both', clientSecret: 'secret-of-both', audiences };
    const { service, auth, health } = await start({ service: { clients: [client], issuanceLimit: { tokens: 1 } } });
    await auth.getToken();
    const options = { ...service.options, audience: audiences[1] };
    const app = await boot({ imports: [ServiceAuthModule.forRoot({ ...options, name: 'two' })] });
    const two = app.get<ServiceAuth>(getServiceAuthToken('two'));
    expect(await health({ client: two })).toMatchObject({ status: 'down', remaining: 0, retryAt: expect.any(String) });
    expect(await health()).toMatchObject({ ...degraded, remaining: 0 });
    expect(service.counts.tokenRequests).toBe(1);
  });

  test('and tells what lasts longest: a failed attempt that spent the budget', async () => {
    const clock = createTestClock();
    const { service, auth, health } = await start({ service: { clock, issuanceLimit: { tokens: 1 } } });
    service.tokenEndpoint.next({ status: 503 });
    await auth.getToken().catch(() => {});
    const { refusedUntil } = await auth.getUsage();
    expect(await health()).toMatchObject({
      status: 'down',
      code: 'ERR_ISSUANCE_LIMIT',
      retryAt: new Date(refusedUntil ?? 0).toISOString(),
    });
  });

  test('when the store fails and there is no token', async () => {
    const clock = createTestClock();
    const { store, ...storage } = breakableStore();
    const { auth, health } = await start({ service: { clock }, client: { store } });
    storage.break();
    expect(await health()).toEqual({
      status: 'down',
      code: 'ERR_STORE',
      retryAt: new Date(clock.now() + 1_000).toISOString(),
    });
    storage.repair();
    const { expiresAt } = await auth.getToken();
    storage.break();
    await clock.advance(expiresAt - clock.now() - 1);
    expect(await health()).toMatchObject(degraded);
    await clock.advance(1);
    expect(await health()).toMatchObject({ status: 'down' });
  });

  test('when the client was closed', async () => {
    const { auth, health } = await start();
    await auth.getToken();
    await auth.close();
    expect(await health()).toEqual({ status: 'down', code: 'ERR_CLOSED' });
  });
});

/** A real application whose health anybody can ask for. */
async function openHealthEndpoint(given: Partial<ServiceAuthOptions> = {}, lowBudget?: () => number) {
  @Controller('health')
  class HealthController {
    readonly check: () => Promise<object>;
    constructor(
      @Inject(HealthCheckService) health: HealthCheckService,
      @Inject(ServiceAuthHealthIndicator) indicator: ServiceAuthHealthIndicator,
    ) {
      this.check = () => health.check([() => indicator.isHealthy('auth', { lowBudget: lowBudget?.() })]);
    }
    @Get()
    get(): Promise<object> {
      return this.check();
    }
  }
  const service = await startService();
  const options = { ...service.options, ...given };
  class AppModule {}
  const app = await NestFactory.create(
    {
      module: AppModule,
      imports: [TerminusModule.forRoot({ logger: false }), ServiceAuthModule.forRoot(options)],
      controllers: [HealthController],
      providers: [ServiceAuthHealthIndicator],
    },
    { logger: false },
  );
  onTestFinished(() => app.close());
  await app.listen(0, '127.0.0.1');
  return {
    service,
    auth: app.get(ServiceAuth),
    async ask() {
      const answer = await fetch(`${await app.getUrl()}/health`);
      return { status: answer.status, text: await answer.text() };
    },
  };
}

test('a health endpoint answers 200 while degraded and 503 when down, and shows no secret', async () => {
  let lowBudget = 0;
  const { service, auth, ask } = await openHealthEndpoint({}, () => lowBudget);
  await auth.getToken();
  const up = await ask();
  lowBudget = 150;
  const low = await ask();
  await auth.close();
  const down = await ask();
  expect([up.status, low.status, down.status]).toEqual([200, 200, 503]);
  const states = [up, low, down].map(({ text }) => JSON.parse(text).details.auth.status);
  expect(states).toEqual(['up', degraded.status, 'down']);
  expect(service.findSecrets(up.text + low.text + down.text)).toEqual([]);
});

test('a health endpoint shows neither the host nor the prefix of a store that is down', async () => {
  const refused = Object.assign(new Error('connect ECONNREFUSED 10.0.0.7:6379'), { code: 'ECONNREFUSED' });
  const store: Store = {
    durability: 'durable',
    name: 'Redis 10.0.0.7:6379, prefix orders:',
    load: () => Promise.reject(refused),
    swap: () => Promise.reject(refused),
  };
  const { auth, ask } = await openHealthEndpoint({ store });
  await expect(auth.getToken()).rejects.toThrow('10.0.0.7');
  const { status, text } = await ask();
  expect(status).toBe(503);
  expect(text).not.toMatch(/10\.0\.0|6379|prefix|ECONNREFUSED/);
  expect(JSON.parse(text).error).toEqual({ auth: { status: 'down', code: 'ERR_STORE', retryAt: expect.any(String) } });
});

test('without a client that has no name, isHealthy() asks for one', async () => {
  const service = await startService();
  const app = await boot({
    imports: [TerminusModule, ServiceAuthModule.forRoot({ ...service.options, name: 'billing' })],
    providers: [ServiceAuthHealthIndicator],
  });
  const indicator = app.get(ServiceAuthHealthIndicator);
  await expect(indicator.isHealthy('auth')).rejects.toThrow(
    '[service-auth/nestjs] There is no client without a name; give isHealthy() one: { client }.',
  );
  const client = app.get<ServiceAuth>(getServiceAuthToken('billing'));
  expect(await indicator.isHealthy('billing', { client })).toMatchObject({ billing: { status: 'up' } });
});

test('a client that Nest did not make is judged by its own word', async () => {
  const { service, health } = await start({ service: { issuanceLimit: { tokens: 1 } } });
  const client = createAuth(service);
  expect(await health({ client })).toMatchObject({ status: 'up' });
  service.tokenEndpoint.next({ status: 503 });
  await client.getToken().catch(() => {});
  expect(await health({ client })).toMatchObject({ status: 'down', code: 'ERR_ISSUANCE_LIMIT' });
  const other = createAuth(await startService({ issuanceLimit: { tokens: 1 } }));
  await other.getToken();
  expect(await health({ client: other })).toMatchObject({ ...degraded, remaining: 0 });
  const getUsage = () => Promise.reject(new Error(service.credentials.clientSecret));
  expect(await health({ client: { ...client, getUsage } })).toEqual({
    status: 'down',
    code: 'ERR_STORE',
  });
});

test('a client for tests is up', async () => {
  const app = await boot({
    imports: [TerminusModule, ServiceAuthModule.forTesting()],
    providers: [ServiceAuthHealthIndicator],
  });
  expect(await app.get(ServiceAuthHealthIndicator).isHealthy('auth')).toMatchObject({ auth: { status: 'up' } });
});

test('with terminus 10, which lacks what it needs, the indicator says so and nothing else is concerned', async () => {
  vi.resetModules();
  vi.doMock('@nestjs/terminus', () => ({ HealthCheckError: Error }));
  onTestFinished(() => {
    vi.doUnmock('@nestjs/terminus');
    vi.resetModules();
  });
  await expect(import('@service-auth/nestjs/terminus')).rejects.toThrow('needs @nestjs/terminus 11 or 12');
  expect(await import('@service-auth/nestjs')).toHaveProperty('ServiceAuthModule');
});

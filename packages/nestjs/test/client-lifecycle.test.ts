import { Test } from '@nestjs/testing';
import {
  type Clock,
  createServiceAuth,
  fetchTransport,
  memoryStore,
  type ServiceAuthEvent,
  type ServiceAuthOptions,
  type Transport,
} from '@service-auth/core';
import { getServiceAuthToken, ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { startService } from '@service-auth/test-support/service';
import { createTestClock, type TestClock } from '@service-auth/testing';
import { expect, test } from 'vitest';
import { boot, recordingLogger } from './support/boot.ts';

test('an application starts without a request', async () => {
  const service = await startService();
  await boot({ imports: [ServiceAuthModule.forRoot(service.options)] });
  expect(service.counts.tokenRequests).toBe(0);
});

test.each(['beside the factory', 'from the factory'])('with warmUp %s it starts with a token', async (place) => {
  const service = await startService();
  const beside = place === 'beside the factory';
  const options = { ...service.options, ...(!beside && { warmUp: true }) };
  const app = await boot({ imports: [ServiceAuthModule.forRootAsync({ useFactory: () => options, warmUp: beside })] });
  expect(app.get(ServiceAuth).peekToken()).toBeDefined();
  expect(service.counts.issued).toBe(1);
});

test('a warm-up that fails is a warning, and the application starts', async () => {
  const service = await startService();
  service.tokenEndpoint.always({ status: 503 });
  const logger = recordingLogger();
  await boot({ imports: [ServiceAuthModule.forRoot({ ...service.options, name: 'billing', warmUp: true })] }, logger);
  expect(logger.lines).toContainEqual(
    expect.stringMatching(/^warn \[ServiceAuth:billing\] No token at start; the first request asks again\. .*503/),
  );
  expect(service.findSecrets(logger.lines.join('\n'))).toEqual([]);
});

test('what is unexpected at start is not repeated in the log', async () => {
  const service = await startService();
  let isBroken = false;
  const clock: Clock = {
    ...createTestClock(),
    monotonic() {
      if (isBroken) throw new Error(service.credentials.clientSecret);
      return 0;
    },
  };
  const breakClock = () => {
    isBroken = true;
  };
  const logger = recordingLogger();
  const imports = [ServiceAuthModule.forRoot({ ...service.options, clock, warmUp: true })];
  await boot({ imports, providers: [{ provide: 'broken', inject: [ServiceAuth], useFactory: breakClock }] }, logger);
  isBroken = false;
  expect(logger.lines).toContain(
    'warn [ServiceAuth] No token at start; the first request asks again. Unexpected error.',
  );
});

test('where a test overrides the client no other one is made, whatever the options say', async () => {
  const service = await startService();
  const useValue = { peekToken: () => undefined };
  const logger = recordingLogger();
  const module = await Test.createTestingModule({
    imports: [
      ServiceAuthModule.forRootAsync({ useFactory: () => ({ ...service.options, clientId: '' }), warmUp: true }),
    ],
  })
    .overrideProvider(ServiceAuth)
    .useValue(useValue)
    .setLogger(logger)
    .compile();
  await module.init();
  expect(module.get(ServiceAuth)).toBe(useValue);
  await module.close();
  // Nest 12 logs what goes wrong at shutdown, and goes on.
  expect(logger.lines.filter((line) => line.startsWith('error'))).toEqual([]);
  expect(service.counts.tokenRequests).toBe(0);
});

function deferred<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

interface Obstacle {
  readonly given: Partial<ServiceAuthOptions>;
  /** Resolves when the client has met it. */
  readonly met: Promise<void>;
  /** Ends it. `clock`: the clock of the client. */
  end(clock: TestClock): unknown;
}

/** The faults that keep a client from getting a token for longer than `timeoutMs`. */
const obstacles: Record<string, (options: ServiceAuthOptions) => Promise<Obstacle>> = {
  async 'another process that asks, and died'(options) {
    const store = { ...memoryStore({ clock: options.clock }), durability: 'durable' } as const;
    const [sent, met] = [deferred<void>(), deferred<void>()];
    const transport = () => {
      sent.resolve();
      return new Promise<never>(() => {});
    };
    const stopped: Clock = { ...createTestClock(), setTimer: () => () => {} };
    void createServiceAuth({ ...options, store, clock: stopped, transport }).getToken();
    await sent.promise;
    const load: typeof store.load = (key) => {
      met.resolve();
      return store.load(key);
    };
    let asked = false;
    const sends: Transport = (request) => {
      asked = true;
      return (options.transport ?? fetchTransport())(request);
    };
    /** Time stands still as soon as the request is under way. */
    const end = async (clock: TestClock) => {
      while (!asked) await clock.advance(1_000);
    };
    return { given: { store: { ...store, load }, transport: sends }, met: met.promise, end };
  },
  async 'a secret that does not come'(options) {
    const [secret, met] = [deferred<string>(), deferred<void>()];
    const clientSecret = () => {
      met.resolve();
      return secret.promise;
    };
    return { given: { clientSecret }, met: met.promise, end: () => secret.resolve(options.clientSecret as string) };
  },
};

test.each(Object.entries(obstacles))(
  'with warmUp it starts after timeoutMs in spite of %s, and says so',
  async (_, obstacle) => {
    const clock = createTestClock();
    const service = await startService({ clock });
    const options = { ...service.options, clock, timeoutMs: 5_000 };
    const { given, met, end } = await obstacle(options);
    const logger = recordingLogger();
    const imports = [ServiceAuthModule.forRoot({ ...options, ...given, name: 'a', warmUp: true })];
    let started = false;
    const starting = boot({ imports }, logger).finally(() => {
      started = true;
    });
    await met;
    await clock.advance(4_999);
    expect(started).toBe(false);
    await clock.advance(1);
    const app = await starting;
    const client = app.get<ServiceAuth>(getServiceAuthToken('a'));
    expect(client.peekToken()).toBeUndefined();
    const warnings = logger.lines.filter((line) => line.startsWith('warn'));
    // The function for the secret has the same deadline, and Nest's log says so, too.
    expect(warnings.filter((line) => !line.includes('The function for the client secret'))).toEqual([
      'warn [ServiceAuth:a] No token at start within 5000 ms; the application starts, and its first request waits for one.',
    ]);
    const token = client.getToken();
    await end(clock);
    await token;
    expect(service.counts.tokenRequests).toBe(1);
  },
);

test('the warm-ups of all clients begin together, so the start takes timeoutMs once', async () => {
  const clock = createTestClock();
  const service = await startService({ clock });
  const met = [deferred<void>(), deferred<void>(), deferred<void>()];
  const clientOf = (name: string, timeoutMs: number) => {
    const transport: Transport = () => {
      met[Number(name)]?.resolve();
      return new Promise(() => {});
    };
    return ServiceAuthModule.forRoot({
      ...service.options,
      clock,
      transport,
      clientId: `client-${name}`,
      name,
      timeoutMs,
      warmUp: true,
    });
  };
  const logger = recordingLogger();
  const starting = boot({ imports: [clientOf('0', 5_000), clientOf('1', 5_000), clientOf('2', 9_000)] }, logger);
  await Promise.all(met.map(({ promise }) => promise));
  await clock.advance(9_000);
  await starting;
  expect(logger.lines.filter((line) => line.includes('No token at start'))).toHaveLength(3);
});

test('a warm-up leaves no timer behind', async () => {
  const clock = createTestClock();
  const service = await startService({ clock });
  await boot({ imports: [ServiceAuthModule.forRoot({ ...service.options, clock, warmUp: true })] });
  expect(clock.pendingTimers).toEqual({ background: 0, foreground: 0 });
});

test('clients with equal options have one token, one budget, a log and a listener each, and an end of their own', async () => {
  const service = await startService();
  const told: string[] = [];
  const logger = recordingLogger();
  const start = (name: string) => {
    const onEvent = ({ type }: ServiceAuthEvent) => {
      told.push(`${name}: ${type}`);
      throw new Error('a listener of the application');
    };
    return boot({ imports: [ServiceAuthModule.forRoot({ ...service.options, name, onEvent })] }, logger);
  };
  const apps = [await start('a'), await start('b'), await start('c')];
  const clients = apps.map((app, index) => app.get<ServiceAuth>(getServiceAuthToken('abc'[index])));
  await Promise.all(clients.map((client) => client.getToken()));
  expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
  expect(told.map((line) => line.slice(0, 1)).toSorted()).toEqual(['a', 'b', 'c']);
  const [issuer] = told.filter((line) => line.endsWith('token_issued')).map((line) => line.slice(0, 1));
  const logged = logger.lines.filter((line) => line.includes(' issued ('));
  expect(logged).toEqual([expect.stringContaining(`[ServiceAuth:${issuer}]`)]);

  await apps[0]?.close();
  await expect(clients[0]?.getToken()).rejects.toMatchObject({ code: 'ERR_CLOSED' });
  await clients[1]?.getToken();
  expect(await clients[1]?.getUsage()).toMatchObject({ used: 1 });
});

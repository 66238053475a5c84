import { HttpModule, HttpService } from '@nestjs/axios';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { AccessToken } from '@service-auth/core';
import { InjectServiceAuth, ServiceAuth, ServiceAuthModule } from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { createAuth, startService, startTwoApis } from '@service-auth/test-support/service';
import axios, { type AxiosResponse } from 'axios';
import { firstValueFrom } from 'rxjs';
import { describe, expect, test } from 'vitest';
import { boot, moduleWith, recordingLogger } from './support/boot.ts';

@Injectable()
class Orders {
  readonly http: HttpService;
  constructor(@Inject(HttpService) http: HttpService) {
    this.http = http;
  }
}

describe('the HttpService', () => {
  test('sends the token to the API, whose address it has from the client', async () => {
    const service = await startService();
    const app = await boot({
      imports: [ServiceAuthModule.forRoot(service.options), ServiceAuthHttpModule.register({ timeout: 5_000 })],
      providers: [Orders],
    });
    const { http } = app.get(Orders);
    const { status } = await firstValueFrom(http.get('/api/v1/orders'));
    expect(status).toBe(200);
    expect(http.axiosRef.defaults).toMatchObject({ timeout: 5_000, baseURL: service.baseUrl });
    expect(service.apiRequests).toMatchObject([{ path: '/api/v1/orders', bearer: 'valid' }]);
  });

  test('has the defaults that it was given, by a factory as well', async () => {
    const service = await startService();
    const app = await boot({
      imports: [
        ServiceAuthModule.forRoot(service.options),
        ServiceAuthHttpModule.registerAsync({
          inject: [ServiceAuth],
          useFactory: (auth: ServiceAuth) => ({
            baseURL: `${service.baseUrl}/api/v1`,
            headers: { 'x-covered': String(auth.covers(service.baseUrl)) },
          }),
        }),
      ],
    });
    await firstValueFrom(app.get(HttpService, { strict: false }).get('/orders'));
    expect(service.apiRequests).toMatchObject([
      { path: '/api/v1/orders', bearer: 'valid', headers: { 'x-covered': 'true' } },
    ]);
  });

  test.each(['register', 'registerAsync'] as const)(
    'takes what isRejected of %s says for a rejection of the token',
    async (method) => {
      const service = await startService();
      const isRejected = ({ status, data }: AxiosResponse) => status === 403 && data.error === 'token_expired';
      const http =
        method === 'register'
          ? ServiceAuthHttpModule.register({ isRejected })
          : ServiceAuthHttpModule.registerAsync({ useFactory: () => ({ isRejected }) });
      const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options), http], providers: [Orders] });
      const { http: orders } = app.get(Orders);
      service.api.next({ status: 403, body: '{"error":"token_expired"}' });
      expect((await firstValueFrom(orders.get('/api/v1/orders'))).status).toBe(200);
      expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
      expect(orders.axiosRef.defaults).not.toHaveProperty('isRejected');
    },
  );

  test('that exists already takes it, too', async () => {
    const service = await startService();
    const auth = createAuth(service);
    const http = new HttpService(axios.create({ baseURL: service.baseUrl }));
    ServiceAuthHttpModule.attachTo(http, auth, { isRejected: ({ status }) => status === 403 });
    service.api.next({ status: 403 });
    expect((await firstValueFrom(http.get('/api/v1/orders'))).status).toBe(200);
    expect(service.counts.issued).toBe(2);
  });

  test('warns at start when it has a baseURL to which the client sends no token', async () => {
    const { options } = await startService();
    const warnings = async (baseURL: string | undefined) => {
      const logger = recordingLogger();
      const http = ServiceAuthHttpModule.register(baseURL === undefined ? {} : { baseURL });
      await boot({ imports: [ServiceAuthModule.forRoot(options), http] }, logger);
      return logger.lines.filter((line) => line.startsWith('warn'));
    };
    const warning =
      "warn [ServiceAuthHttpModule] The baseURL of this HttpService lies outside of the client's baseUrl: requests to it are sent without a token.";
    expect(await warnings('https://user:password@elsewhere.example')).toEqual([warning]);
    expect(await warnings(`${options.baseUrl}/api/v1`)).toEqual([]);
    expect(await warnings(undefined)).toEqual([]);
  });

  test('refuses a client without baseUrl at start, because it would send no token', async () => {
    const { baseUrl: _, ...options } = (await startService()).options;
    const imports = [ServiceAuthModule.forRoot(options), ServiceAuthHttpModule.register({})];
    await expect(boot({ imports }, recordingLogger())).rejects.toThrow('This client has no baseUrl');
  });

  test('sends the token of the client whose name it was given', async () => {
    const [service, billing] = [await startService(), await startService()];
    const app = await boot({
      imports: [
        ServiceAuthModule.forRoot(service.options),
        ServiceAuthModule.forRoot({ ...billing.options, name: 'billing' }),
        ServiceAuthHttpModule.register({ name: 'billing' }),
      ],
      providers: [Orders],
    });
    const { http } = app.get(Orders);
    expect(http.axiosRef.defaults).not.toHaveProperty('name');
    expect(http.axiosRef.defaults).not.toHaveProperty('imports');
    await firstValueFrom(http.get('/api/v1/invoices'));
    expect([service.counts.issued, billing.counts.issued]).toEqual([0, 1]);
    expect(billing.apiRequests).toMatchObject([{ bearer: 'valid' }]);
  });

  test('has the defaults that a class gives', async () => {
    const service = await startService();
    class Defaults {
      createHttpOptions() {
        return { baseURL: `${service.baseUrl}/api/v1` };
      }
    }
    const http = ServiceAuthHttpModule.registerAsync({ useClass: Defaults });
    const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options), http], providers: [Orders] });
    await firstValueFrom(app.get(Orders).http.get('/orders'));
    expect(service.apiRequests).toMatchObject([{ path: '/api/v1/orders', bearer: 'valid' }]);
  });

  test('sends the token of a client that the application provides itself', async () => {
    const service = await startService();
    const own = { provide: ServiceAuth, useValue: createAuth(service) };
    const app = await boot({
      imports: [
        { module: class Own {}, global: true, providers: [own], exports: [own] },
        ServiceAuthHttpModule.register({ baseURL: service.baseUrl, imports: undefined as never }),
      ],
      providers: [Orders],
    });
    await firstValueFrom(app.get(Orders).http.get('/api/v1/orders'));
    expect(service.apiRequests).toMatchObject([{ bearer: 'valid' }]);
  });

  test('of several named clients has the token and the address of its own', async () => {
    const services = { one: await startService(), two: await startService() };
    for (const name of ['one', 'two'] as const) {
      const app = await boot({
        imports: [
          ServiceAuthModule.forRoot({ ...services.one.options, name: 'one' }),
          ServiceAuthModule.forRoot({ ...services.two.options, name: 'two' }),
          ServiceAuthHttpModule.register({ name }),
        ],
        providers: [Orders],
      });
      await firstValueFrom(app.get(Orders).http.get('/api/v1/'));
      expect(services[name].apiRequests).toMatchObject([{ bearer: 'valid' }]);
    }
  });

  test('is a new one for each registration, even with equal options', async () => {
    const { options } = await startService();
    const app = await boot({
      imports: [
        ServiceAuthModule.forRoot(options),
        { ...moduleWith(Orders), imports: [ServiceAuthHttpModule.register({})] },
        { module: class Other {}, providers: [Orders], imports: [ServiceAuthHttpModule.register({})] },
      ],
    });
    expect(new Set(app.get(Orders, { strict: false, each: true }).map(({ http }) => http)).size).toBe(2);
  });

  test.each(['register', 'registerAsync'] as const)(
    'is one for all modules with %s({ global: true }), and a module may have another one of its own',
    async (method) => {
      const [service, billing] = [await startService(), await startService()];
      const global = { global: true, useFactory: () => ({ timeout: 5_000 }) };
      const http =
        method === 'register'
          ? ServiceAuthHttpModule.register({ global: true, timeout: 5_000 })
          : ServiceAuthHttpModule.registerAsync(global);
      const own = {
        module: class Billing {},
        imports: [ServiceAuthHttpModule.register({ name: 'billing' })],
        providers: [Orders],
      };
      const features = [moduleWith(Orders), moduleWith(Orders), own];
      const app = await boot({
        imports: [
          ...features,
          ServiceAuthModule.forRoot(service.options),
          ServiceAuthModule.forRoot({ ...billing.options, name: 'billing' }),
          http,
        ],
      });
      const [one, two, billed] = features.map((feature) => app.select(feature).get(Orders, { strict: true }).http);
      expect(one).toBe(two);
      expect(one?.axiosRef.defaults).toMatchObject({ timeout: 5_000, baseURL: service.baseUrl });
      expect(one?.axiosRef.defaults).not.toHaveProperty('global');
      for (const each of [one, billed]) await firstValueFrom((each as HttpService).get('/api/v1/orders'));
      expect([service, billing].map(({ apiRequests }) => apiRequests.map(({ bearer }) => bearer))).toEqual([
        ['valid'],
        ['valid'],
      ]);
    },
  );

  test('fails the start when a module would see two of them', async () => {
    const { options } = await startService();
    const client = ServiceAuthModule.forRoot(options);
    const global = () => ServiceAuthHttpModule.register({ global: true });
    const problems = [{ option: 'global', message: 'must be true for one HttpService at most' }];
    const twice = {
      code: 'ERR_CONFIG',
      message: expect.stringContaining(
        'Register each in the module that injects it, and at most one with global: true.',
      ),
      problems,
    };
    await expect(boot({ imports: [client, global(), global()] })).rejects.toMatchObject(twice);
    const both = [ServiceAuthHttpModule.register(), ServiceAuthHttpModule.register({ timeout: 5_000 })];
    await expect(boot({ imports: [client, ...both] })).rejects.toMatchObject(twice);
  });

  test('has name, global and imports beside the factory, and global is a boolean, or the start fails', async () => {
    const { options } = await startService();
    const http = ServiceAuthHttpModule.registerAsync({
      useFactory: () => ({ name: 'billing', global: true }) as object,
    });
    const late = boot({ imports: [ServiceAuthModule.forRoot(options), http] });
    await expect(late).rejects.toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining(
        'name and global must stand beside the factory, as in registerAsync({ name: …, useFactory })',
      ),
    });
    expect(() => ServiceAuthHttpModule.register({ global: 'false' as never })).toThrow(
      expect.objectContaining({ problems: [{ option: 'global', message: 'must be a boolean' }] }),
    );
  });

  test('finds a client that is not global in what it imports', async () => {
    const service = await startService();
    const local = ServiceAuthModule.forRoot({ ...service.options, isGlobal: false });
    const imports = [ServiceAuthHttpModule.register({ imports: [local] })];
    const app = await boot({ imports, providers: [Orders] });
    await firstValueFrom(app.get(Orders).http.get('/api/v1/orders'));
    expect(service.counts.issued).toBe(1);
  });

  test('has the token already when other providers send their first request', async () => {
    const service = await startService();
    @Injectable()
    class Prefetch implements OnModuleInit {
      readonly http: HttpService;
      constructor(@Inject(HttpService) http: HttpService) {
        this.http = http;
      }
      async onModuleInit() {
        await firstValueFrom(this.http.get('/api/v1/prefetch'));
      }
    }
    await boot({
      imports: [ServiceAuthHttpModule.register({}), ServiceAuthModule.forRoot(service.options)],
      providers: [Prefetch],
    });
    expect(service.apiRequests).toMatchObject([{ bearer: 'valid' }]);
  });

  test('is private: no other HttpService and no other axios sends the token', async () => {
    const service = await startService();
    const feature = () => ({ ...moduleWith(Orders), imports: [ServiceAuthHttpModule.register({})] });
    const [first, second] = [feature(), feature()];
    const plain = { ...moduleWith(Orders), imports: [HttpModule] };
    const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options), first, second, plain] });
    const services = [first, second, plain].map((feature) => app.select(feature).get(Orders, { strict: true }).http);
    const instances = services.map(({ axiosRef }) => axiosRef);
    const axios = new HttpService().axiosRef;
    expect(instances[2]).toBe(axios);
    expect(new Set(instances).size).toBe(3);

    const anywhere = { validateStatus: () => true };
    await axios.get(`${service.baseUrl}/api/v1/orders`, anywhere);
    await firstValueFrom((services[0] as HttpService).get('/api/v1/orders'));
    expect(service.apiRequests).toMatchObject([{ bearer: 'none' }, { bearer: 'valid' }]);
  });

  test('is provided by a subclass, too', async () => {
    const service = await startService();
    class OrdersHttpModule extends ServiceAuthHttpModule {}
    const http = OrdersHttpModule.register();
    expect(http.module).toBe(OrdersHttpModule);
    const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options), http], providers: [Orders] });
    expect(app.get(Orders).http.axiosRef.defaults).toMatchObject({ baseURL: service.baseUrl });
  });

  test('replaces a token that the API rejects, once for all requests', async () => {
    const service = await startService();
    const app = await boot({
      imports: [ServiceAuthModule.forRoot(service.options), ServiceAuthHttpModule.register()],
      providers: [Orders],
    });
    const { http } = app.get(Orders);
    await firstValueFrom(http.get('/api/v1/orders'));
    service.revoke('all');
    const requests = Array.from({ length: 20 }, () => firstValueFrom(http.post('/api/v1/orders', { amount: 1 })));
    const statuses = (await Promise.all(requests)).map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(service.counts.issued).toBe(2);
  });
});

describe('an Observable of the HttpService', () => {
  test('is lazy, and sends once for each subscriber', async () => {
    const service = await startService();
    const app = await boot({
      imports: [ServiceAuthModule.forRoot(service.options), ServiceAuthHttpModule.register({})],
      providers: [Orders],
    });
    const orders = app.get(Orders).http.get('/api/v1/orders');
    const invoices = app.get(Orders).http.get('/api/v1/invoices');
    await firstValueFrom(invoices);
    await firstValueFrom(invoices);
    expect(service.apiRequests.map(({ path }) => path)).toEqual(['/api/v1/invoices', '/api/v1/invoices']);
    await firstValueFrom(orders);
    expect(service.counts).toMatchObject({ issued: 1, apiRequests: 3 });
  });

  test('stops waiting for a token when there is no subscriber left', async () => {
    const service = await startService();
    const app = await boot({
      imports: [ServiceAuthModule.forRoot(service.options), ServiceAuthHttpModule.register({})],
      providers: [Orders],
    });
    const auth = app.get(ServiceAuth);
    const { http } = app.get(Orders);
    const waits: AbortSignal[] = [];
    const { getToken } = auth;
    auth.getToken = (options): Promise<AccessToken> => {
      if (options?.signal) waits.push(options.signal);
      return getToken(options);
    };
    const paused = service.tokenEndpoint.pauseNext();
    const subscription = http.get('/api/v1/abandoned').subscribe();
    await paused.arrived;
    expect(waits.map(({ aborted }) => aborted)).toEqual([false]);
    subscription.unsubscribe();
    await new Promise((resolve) => waits[0]?.addEventListener('abort', resolve, { once: true }));

    paused.resume();
    await firstValueFrom(http.get('/api/v1/wanted'));
    expect(service.apiRequests.map(({ path }) => path)).toEqual(['/api/v1/wanted']);
    expect(service.counts.issued).toBe(1);
  });

  test('fails with the error of the client when there is no token', async () => {
    const service = await startService();
    service.tokenEndpoint.always({ status: 401, body: '{"error":"access_denied"}' });
    const app = await boot({
      imports: [ServiceAuthModule.forRoot(service.options), ServiceAuthHttpModule.register({})],
      providers: [Orders],
    });
    const response = firstValueFrom(app.get(Orders).http.get('/api/v1/orders'));
    await expect(response).rejects.toMatchObject({ code: 'ERR_CREDENTIALS_REJECTED' });
    expect(service.counts.apiRequests).toBe(0);
  });
});

describe('attachTo', () => {
  @Injectable()
  class Attached {
    readonly http: HttpService;
    readonly detach: () => void;
    constructor(@Inject(HttpService) http: HttpService, @InjectServiceAuth() auth: ServiceAuth) {
      this.http = http;
      this.detach = ServiceAuthHttpModule.attachTo(http, auth);
    }
  }

  test('adds the token to an HttpService that exists, until it is detached', async () => {
    const service = await startService();
    const app = await boot({
      imports: [
        ServiceAuthModule.forRoot(service.options),
        HttpModule.register({ baseURL: service.baseUrl, validateStatus: () => true }),
      ],
      providers: [Attached],
    });
    const { http, detach } = app.get(Attached);
    await firstValueFrom(http.get('/api/v1/orders'));
    detach();
    await firstValueFrom(http.get('/api/v1/orders'));
    expect(service.apiRequests.map(({ bearer }) => bearer)).toEqual(['valid', 'none']);
  });

  test('adds the token of a source of the client', async () => {
    const { billing, urls, sent } = await startTwoApis();
    const http = new HttpService(axios.create());
    ServiceAuthHttpModule.attachTo(http, billing);
    await firstValueFrom(http.get(urls.billing));
    expect(sent()).toEqual(['billing: billing']);
  });

  test('refuses the axios of the whole process, and says what to import instead', async () => {
    const { options } = await startService();
    const app = boot({ imports: [ServiceAuthModule.forRoot(options), HttpModule], providers: [Attached] });
    await expect(app).rejects.toThrow(
      '[service-auth/nestjs] This HttpService is the axios of the whole process. Import HttpModule.register({}) instead of HttpModule, or ServiceAuthHttpModule.register().',
    );
  });
});

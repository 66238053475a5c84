import { HttpService } from '@nestjs/axios';
import { type DynamicModule, Inject, Injectable } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { Test } from '@nestjs/testing';
import { isServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import {
  createTestingServiceAuth,
  getServiceAuthToken,
  InjectServiceAuth,
  ServiceAuth,
  type ServiceAuthFactoryOptions,
  ServiceAuthModule,
  type ServiceAuthOptionsFactory,
} from '@service-auth/nestjs';
import { ServiceAuthHttpModule } from '@service-auth/nestjs/axios';
import { startService } from '@service-auth/test-support/service';
import { firstValueFrom } from 'rxjs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { boot, moduleWith } from './support/boot.ts';

@Injectable()
class Orders {
  readonly auth: ServiceAuth;
  constructor(@Inject(ServiceAuth) auth: ServiceAuth) {
    this.auth = auth;
  }
}

@Injectable()
class Invoices {
  readonly auth: ServiceAuth;
  constructor(@InjectServiceAuth('billing') auth: ServiceAuth) {
    this.auth = auth;
  }
}

describe('injection', () => {
  test('provides the client by its class, in every module', async () => {
    const service = await startService();
    const app = await boot({ imports: [ServiceAuthModule.forRoot(service.options), moduleWith(Orders)] });
    const token = await app.get(Orders, { strict: false }).auth.getToken();
    expect(service.issuances.map(({ tokenId }) => tokenId)).toHaveLength(1);
    expect(token.authorization).toMatch(/^Bearer /);
    expect(app.get(ServiceAuth)).toBe(app.get(Orders, { strict: false }).auth);
  });

  test('provides named clients beside the one without a name', async () => {
    const [service, billing] = [await startService(), await startService()];
    const app = await boot({
      imports: [
        ServiceAuthModule.forRoot(service.options),
        ServiceAuthModule.forRoot({ ...billing.options, name: 'billing' }),
        moduleWith(Orders, Invoices),
      ],
    });
    await app.get(Invoices, { strict: false }).auth.getToken();
    expect([service.counts.issued, billing.counts.issued]).toEqual([0, 1]);
    expect(app.get(getServiceAuthToken('billing'))).toBe(app.get(Invoices, { strict: false }).auth);
    expect(app.get(getServiceAuthToken())).toBe(app.get(Orders, { strict: false }).auth);
  });

  test('is for the modules that import it when isGlobal is false', async () => {
    const service = await startService();
    const local = ServiceAuthModule.forRoot({ ...service.options, isGlobal: false });
    await expect(boot({ imports: [local, moduleWith(Orders)] })).rejects.toThrow(/resolve dependencies/);
    const app = await boot({ imports: [local], providers: [Orders] });
    expect(app.get(Orders).auth).toBe(app.get(ServiceAuth));
  });
});

describe('two clients of one name', () => {
  const bothWaysOut = (clients: string) => ({
    code: 'ERR_CONFIG',
    message: expect.stringContaining(
      `Wrong options: this application has two ${clients}, and Nest would use one of them for both. Give one another name, as in forRoot({ name: 'another', … }), or remove one forRoot() or forRootAsync(): all modules have the client that one module imports.`,
    ),
    problems: [{ option: 'name', message: 'must be another one for each client' }],
  });
  const withImports = (...imports: DynamicModule[]) => ({ module: class FeatureModule {}, imports });

  test('fail the start, whichever modules import them', async () => {
    const [one, two] = [(await startService()).options, (await startService()).options];
    const first = ServiceAuthModule.forRoot(one);
    const unnamed = bothWaysOut('clients without a name');
    const second = ServiceAuthModule.forRoot(two);
    await expect(boot({ imports: [first, second] })).rejects.toMatchObject(unnamed);
    await expect(boot({ imports: [first, withImports(withImports(second))] })).rejects.toMatchObject(unnamed);
    const late = ServiceAuthModule.forRootAsync({ useFactory: async () => two });
    await expect(boot({ imports: [late, first] })).rejects.toMatchObject(unnamed);
    const named = [one, two].map((options) => ServiceAuthModule.forRoot({ ...options, name: 'billing' }));
    const called = bothWaysOut('clients that are called billing');
    await expect(boot({ imports: named })).rejects.toMatchObject(called);
  });

  test('fail the start when one module imports both for itself, or the global one first', async () => {
    const [one, two] = [(await startService()).options, (await startService()).options];
    const local = ServiceAuthModule.forRoot({ ...one, isGlobal: false });
    const unnamed = bothWaysOut('clients without a name');
    const other = ServiceAuthModule.forRoot({ ...two, isGlobal: false });
    await expect(boot({ imports: [local, other] })).rejects.toMatchObject(unnamed);
    const shared = ServiceAuthModule.forRoot(two);
    await expect(boot({ imports: [shared, local] })).rejects.toMatchObject(unnamed);
  });

  test('serve different modules, if these import them with isGlobal: false', async () => {
    const options = [(await startService()).options, (await startService()).options, (await startService()).options];
    const [one, two, shared] = options as [ServiceAuthOptions, ServiceAuthOptions, ServiceAuthOptions];
    const local = (given: ServiceAuthOptions) => ({
      ...withImports(ServiceAuthModule.forRoot({ ...given, isGlobal: false })),
      providers: [Orders],
    });
    const modules = [local(one), local(two), { module: class Others {}, providers: [Orders] }];
    const app = await boot({ imports: [...modules, ServiceAuthModule.forRoot(shared)] });
    const clients = modules.map((module) => app.select(module).get(Orders, { strict: true }).auth);
    expect(clients.map(({ covers }) => options.map(({ baseUrl }) => covers(baseUrl ?? '')))).toEqual([
      [true, false, false],
      [false, true, false],
      [false, false, true],
    ]);
  });

  test('are one client, if modules import the same one', async () => {
    const service = await startService();
    const client = ServiceAuthModule.forRoot(service.options);
    const app = await boot({ imports: [client, withImports(client), moduleWith(Orders)], providers: [Orders] });
    const clients = app.get(Orders, { strict: false, each: true }).map(({ auth }) => auth);
    expect([clients.length, new Set(clients).size]).toEqual([2, 1]);
  });

  test('do not meet in two applications of one process', async () => {
    const { options } = await startService();
    const client = ServiceAuthModule.forRoot(options);
    const apps = await Promise.all([boot({ imports: [client] }), boot({ imports: [client] })]);
    const another = await boot({ imports: [ServiceAuthModule.forRoot(options)] });
    expect(new Set([...apps, another].map((app) => app.get(ServiceAuth))).size).toBe(3);
  });

  test('may be one of the application and one for tests, which takes its place wherever it is imported', async () => {
    const [service, api] = [await startService(), await startService()];
    const whole = {
      ...withImports(
        ServiceAuthModule.forRoot(service.options),
        ServiceAuthModule.forRoot({ ...service.options, name: 'billing', isGlobal: false }),
        ServiceAuthHttpModule.register(),
      ),
      providers: [Orders, Invoices],
    };
    const testing = () => ServiceAuthModule.forTesting({ names: ['billing'], baseUrl: api.baseUrl });
    for (const imports of [
      [testing(), whole],
      [whole, testing()],
      [{ ...withImports(testing()) }, whole],
    ]) {
      const app = await boot({ imports });
      for (const user of [Orders, Invoices]) {
        const { auth } = app.select(whole).get<Orders | Invoices>(user, { strict: true });
        expect((await auth.getToken()).id).toBe('test');
      }
      const http = app.get(HttpService, { strict: false });
      await firstValueFrom(http.get('/api/v1/orders', { validateStatus: () => true }));
    }
    expect([service.counts.tokenRequests, api.counts.apiRequests]).toEqual([0, 3]);
  });

  test('may both be replaced in a test', async () => {
    const { options } = await startService();
    const imports = [options, options].map((given) => ServiceAuthModule.forRoot({ ...given }));
    const testing = createTestingServiceAuth();
    const builder = Test.createTestingModule({ imports }).overrideProvider(ServiceAuth).useValue(testing);
    const app = await builder.compile();
    onTestFinished(() => app.close());
    expect(app.get(ServiceAuth)).toBe(testing);
  });
});

describe('asynchronous options', () => {
  test('come from a factory with what it injects', async () => {
    const service = await startService();
    const { options } = service;
    const app = await boot({
      imports: [
        ServiceAuthModule.forRootAsync({
          imports: [ConfigModule.forFeature(async () => ({ authUrl: options.authUrl, secret: options.clientSecret }))],
          inject: [ConfigService],
          useFactory: async (config: ConfigService) => ({
            ...options,
            authUrl: config.getOrThrow('authUrl'),
            clientSecret: config.getOrThrow('secret'),
          }),
        }),
      ],
    });
    await app.get(ServiceAuth).getToken();
    expect(service.counts.issued).toBe(1);
  });

  test('come from a class, made for it or already there', async () => {
    const service = await startService();
    class Options implements ServiceAuthOptionsFactory {
      createServiceAuthOptions(): ServiceAuthFactoryOptions {
        return service.options;
      }
    }
    const app = await boot({
      imports: [
        ServiceAuthModule.forRootAsync({ useClass: Options }),
        ServiceAuthModule.forRootAsync({ name: 'billing', imports: [moduleWith(Options)], useExisting: Options }),
      ],
    });
    await app.get(ServiceAuth).getToken();
    await app.get<ServiceAuth>(getServiceAuthToken('billing')).getToken();
    expect(service.counts.issued).toBe(1);
  });

  test('must have name and isGlobal beside the factory, and say so', async () => {
    const { options } = await startService();
    const useFactory = () => ({ ...options, name: 'billing', isGlobal: false });
    const error: unknown = await boot({ imports: [ServiceAuthModule.forRootAsync({ useFactory })] }).catch((e) => e);
    const problem = { message: 'must not come from a factory: Nest needs it before that runs' };
    expect(error).toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringContaining(
        'Wrong options: name and isGlobal must stand beside the factory, as in forRootAsync({ name: …, useFactory }): Nest needs it before that runs.',
      ),
      problems: [
        { option: 'name', ...problem },
        { option: 'isGlobal', ...problem },
      ],
    });
  });

  test('that are booleans as texts, as variables are, fail the start', async () => {
    const { options } = await startService();
    const problems = [{ option: 'warmUp', message: 'must be a boolean' }];
    const wrong = { ...options, warmUp: 'false' as never };
    expect(() => ServiceAuthModule.forRoot(wrong)).toThrow(expect.objectContaining({ code: 'ERR_CONFIG', problems }));
    const late = boot({ imports: [ServiceAuthModule.forRootAsync({ useFactory: () => wrong })] });
    await expect(late).rejects.toMatchObject({ code: 'ERR_CONFIG', problems });
  });

  test.each([
    ['wrong', { authUrl: 'nowhere' }],
    ['missing, because a factory returns nothing', undefined],
  ])('fail the start with all problems when they are %s', async (_, given) => {
    const useFactory = () => given as ServiceAuthOptions;
    const wrong = boot({ imports: [ServiceAuthModule.forRootAsync({ useFactory })] });
    const options = ['authUrl', 'audience', 'clientId', 'clientSecret'];
    await expect(wrong).rejects.toMatchObject({ code: 'ERR_CONFIG', problems: options.map((option) => ({ option })) });
  });

  test('are reported with the name of the client, so that of several it is known which one has them', async () => {
    const useFactory = () => ({ authUrl: 'nowhere', clientSecret: ' spaced ' }) as ServiceAuthOptions;
    const error: unknown = await boot({
      imports: [ServiceAuthModule.forRootAsync({ name: 'billing', useFactory })],
    }).catch((e) => e);
    expect(error).toMatchObject({
      code: 'ERR_CONFIG',
      message: expect.stringMatching(
        /^\[service-auth\] Wrong options of the client billing: authUrl must .+; clientSecret .+\. See \S+#err_config$/,
      ),
      problems: expect.arrayContaining([expect.objectContaining({ option: 'authUrl' })]),
    });
    expect(String((error as Error).stack)).toContain('of the client billing');
    expect(isServiceAuthError(error)).toBe(true);
  });
});

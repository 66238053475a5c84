import { Inject, Injectable } from '@nestjs/common';
import { ConfigModule, ConfigService } from '@nestjs/config';
import { isServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import {
  getServiceAuthToken,
  InjectServiceAuth,
  ServiceAuth,
  type ServiceAuthFactoryOptions,
  ServiceAuthModule,
  type ServiceAuthOptionsFactory,
} from '@service-auth/nestjs';
import { startService } from '@service-auth/test-support/service';
import { describe, expect, test } from 'vitest';
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

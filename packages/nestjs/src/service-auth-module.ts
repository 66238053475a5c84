import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type ConfigurableModuleOptionsFactory,
  type DynamicModule,
} from '@nestjs/common';
import { ServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { type ClientLifecycle, createClientLifecycle } from './client-lifecycle.ts';
import { getBaseUrlToken, getServiceAuthToken, type ServiceAuth } from './service-auth.ts';
import { createTestingServiceAuth, type TestingServiceAuthOptions } from './testing-service-auth.ts';

/** What Nest must know before any factory runs. */
export interface ServiceAuthStaticOptions {
  /** Name of the client, for `@InjectServiceAuth(name)`. Default: none; the client is injected by the class `ServiceAuth`. */
  name?: string | undefined;
  /** Whether all modules see the client without importing this one. Default true. */
  isGlobal?: boolean | undefined;
  /**
   * Whether the start of the application waits for a token: `timeoutMs` at most for each client with `warmUp`, whatever the wait is for (the endpoint, the
   * store, the secret, another process that asks). Without a token it starts all the same, with a warning in the log.
   * Default false: no network at start.
   */
  warmUp?: boolean | undefined;
}

/** Options of {@link ServiceAuthModule.forRoot}. */
export interface ServiceAuthModuleOptions extends ServiceAuthOptions, ServiceAuthStaticOptions {}

/** What a factory may return: the options of the client, and `warmUp`. */
export interface ServiceAuthFactoryOptions extends ServiceAuthOptions, Pick<ServiceAuthStaticOptions, 'warmUp'> {}

/** A class for `useClass` and `useExisting`. */
export type ServiceAuthOptionsFactory = ConfigurableModuleOptionsFactory<
  ServiceAuthFactoryOptions,
  'createServiceAuthOptions'
>;

/** Options of {@link ServiceAuthModule.forRootAsync}: `useFactory`, `useClass` or `useExisting`, with `inject` and `imports`. */
export interface ServiceAuthModuleAsyncOptions
  extends ConfigurableModuleAsyncOptions<ServiceAuthFactoryOptions, 'createServiceAuthOptions'>,
    ServiceAuthStaticOptions {}

/** Options of {@link ServiceAuthModule.forTesting}. */
export interface ServiceAuthTestingModuleOptions extends TestingServiceAuthOptions {
  /** Names of the clients to provide besides the one without a name. Default: none. */
  names?: readonly string[] | undefined;
  /** The `baseURL` of each `ServiceAuthHttpModule`: where your test has its API. Default: none. */
  baseUrl?: string | URL | undefined;
}

interface ConfigurableModule {
  new (): object;
  /** The client with these options: those of `createServiceAuth`, and `name`, `isGlobal`, `warmUp`. */
  forRoot(options: ServiceAuthModuleOptions): DynamicModule;
  /** The client with options that are known only at run time: from `ConfigService` for example. */
  forRootAsync(options: ServiceAuthModuleAsyncOptions): DynamicModule;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<ServiceAuthFactoryOptions>()
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createServiceAuthOptions')
  .setExtras<ServiceAuthStaticOptions>({ name: undefined, isGlobal: undefined, warmUp: undefined }, withClient)
  .build();

const Configurable: ConfigurableModule = ConfigurableModuleClass;

/** Provides one client. Modules with the same options share it, and with it the token. */
export class ServiceAuthModule extends Configurable {
  /** A client for tests that always has the same token: no network, nothing is spent. */
  static forTesting(options: ServiceAuthTestingModuleOptions = {}): DynamicModule {
    return testingModule(options);
  }
}

// Outside of the class: esbuild would rename one that mentions itself, and Nest's log shows the name.
function testingModule({ names = [], baseUrl, ...options }: ServiceAuthTestingModuleOptions): DynamicModule {
  const client = createTestingServiceAuth(options);
  const providers = [undefined, ...names].flatMap((name) => [
    { provide: getServiceAuthToken(name), useValue: client },
    { provide: getBaseUrlToken(name), useFactory: () => baseUrl },
  ]);
  return { module: ServiceAuthModule, global: true, providers, exports: providers };
}

function withClient(definition: DynamicModule, { name, isGlobal, warmUp }: ServiceAuthStaticOptions): DynamicModule {
  const lifecycle = 'service-auth client lifecycle';
  const client = {
    provide: getServiceAuthToken(name),
    inject: [lifecycle, MODULE_OPTIONS_TOKEN],
    useFactory: (lifecycle: ClientLifecycle, given: ServiceAuthFactoryOptions): ServiceAuth => {
      refuseStaticOptions(given);
      const { warmUp: warmUpByFactory, ...options } = given;
      return lifecycle.open(options, warmUpByFactory ?? warmUp ?? false);
    },
  };
  const baseUrl = {
    provide: getBaseUrlToken(name),
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (given: ServiceAuthFactoryOptions) => given.baseUrl,
  };
  return {
    ...definition,
    global: isGlobal ?? true,
    providers: [
      ...(definition.providers ?? []),
      { provide: lifecycle, useFactory: () => createClientLifecycle(name) },
      client,
      baseUrl,
    ],
    exports: [client.provide, baseUrl.provide],
  };
}

/** Nest would ignore them silently. */
function refuseStaticOptions(given: object): void {
  const options = ['name', 'isGlobal'].filter((option) => option in given);
  if (options.length === 0) return;
  const message = `Wrong options: ${options.join(' and ')} must stand beside the factory, as in forRootAsync({ ${options[0]}: …, useFactory }): Nest needs it before that runs.`;
  const problems = options.map((option) => ({
    option,
    message: 'must not come from a factory: Nest needs it before that runs',
  }));
  throw new ServiceAuthError('ERR_CONFIG', message, { problems });
}

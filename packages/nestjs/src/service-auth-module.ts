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

/** Options that Nest needs before it runs a factory. */
export interface ServiceAuthStaticOptions {
  /** The name of the client, for `@InjectServiceAuth(name)`. Default: none; the class `ServiceAuth` injects the client. */
  name?: string | undefined;
  /** True if all modules see the client without importing this one. Default true. */
  isGlobal?: boolean | undefined;
  /**
   * Whether the start of the application waits for a token, at most `timeoutMs` (default 30,000 ms). The limit includes the token endpoint, the store,
   * the secret and other processes. Several clients begin together. Without a token the application still starts and logs a warning.
   * Default false: the start uses no network.
   */
  warmUp?: boolean | undefined;
}

/** Options of {@link ServiceAuthModule.forRoot}. */
export interface ServiceAuthModuleOptions extends ServiceAuthOptions, ServiceAuthStaticOptions {}

/** The result of a factory: the options of the client, and `warmUp`. */
export interface ServiceAuthFactoryOptions extends ServiceAuthOptions, Pick<ServiceAuthStaticOptions, 'warmUp'> {}

/** The interface of classes for `useClass` and `useExisting`. */
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
  /** The names of further clients to provide, besides the one without a name. Default: none. */
  names?: readonly string[] | undefined;
  /** The `baseURL` of each `ServiceAuthHttpModule`: the API of your test. Default: none. */
  baseUrl?: string | URL | undefined;
}

interface ConfigurableModule {
  new (): object;
  /** Provides a client with these options: those of `createServiceAuth`, and `name`, `isGlobal`, `warmUp`. */
  forRoot(options: ServiceAuthModuleOptions): DynamicModule;
  /** Provides a client whose options are known only at run time, for example from `ConfigService`. */
  forRootAsync(options: ServiceAuthModuleAsyncOptions): DynamicModule;
}

const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<ServiceAuthFactoryOptions>()
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createServiceAuthOptions')
  .setExtras<ServiceAuthStaticOptions>({ name: undefined, isGlobal: undefined, warmUp: undefined }, withClient)
  .build();

const Configurable: ConfigurableModule = ConfigurableModuleClass;

/** Provides one client. Clients with equal options have one token and one budget. */
export class ServiceAuthModule extends Configurable {
  /** Provides a client for tests that always has the same token. It uses no network and issues no token. */
  static forTesting(options: ServiceAuthTestingModuleOptions = {}): DynamicModule {
    return testingModule(options);
  }
}

// This is outside of the class, because esbuild renames a class that refers to itself, and Nest's log shows the name.
function testingModule({ names = [], baseUrl, ...options }: ServiceAuthTestingModuleOptions): DynamicModule {
  const client = createTestingServiceAuth(options);
  const providers = [undefined, ...names].flatMap((name) => [
    { provide: getServiceAuthToken(name), useValue: client },
    { provide: getBaseUrlToken(name), useFactory: () => baseUrl },
  ]);
  return { module: ServiceAuthModule, global: true, providers, exports: providers };
}

function withClient(definition: DynamicModule, { name, isGlobal, warmUp }: ServiceAuthStaticOptions): DynamicModule {
  refuseNonBooleans({ isGlobal, warmUp });
  const lifecycle = 'service-auth client lifecycle';
  const client = {
    provide: getServiceAuthToken(name),
    inject: [lifecycle, MODULE_OPTIONS_TOKEN],
    useFactory: (lifecycle: ClientLifecycle, given: ServiceAuthFactoryOptions | undefined): ServiceAuth => {
      const { warmUp: warmUpByFactory, ...options } = Object(given) as ServiceAuthFactoryOptions;
      refuseStaticOptions(options);
      refuseNonBooleans({ warmUp: warmUpByFactory });
      return lifecycle.open(options, warmUpByFactory ?? warmUp ?? false);
    },
  };
  const baseUrl = {
    provide: getBaseUrlToken(name),
    inject: [MODULE_OPTIONS_TOKEN],
    useFactory: (given: ServiceAuthFactoryOptions | undefined) => given?.baseUrl,
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

/** A variable of the environment is a text, and `'false'` would count as true. */
function refuseNonBooleans(options: Readonly<Record<string, unknown>>): void {
  const wrong = Object.keys(options).filter((name) => !['boolean', 'undefined'].includes(typeof options[name]));
  if (wrong.length === 0) return;
  const problems = wrong.map((option) => ({ option, message: 'must be a boolean' }));
  throw new ServiceAuthError('ERR_CONFIG', `Wrong options: ${wrong.join(' and ')} must be a boolean.`, { problems });
}

/** Rejects options that Nest would ignore silently. */
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

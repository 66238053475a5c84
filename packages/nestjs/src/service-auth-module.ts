import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type ConfigurableModuleOptionsFactory,
  type DynamicModule,
  type InjectionToken,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { ServiceAuthError, type ServiceAuthOptions } from '@service-auth/core';
import { getBaseUrlToken } from './base-url-token.ts';
import { type ClientLifecycle, createClientLifecycle } from './client-lifecycle.ts';
import { isAmbiguous } from './is-ambiguous.ts';
import { getServiceAuthToken, type ServiceAuth } from './service-auth.ts';
import { refuseNonBooleans, refuseStaticOptions } from './static-options.ts';
import { createTestingServiceAuth, type TestingServiceAuthOptions } from './testing-service-auth.ts';

/** Options that Nest needs before it runs a factory. */
export interface ServiceAuthStaticOptions {
  /**
   * The name of the client, for `@InjectServiceAuth(name)`. Default: none; the class `ServiceAuth`
   * injects the client.
   */
  name?: string | undefined;
  /** True if all modules see the client without importing this one. Default true. */
  isGlobal?: boolean | undefined;
  /**
   * Whether the start of the application waits for a token, at most `timeoutMs` (default 30,000
   * ms). The limit includes the token endpoint, the store, the secret and other processes. Several
   * clients begin together. Without a token the application still starts and logs a warning.
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

/**
 * Options of {@link ServiceAuthModule.forRootAsync}: `useFactory`, `useClass` or `useExisting`,
 * with `inject` and `imports`.
 */
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
  /**
   * Provides a client with these options: those of `createServiceAuth`, and `name`, `isGlobal`,
   * `warmUp`.
   */
  forRoot(options: ServiceAuthModuleOptions): DynamicModule;
  /**
   * Provides a client whose options are known only at run time, for example from `ConfigService`.
   */
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
  /**
   * Provides a client for tests that always has the same token. It uses no network and issues no
   * token. Beside a whole application it takes the place of the clients of the same names.
   */
  static forTesting(options: ServiceAuthTestingModuleOptions = {}): DynamicModule {
    return testingModule(options);
  }
}

/**
 * What {@link ServiceAuthModule.forTesting} provides in place of the clients of the application.
 */
type Replacement = Pick<ServiceAuthTestingModuleOptions, 'baseUrl'> & { readonly client: ServiceAuth };

const replacementToken = 'service-auth client for tests';

// This is outside of the class, because esbuild renames a class that refers to itself, and Nest's
// log shows the name.
function testingModule({ names = [], baseUrl, ...options }: ServiceAuthTestingModuleOptions): DynamicModule {
  const client = createTestingServiceAuth(options);
  const replacement: Replacement = { client, baseUrl };
  const clients = [undefined, ...names].flatMap((name) => [
    { provide: getServiceAuthToken(name), useValue: client },
    { provide: getBaseUrlToken(name), useFactory: () => baseUrl },
  ]);
  const providers = [...clients, { provide: replacementToken, useValue: replacement }];
  return { module: ServiceAuthModule, global: true, providers, exports: clients };
}

function replacementOf(token: InjectionToken, modules: ModulesContainer): Replacement | undefined {
  for (const { providers } of modules.values()) {
    if (providers.has(token) && providers.has(replacementToken))
      return providers.get(replacementToken)?.instance as Replacement;
  }
  return undefined;
}

function withClient(definition: DynamicModule, { name, isGlobal, warmUp }: ServiceAuthStaticOptions): DynamicModule {
  refuseNonBooleans({ isGlobal, warmUp });
  const lifecycle = 'service-auth client lifecycle';
  const token = getServiceAuthToken(name);
  const client = {
    provide: token,
    inject: [lifecycle, MODULE_OPTIONS_TOKEN, ModulesContainer],
    useFactory: (
      lifecycle: ClientLifecycle,
      given: ServiceAuthFactoryOptions | undefined,
      modules: ModulesContainer,
    ): ServiceAuth => {
      const replacement = replacementOf(token, modules);
      if (replacement) return replacement.client;
      if (isAmbiguous(token, MODULE_OPTIONS_TOKEN, modules)) throw nameTaken(name);
      const { warmUp: warmUpByFactory, ...options } = Object(given) as ServiceAuthFactoryOptions;
      refuseStaticOptions(options, ['name', 'isGlobal'], 'forRootAsync');
      refuseNonBooleans({ warmUp: warmUpByFactory });
      return lifecycle.open(options, warmUpByFactory ?? warmUp ?? false);
    },
  };
  const baseUrl = {
    provide: getBaseUrlToken(name),
    inject: [MODULE_OPTIONS_TOKEN, ModulesContainer],
    useFactory: (given: ServiceAuthFactoryOptions | undefined, modules: ModulesContainer) =>
      replacementOf(token, modules)?.baseUrl ?? given?.baseUrl,
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

function nameTaken(name: string | undefined): ServiceAuthError {
  const clients = name === undefined ? 'clients without a name' : `clients that are called ${name}`;
  const message = `Wrong options: this application has two ${clients}, and Nest would use one of them for both. Give one another name, as in forRoot({ name: 'another', … }), or remove one forRoot() or forRootAsync(): all modules have the client that one module imports.`;
  const problems = [{ option: 'name', message: 'must be another one for each client' }];
  return new ServiceAuthError('ERR_CONFIG', message, { problems });
}

import { HttpService } from '@nestjs/axios';
import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Logger,
  type ModuleMetadata,
} from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type AttachServiceAuthOptions, attachServiceAuth } from '@service-auth/axios';
import { ServiceAuthError, type TokenSource } from '@service-auth/core';
import { getServiceAuthToken, type ServiceAuth } from '@service-auth/nestjs';
import type { CreateAxiosDefaults } from 'axios';
import { getBaseUrlToken } from './base-url-token.ts';
import { isAmbiguous } from './is-ambiguous.ts';
import { refuseNonBooleans, refuseStaticOptions } from './static-options.ts';

/** Options that Nest needs before it runs a factory. */
export interface ServiceAuthHttpStaticOptions {
  /** The name of the client whose token is sent. Default: the client without a name. */
  name?: string | undefined;
  /** True if all modules see the HttpService without importing this one. Default false. */
  global?: boolean | undefined;
  /**
   * Modules that this module imports. Add the module that provides the client if it is not global.
   * Default: none.
   */
  imports?: NonNullable<ModuleMetadata['imports']>;
}

/**
 * Options that a factory may return for {@link ServiceAuthHttpModule.registerAsync}: those of
 * `axios.create`, and those of `attachServiceAuth`. Default of `baseURL`: the client's `baseUrl`.
 */
export interface ServiceAuthHttpOptions extends CreateAxiosDefaults, AttachServiceAuthOptions {}

/** Options of {@link ServiceAuthHttpModule.register}. */
export interface ServiceAuthHttpModuleOptions extends ServiceAuthHttpOptions, ServiceAuthHttpStaticOptions {}

/** Options of {@link ServiceAuthHttpModule.registerAsync}. */
export interface ServiceAuthHttpModuleAsyncOptions
  extends ConfigurableModuleAsyncOptions<ServiceAuthHttpOptions, 'createHttpOptions'>,
    Pick<ServiceAuthHttpStaticOptions, 'name' | 'global'> {}

interface ConfigurableModule {
  new (): object;
  /** Provides an `HttpService` with these defaults. */
  register(options?: ServiceAuthHttpModuleOptions): DynamicModule;
  /** Provides an `HttpService` whose defaults are known only at run time. */
  registerAsync(options: ServiceAuthHttpModuleAsyncOptions): DynamicModule;
}

// The module is transient: a second registration, even with equal options, gets an HttpService of
// its own.
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<ServiceAuthHttpOptions>({
  alwaysTransient: true,
})
  .setFactoryMethodName('createHttpOptions')
  .setExtras<ServiceAuthHttpStaticOptions>({ name: undefined, global: undefined, imports: [] }, withHttpService)
  .build();

const { register } = ConfigurableModuleClass;
// The method that Nest builds fails without options.
const Configurable: ConfigurableModule = Object.assign(ConfigurableModuleClass, {
  register(this: ConfigurableModule, options: ServiceAuthHttpModuleOptions = {}): DynamicModule {
    return register.call(this, options);
  },
});

/**
 * Provides an `HttpService` of `@nestjs/axios` that adds the token. It changes no other
 * HttpService, and is private to the importing module unless it is registered with `global: true`.
 */
export class ServiceAuthHttpModule extends Configurable {
  /**
   * Attaches the token of `auth`, a client or what its `for()` returns, to an existing
   * `HttpService`. Returns a function that detaches it. Call it in a provider's factory:
   * `onModuleInit` is too late for requests that other providers send in theirs.
   * @throws Error for the `HttpService` of an `HttpModule` without options, because it is the
   * default axios instance of the whole process
   */
  static attachTo(httpService: HttpService, auth: TokenSource, options?: AttachServiceAuthOptions): () => void {
    const { axiosRef } = httpService;
    // Only the default export of axios has this property, in every copy of axios.
    if ('isAxiosError' in axiosRef) {
      throw new Error(
        '[service-auth/nestjs] This HttpService is the axios of the whole process. Import HttpModule.register({}) instead of HttpModule, or ServiceAuthHttpModule.register().',
      );
    }
    return attachServiceAuth(axiosRef, auth, options);
  }
}

function withHttpService(
  definition: DynamicModule,
  { name, global, imports }: ServiceAuthHttpStaticOptions,
): DynamicModule {
  refuseNonBooleans({ global });
  const provider = {
    provide: HttpService,
    inject: [
      MODULE_OPTIONS_TOKEN,
      getServiceAuthToken(name),
      ModulesContainer,
      { token: getBaseUrlToken(name), optional: true },
    ],
    useFactory: (
      given: ServiceAuthHttpOptions | undefined,
      auth: ServiceAuth,
      modules: ModulesContainer,
      baseUrl: string | URL | undefined,
    ): HttpService => {
      if (isAmbiguous(HttpService, MODULE_OPTIONS_TOKEN, modules)) throw registeredTwice();
      refuseStaticOptions(Object(given), ['name', 'global', 'imports'], 'registerAsync');
      const { isRejected, ...defaults } = given ?? {};
      // This is the axios that HttpService itself uses: CommonJS and ES modules each have a copy.
      const axios = new HttpService().axiosRef;
      const httpService = new HttpService(axios.create({ ...(baseUrl && { baseURL: String(baseUrl) }), ...defaults }));
      ServiceAuthHttpModule.attachTo(httpService, auth, { isRejected });
      warnIfUncovered(httpService, auth);
      return httpService;
    },
  };
  return {
    ...definition,
    global: global ?? false,
    imports: [...new Set([...(definition.imports ?? []), ...(imports ?? [])])],
    providers: [...(definition.providers ?? []), provider],
    exports: [HttpService],
  };
}

function registeredTwice(): ServiceAuthError {
  const message =
    'Wrong options: one module has two HttpServices of ServiceAuthHttpModule, and Nest would inject the same one everywhere. Register each in the module that injects it, and at most one with global: true.';
  return new ServiceAuthError('ERR_CONFIG', message, {
    problems: [{ option: 'global', message: 'must be true for one HttpService at most' }],
  });
}

/** Logs a warning and does not throw, because each request may have an absolute URL. */
function warnIfUncovered({ axiosRef }: HttpService, auth: ServiceAuth): void {
  const { baseURL } = axiosRef.defaults;
  if (baseURL === undefined || auth.covers(baseURL)) return;
  new Logger('ServiceAuthHttpModule').warn(
    "The baseURL of this HttpService lies outside of the client's baseUrl: requests to it are sent without a token.",
  );
}

import type { HttpService } from '@nestjs/axios';
import {
  type ConfigurableModuleAsyncOptions,
  ConfigurableModuleBuilder,
  type DynamicModule,
  Logger,
  type ModuleMetadata,
} from '@nestjs/common';
import type { CreateAxiosDefaults } from 'axios';
import { requirePeer } from './peer.ts';
import { getBaseUrlToken, getServiceAuthToken, type ServiceAuth } from './service-auth.ts';

/** Options that Nest needs before it runs a factory. */
export interface ServiceAuthHttpStaticOptions {
  /** The name of the client whose token is sent. Default: the client without a name. */
  name?: string | undefined;
  /** Modules that this module imports. Add the module that provides the client if it is not global. Default: none. */
  imports?: NonNullable<ModuleMetadata['imports']>;
}

/** Options of {@link ServiceAuthHttpModule.register}: those of `axios.create`. Default of `baseURL`: the client's `baseUrl`. */
export interface ServiceAuthHttpModuleOptions extends CreateAxiosDefaults, ServiceAuthHttpStaticOptions {}

/** Options of {@link ServiceAuthHttpModule.registerAsync}. */
export interface ServiceAuthHttpModuleAsyncOptions
  extends ConfigurableModuleAsyncOptions<CreateAxiosDefaults, 'createHttpOptions'>,
    Pick<ServiceAuthHttpStaticOptions, 'name'> {}

interface ConfigurableModule {
  new (): object;
  /** Provides an `HttpService` with these defaults. Needs `@nestjs/axios`, `axios` and `@service-auth/axios`. */
  register(options?: ServiceAuthHttpModuleOptions): DynamicModule;
  /** Provides an `HttpService` whose defaults are known only at run time. */
  registerAsync(options: ServiceAuthHttpModuleAsyncOptions): DynamicModule;
}

// The module is transient: a second registration, even with equal options, gets an HttpService of its own.
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<CreateAxiosDefaults>({
  alwaysTransient: true,
})
  .setFactoryMethodName('createHttpOptions')
  .setExtras<ServiceAuthHttpStaticOptions>({ name: undefined, imports: [] }, withHttpService)
  .build();

const { register } = ConfigurableModuleClass;
// The method that Nest builds fails without options.
const Configurable: ConfigurableModule = Object.assign(ConfigurableModuleClass, {
  register(this: ConfigurableModule, options: ServiceAuthHttpModuleOptions = {}): DynamicModule {
    return register.call(this, options);
  },
});

/** Provides an `HttpService` of `@nestjs/axios` that adds the token. It is private to the importing module and changes no other HttpService. */
export class ServiceAuthHttpModule extends Configurable {
  /**
   * Attaches the token to an existing `HttpService`. Returns a function that detaches it. Call it in a provider's factory: `onModuleInit` is too
   * late for requests that other providers send in theirs.
   * @throws Error for the `HttpService` of an `HttpModule` without options, because it is the default axios instance of the whole process
   */
  static attachTo(httpService: HttpService, auth: ServiceAuth): () => void {
    const { axiosRef } = httpService;
    // Only the default export of axios has this property, in every copy of axios.
    if ('isAxiosError' in axiosRef) {
      throw new Error(
        '[service-auth/nestjs] This HttpService is the axios of the whole process. Import HttpModule.register({}) instead of HttpModule, or ServiceAuthHttpModule.register().',
      );
    }
    const adapter = requirePeer<typeof import('@service-auth/axios')>('@service-auth/axios', 'ServiceAuthHttpModule');
    return adapter.attachServiceAuth(axiosRef, auth);
  }
}

function withHttpService(definition: DynamicModule, { name, imports }: ServiceAuthHttpStaticOptions): DynamicModule {
  const { HttpService } = requirePeer<typeof import('@nestjs/axios')>('@nestjs/axios', 'ServiceAuthHttpModule');
  const provider = {
    provide: HttpService,
    inject: [MODULE_OPTIONS_TOKEN, getServiceAuthToken(name), { token: getBaseUrlToken(name), optional: true }],
    useFactory: (defaults: CreateAxiosDefaults, auth: ServiceAuth, baseUrl: string | URL | undefined): HttpService => {
      // This is the axios that HttpService itself uses: CommonJS and ES modules each have a copy.
      const axios = new HttpService().axiosRef;
      const httpService = new HttpService(axios.create({ ...(baseUrl && { baseURL: String(baseUrl) }), ...defaults }));
      ServiceAuthHttpModule.attachTo(httpService, auth);
      warnIfUncovered(httpService, auth);
      return httpService;
    },
  };
  return {
    ...definition,
    imports: [...new Set([...(definition.imports ?? []), ...(imports ?? [])])],
    providers: [...(definition.providers ?? []), provider],
    exports: [HttpService],
  };
}

/** Logs a warning and does not throw, because each request may have an absolute URL. */
function warnIfUncovered({ axiosRef }: HttpService, auth: ServiceAuth): void {
  const { baseURL } = axiosRef.defaults;
  if (baseURL === undefined || auth.covers(baseURL)) return;
  new Logger('ServiceAuthHttpModule').warn(
    "The baseURL of this HttpService lies outside of the client's baseUrl: requests to it are sent without a token.",
  );
}

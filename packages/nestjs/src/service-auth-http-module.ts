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

/** What Nest must know before any factory runs. */
export interface ServiceAuthHttpStaticOptions {
  /** Name of the client whose token is sent. Default: the client without a name. */
  name?: string | undefined;
  /** Modules that this one needs: the one that provides the client, if that is not global. Default: none. */
  imports?: NonNullable<ModuleMetadata['imports']>;
}

/** Options of {@link ServiceAuthHttpModule.register}: those of `axios.create`. `baseURL` is the client's `baseUrl` unless you say otherwise. */
export interface ServiceAuthHttpModuleOptions extends CreateAxiosDefaults, ServiceAuthHttpStaticOptions {}

/** Options of {@link ServiceAuthHttpModule.registerAsync}. */
export interface ServiceAuthHttpModuleAsyncOptions
  extends ConfigurableModuleAsyncOptions<CreateAxiosDefaults, 'createHttpOptions'>,
    Pick<ServiceAuthHttpStaticOptions, 'name'> {}

interface ConfigurableModule {
  new (): object;
  register(options: ServiceAuthHttpModuleOptions): DynamicModule;
  /** An `HttpService` with defaults that are known only at run time. */
  registerAsync(options: ServiceAuthHttpModuleAsyncOptions): DynamicModule;
}

// Transient: who registers it again, even in the same words, gets an HttpService of their own.
const { ConfigurableModuleClass, MODULE_OPTIONS_TOKEN } = new ConfigurableModuleBuilder<CreateAxiosDefaults>({
  alwaysTransient: true,
})
  .setFactoryMethodName('createHttpOptions')
  .setExtras<ServiceAuthHttpStaticOptions>({ name: undefined, imports: [] }, withHttpService)
  .build();

const Configurable: ConfigurableModule = ConfigurableModuleClass;

/** Provides the `HttpService` of `@nestjs/axios` with the token attached. It is this module's own: no other HttpService is touched. */
export class ServiceAuthHttpModule extends Configurable {
  /** An `HttpService` with these defaults. Needs `@nestjs/axios`, `axios` and `@service-auth/axios`. */
  static override register(options: ServiceAuthHttpModuleOptions = {}): DynamicModule {
    // biome-ignore lint/complexity/noThisInStatic: the module is the class that register() is called on
    return super.register(options);
  }

  /**
   * Attaches the token to an `HttpService` that you have; returns a function that detaches it. In a provider's factory, for in `onModuleInit` it
   * would be too late for what others send in theirs.
   * @throws Error for the `HttpService` of a bare `HttpModule`: it is the axios that everybody in the process uses
   */
  static attachTo(httpService: HttpService, auth: ServiceAuth): () => void {
    const { axiosRef } = httpService;
    // Only the default export of axios has this, whichever copy of axios it is.
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
      // The axios that HttpService itself uses, of which CommonJS and ES modules have a copy each.
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

/** A warning only: requests may have addresses of their own. */
function warnIfUncovered({ axiosRef }: HttpService, auth: ServiceAuth): void {
  const { baseURL } = axiosRef.defaults;
  if (baseURL === undefined || auth.covers(baseURL)) return;
  new Logger('ServiceAuthHttpModule').warn(
    "The baseURL of this HttpService lies outside of the client's baseUrl: requests to it are sent without a token.",
  );
}

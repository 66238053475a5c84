import { Inject, type InjectionToken } from '@nestjs/common';
import type { AccessToken, ServiceAuth as Client, GetTokenOptions, Usage } from '@service-auth/core';

/**
 * A client of the service, as `@service-auth/core` describes it: the type to write in a constructor and, for the client without a name,
 * the injection token too. Clients are made by `ServiceAuthModule`; nothing extends this class.
 */
export abstract class ServiceAuth implements Client {
  abstract covers(url: string | URL): boolean;
  abstract getToken(options?: GetTokenOptions): Promise<AccessToken>;
  abstract peekToken(): AccessToken | undefined;
  abstract invalidate(token: AccessToken): Promise<void>;
  abstract reset(): Promise<void>;
  abstract getUsage(): Promise<Usage>;
  /** Ends the client for everybody who shares it. Nest does that at shutdown: there is no need to call it. */
  abstract close(): Promise<void>;
  abstract [Symbol.asyncDispose](): Promise<void>;
}

/** The injection token of the client called `name`; without a name the class {@link ServiceAuth}. For `app.get()`, `inject` and `overrideProvider()`. */
export function getServiceAuthToken(name?: string): InjectionToken<ServiceAuth> {
  return name === undefined ? ServiceAuth : `service-auth:${name}`;
}

/** Injects the client called `name`; without a name the same as writing the type {@link ServiceAuth} alone. */
export function InjectServiceAuth(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getServiceAuthToken(name));
}

/** The injection token of the `baseUrl` that a client was given, so that its HttpService need not be told again. */
export function getBaseUrlToken(name?: string): string {
  return name === undefined ? 'service-auth base URL' : `service-auth base URL:${name}`;
}

import { Inject, type InjectionToken } from '@nestjs/common';
import type {
  AccessToken,
  ServiceAuth as Client,
  GetTokenOptions,
  ResetOptions,
  ResetResult,
  RetryResult,
  ServiceAuthEventListener,
  SubscribeOptions,
  TokenOptions,
  TokenSource,
  Usage,
} from '@service-auth/core';

/**
 * A client of the service, as `@service-auth/core` describes it. The class is the type to write in a constructor and the injection token of the
 * client without a name. `ServiceAuthModule` creates the clients; nothing extends this class.
 */
export abstract class ServiceAuth implements Client {
  abstract covers(url: string | URL): boolean;
  abstract getToken(options?: GetTokenOptions): Promise<AccessToken>;
  abstract peekToken(): AccessToken | undefined;
  abstract invalidate(token: AccessToken): Promise<void>;
  abstract for(options: TokenOptions): TokenSource;
  abstract reset(options?: ResetOptions): Promise<ResetResult>;
  abstract retryNow(): Promise<RetryResult>;
  abstract getUsage(): Promise<Usage>;
  abstract subscribe(listener: ServiceAuthEventListener, options?: SubscribeOptions): () => void;
  /** Closes the client. Nest calls this at shutdown, so the application need not call it. */
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

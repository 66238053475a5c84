import { Inject, type InjectionToken } from '@nestjs/common';
import type { ServiceAuth as Client } from '@service-auth/core';

/**
 * A client of the service, as `@service-auth/core` describes it. The class is the type to write in
 * a constructor, and the injection token of the client without a name. `ServiceAuthModule` creates
 * the clients; nothing extends this class.
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: nothing creates it
export abstract class ServiceAuth {}

export interface ServiceAuth extends Client {
  /** Closes the client. Nest calls this at shutdown, so the application need not call it. */
  close(): Promise<void>;
}

/**
 * The injection token of the client called `name`; without a name the class {@link ServiceAuth}.
 * For `app.get()`, `inject` and `overrideProvider()`.
 */
export function getServiceAuthToken(name?: string): InjectionToken<ServiceAuth> {
  return name === undefined ? ServiceAuth : `service-auth:${name}`;
}

/**
 * Injects the client called `name`; without a name the same as writing the type {@link ServiceAuth}
 * alone.
 */
export function InjectServiceAuth(name?: string): ParameterDecorator & PropertyDecorator {
  return Inject(getServiceAuthToken(name));
}

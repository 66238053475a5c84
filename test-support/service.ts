import {
  createAccessToken,
  createServiceAuth,
  type ServiceAuth,
  type ServiceAuthEvent,
  type ServiceAuthOptions,
  type TokenSource,
} from '@service-auth/core';
import {
  createSigningKey,
  type ForeignOrigin,
  startForeignOrigin,
  startTestService,
  type TestService,
  type TestServiceOptions,
} from '@service-auth/testing';
import { onTestFinished } from 'vitest';

const signingKey = createSigningKey();

/** The service for one test. */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService({ signingKey, ...options });
  onTestFinished(() => service.close());
  return service;
}

/** A foreign host for one test. */
export async function startForeign(): Promise<ForeignOrigin> {
  const foreign = await startForeignOrigin();
  onTestFinished(() => foreign.close());
  return foreign;
}

/** A client of `service` for one test, with the events it emits. */
export function createAuth(
  service: TestService,
  options: Partial<ServiceAuthOptions> = {},
): ServiceAuth & { readonly events: readonly ServiceAuthEvent[] } {
  const events: ServiceAuthEvent[] = [];
  const auth = createServiceAuth({ ...service.options, onEvent: (event) => void events.push(event), ...options });
  onTestFinished(() => auth.close());
  return { ...auth, events };
}

/** A source that covers everything and has a new token at hand after each rejection. */
export function createEagerSource(): TokenSource {
  let count = 1;
  const tokenAtHand = () => createAccessToken(`id-${count}`, `token-${count}`, 0, Number.MAX_SAFE_INTEGER);
  return {
    covers: () => true,
    peekToken: tokenAtHand,
    getToken: async () => tokenAtHand(),
    async invalidate() {
      count += 1;
    },
  };
}

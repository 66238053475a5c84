import {
  createAccessToken,
  createServiceAuth,
  type ServiceAuth,
  type ServiceAuthEvent,
  type ServiceAuthOptions,
  type TokenSource,
} from '@service-auth/core';
import { createSigningKey, startTestService, type TestService, type TestServiceOptions } from '@service-auth/testing';
import type { AxiosInstance, AxiosRequestConfig, AxiosStatic } from 'axios';
import { onTestFinished } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';

const signingKey = createSigningKey();

/** The service for one test. */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  const service = await startTestService({ signingKey, ...options });
  onTestFinished(() => service.close());
  return service;
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

/** An instance of `axios` whose base URL is the API of `service`, with `auth` attached. */
export function createInstance(
  axios: AxiosStatic,
  service: TestService,
  auth: ServiceAuth,
  defaults: AxiosRequestConfig = {},
): AxiosInstance {
  const instance = axios.create({ baseURL: `${service.baseUrl}/api/v1`, ...defaults } as object);
  attachServiceAuth(instance, auth);
  return instance;
}

/** What `promise` rejects with. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => undefined,
    (reason: unknown) => ({ reason }),
  );
  if (!outcome) throw new Error('The promise was expected to reject.');
  return outcome.reason;
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

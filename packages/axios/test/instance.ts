import type { ServiceAuth } from '@service-auth/core';
import type { TestService } from '@service-auth/testing';
import type { AxiosInstance, AxiosRequestConfig, AxiosStatic } from 'axios';
import { attachServiceAuth } from '../src/index.ts';

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

/** The error with which `promise` rejects. */
export async function rejectionOf(promise: Promise<unknown>): Promise<unknown> {
  const outcome = await promise.then(
    () => undefined,
    (reason: unknown) => ({ reason }),
  );
  if (!outcome) throw new Error('The promise was expected to reject.');
  return outcome.reason;
}

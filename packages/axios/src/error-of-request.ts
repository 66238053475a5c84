import { ownProperties } from '@service-auth/core/http';
import type { InternalAxiosRequestConfig } from 'axios';
import { redactConfig } from './redact-error.ts';

const serviceAuthError = Symbol.for('@service-auth/error');

/**
 * Returns a copy of a ServiceAuthError for one request, with the `config` of that request. All callers that wait for a token get the same error, but
 * interceptors expect one error for each request, and read its `config`. Any other value is returned itself.
 */
export function errorOfRequest(error: unknown, config: InternalAxiosRequestConfig): unknown {
  if (typeof error !== 'object' || error === null || !Object.hasOwn(error, serviceAuthError)) return error;
  const { message, stack } = error as Error;
  const copy = Object.setPrototypeOf(new Error(message), Object.getPrototypeOf(error)) as Error;
  for (const name of Reflect.ownKeys(error)) {
    const descriptor = Object.getOwnPropertyDescriptor(error, name) as PropertyDescriptor;
    if (name !== 'stack') Object.defineProperty(copy, name, ownProperties(descriptor));
  }
  hide(copy, 'stack', { value: stack, writable: true });
  // The axios client of hey-api resolves with what axios rejects with, and sets its `error` to the body of the answer. Here that would be {}.
  hide(copy, 'error', { get: () => copy, set() {} });
  return withConfig(copy, config);
}

/** Adds the configuration of a request to an error so that printing the error does not show it. */
export function withConfig<Failure extends Error>(error: Failure, config: InternalAxiosRequestConfig): Failure {
  redactConfig(config);
  return hide(error, 'config', { value: config, writable: true });
}

function hide<Failure extends Error>(error: Failure, name: string, descriptor: PropertyDescriptor): Failure {
  return Object.defineProperty(error, name, ownProperties({ ...descriptor, enumerable: false, configurable: true }));
}

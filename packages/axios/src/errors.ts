import { isServiceAuthError } from '@service-auth/core';
import { hideAgentRequests, ownProperties } from '@service-auth/core/http';
import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios';

/**
 * Hides the open requests that are reachable from a configuration, because every error contains it:
 * those of its agents, and the pipes of a streamed body.
 */
export function redactConfig({ httpAgent, httpsAgent, data }: InternalAxiosRequestConfig): void {
  if (httpAgent) hideAgentRequests(httpAgent);
  if (httpsAgent) hideAgentRequests(httpsAgent);
  hide(data, '_readableState');
}

/**
 * Puts the caller's configuration into an error and hides the properties that contain the token:
 * `request`, and a streamed answer, which refers to it.
 */
export function redactError(error: unknown, config: InternalAxiosRequestConfig): void {
  const failure = Object(error) as Partial<AxiosError>;
  for (const part of [failure, failure.response, failure.cause as Partial<AxiosError> | undefined]) {
    if (part?.config) Reflect.set(part, 'config', config);
    hide(part, 'request');
  }
  const response = Object(failure.response) as Partial<AxiosResponse>;
  if (typeof Object(response.data).pipe === 'function') hide(response, 'data');
}

/**
 * Returns a copy of a ServiceAuthError for one request, with the `config` of that request. All
 * callers that wait for a token get the same error, but interceptors expect one error for each
 * request, and read its `config`. Returns any other value as it is.
 */
export function errorOfRequest(error: unknown, config: InternalAxiosRequestConfig): unknown {
  if (!isServiceAuthError(error)) return error;
  redactConfig(config);
  excludeFromRetries(config);
  const copy = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error)) as Error;
  const added: Record<string, PropertyDescriptor> = {
    stack: { value: error.stack, writable: true },
    config: { value: config, writable: true },
    // The axios client of hey-api resolves with what axios rejects with, and sets its `error` to
    // the body of the answer. Here that would be {}.
    error: { get: () => copy, set() {} },
  };
  for (const name of Reflect.ownKeys(error)) {
    const descriptor = Object.getOwnPropertyDescriptor(error, name) as PropertyDescriptor;
    Object.defineProperty(copy, name, ownProperties(descriptor));
  }
  for (const [name, descriptor] of Object.entries(added)) {
    Object.defineProperty(copy, name, ownProperties({ ...descriptor, enumerable: false, configurable: true }));
  }
  return copy;
}

/**
 * Keeps axios-retry from repeating a request that got no token. axios-retry takes every error
 * without a response for an error of the network. Core alone decides when it asks for a token
 * again.
 */
function excludeFromRetries(config: InternalAxiosRequestConfig): void {
  const state = Object(Reflect.get(config, 'axios-retry')) as { retryCondition?: (error: unknown) => unknown };
  const { retryCondition } = state;
  if (typeof retryCondition !== 'function') return;
  state.retryCondition = (error) => !isServiceAuthError(error) && retryCondition(error);
}

/** Makes a property non-enumerable, so that printing does not show it. */
export function hide(part: unknown, name: string): void {
  if (Object.hasOwn(Object(part), name)) {
    Reflect.defineProperty(part as object, name, ownProperties({ enumerable: false }));
  }
}

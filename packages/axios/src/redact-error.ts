import { hideAgentRequests, hideProperty } from '@service-auth/core/http';
import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios';

/** Hides the open requests that are reachable from a configuration, because every error contains it: those of its agents, and the pipes of a streamed body. */
export function redactConfig({ httpAgent, httpsAgent, data }: InternalAxiosRequestConfig): void {
  if (httpAgent) hideAgentRequests(httpAgent);
  if (httpsAgent) hideAgentRequests(httpsAgent);
  hideProperty(data, '_readableState');
}

/** Puts the caller's configuration into an error and hides the properties that contain the token: `request`, and a streamed answer, which refers to it. */
export function redactError(error: unknown, config: InternalAxiosRequestConfig): void {
  const failure = Object(error) as Partial<AxiosError>;
  for (const part of [failure, failure.response, failure.cause as Partial<AxiosError> | undefined]) {
    if (part?.config) Reflect.set(part, 'config', config);
    hideProperty(part, 'request');
  }
  const response = Object(failure.response) as Partial<AxiosResponse>;
  if (typeof Object(response.data).pipe === 'function') hideProperty(response, 'data');
}

import { hideAgentRequests, hideProperty } from '@service-auth/core/http';
import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios';

/** Hides what leads from a configuration, which every error contains, to requests under way: its agents, and a streamed body by its pipes. */
export function redactConfig({ httpAgent, httpsAgent, data }: InternalAxiosRequestConfig): void {
  if (httpAgent) hideAgentRequests(httpAgent);
  if (httpsAgent) hideAgentRequests(httpsAgent);
  hideProperty(data, '_readableState');
}

/** Puts the configuration that the caller knows into an error, and hides what contains the token: `request`, and a streamed answer, which leads to it. */
export function redactError(error: unknown, config: InternalAxiosRequestConfig): void {
  const failure = Object(error) as Partial<AxiosError>;
  for (const part of [failure, failure.response, failure.cause as Partial<AxiosError> | undefined]) {
    if (part?.config) Reflect.set(part, 'config', config);
    hideProperty(part, 'request');
  }
  const response = Object(failure.response) as Partial<AxiosResponse>;
  if (typeof Object(response.data).pipe === 'function') hideProperty(response, 'data');
}

import type { AxiosError, AxiosResponse, InternalAxiosRequestConfig } from 'axios';

/** Keeps a property, but shows it no longer when its object is printed. */
export function hide(part: unknown, name: string): void {
  if (Object.hasOwn(Object(part), name)) Reflect.defineProperty(part as object, name, { enumerable: false });
}

/**
 * Hides what leads from a configuration, which every error has, to requests under way: its agents, by their sockets and queues, and a streamed body,
 * by the request it goes into.
 */
export function hideRequests({ httpAgent, httpsAgent, data }: InternalAxiosRequestConfig): void {
  for (const agent of [httpAgent, httpsAgent]) {
    if (agent) for (const name of ['sockets', 'freeSockets', 'requests']) hide(agent, name);
  }
  hide(data, '_readableState');
}

/** Puts the configuration that the caller knows into an error, and hides what contains the token: `request`, and a streamed answer, which leads to it. */
export function makePresentable(error: unknown, config: InternalAxiosRequestConfig): void {
  const failure = Object(error) as Partial<AxiosError>;
  for (const part of [failure, failure.response, failure.cause as Partial<AxiosError> | undefined]) {
    if (part?.config) Reflect.set(part, 'config', config);
    hide(part, 'request');
  }
  const response = Object(failure.response) as Partial<AxiosResponse>;
  if (typeof Object(response.data).pipe === 'function') hide(response, 'data');
}

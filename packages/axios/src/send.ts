import type { TokenSource } from '@service-auth/core';
import { ownProperties, sendWithToken } from '@service-auth/core/http';
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { type Dispatch, type Ending, settled } from './dispatch.ts';
import { errorOfRequest } from './error-of-request.ts';
import { createExchange } from './exchange.ts';
import type { ProxyGuard } from './proxy.ts';
import { printableUrl, requestUrl } from './request-url.ts';

/** Sends a request that left the interceptors, with a token of the first of `sources` that covers its URL. */
export function send(
  config: InternalAxiosRequestConfig,
  sources: Iterable<TokenSource>,
  dispatch: Dispatch,
  guard: ProxyGuard,
): Promise<AxiosResponse> {
  if (
    (config.serviceAuth === false && Object.hasOwn(config, 'serviceAuth')) ||
    config.auth ||
    config.headers.has('authorization')
  ) {
    return dispatch.send(config).then(settled);
  }
  const url = requestUrl(config);
  for (const source of sources) {
    if (!source.covers(url)) continue;
    const sent = () =>
      sendWithToken(source, createExchange({ config, url, source }, dispatch)).then(settled, (error) => {
        throw errorOfRequest(error, config);
      });
    return guard(config, url)?.then(sent) ?? sent();
  }
  return dispatch.send(config).then((ending) => settled(explained(ending, config)));
}

/** Adds a `cause` to a 401 that says that no token was sent, and why. */
function explained(ending: Ending, config: InternalAxiosRequestConfig): Ending {
  const { response, error } = ending;
  if (response?.status !== 401 || !(error instanceof Error) || error.cause !== undefined) return ending;
  const value = new Error(
    `[service-auth/axios] No token was sent to ${printableUrl(config) ?? 'that URL'}: no attached client covers it. ` +
      'The option baseUrl of createServiceAuth, or SERVICE_BASE_URL, has to be the address of the API.',
  );
  Object.defineProperty(error, 'cause', ownProperties({ value, configurable: true, writable: true }));
  return ending;
}

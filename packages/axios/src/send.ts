import type { TokenSource } from '@service-auth/core';
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { discard, isReplayable } from './body.ts';
import { type Dispatch, type Ending, settled } from './dispatch.ts';
import { type CoveredRequest, exchange } from './exchange.ts';
import { createPatience } from './patience.ts';
import { isCovered, printableUrl, requestUrl } from './request-url.ts';

/** Sends a request as it left the interceptors, with a token of the first of `sources` that covers its URL. */
export function send(
  config: InternalAxiosRequestConfig,
  sources: Iterable<TokenSource>,
  dispatch: Dispatch,
): Promise<AxiosResponse> {
  if (config.serviceAuth === false || config.auth || config.headers.has('authorization')) {
    return dispatch.send(config).then(settled);
  }
  const url = requestUrl(config);
  for (const source of sources) {
    if (isCovered(source, url)) return sendWithToken({ config, url, source }, dispatch);
  }
  return dispatch.send(config).then((ending) => settled(explained(ending, config)));
}

async function sendWithToken(request: CoveredRequest, dispatch: Dispatch): Promise<AxiosResponse> {
  const { config, source } = request;
  const patience = createPatience(config, dispatch);
  let token = await patience.waitForToken(source);
  for (let isResent = false; ; isResent = true) {
    const ending = await exchange(request, token, patience.rest(), dispatch);
    const { response, answersToken } = ending;
    if (response?.status !== 401 || !answersToken) return settled(ending);
    await source.invalidate(token);
    if (isResent || !isReplayable(config.data)) return settled(ending);
    const next = await patience.waitForToken(source).catch((error) => {
      discard(response);
      throw error;
    });
    if (next.authorization === token.authorization) return settled(ending);
    discard(response);
    token = next;
  }
}

/** Tells the developer who wonders about a 401 that no token was sent, and why. */
function explained(ending: Ending, config: InternalAxiosRequestConfig): Ending {
  const { response, error } = ending;
  if (response?.status !== 401 || !(error instanceof Error) || error.cause !== undefined) return ending;
  const value = new Error(
    `[service-auth/axios] No token was sent to ${printableUrl(config) ?? 'that URL'}: no attached client covers it. ` +
      'The option baseUrl of createServiceAuth, or SERVICE_BASE_URL, has to be the address of the API.',
  );
  Object.defineProperty(error, 'cause', { value, configurable: true, writable: true });
  return ending;
}

import type { TokenSource } from '@service-auth/core';
import { ownProperties, sendWithToken, tokenBypassed, tokenNotSent, tokenRejected } from '@service-auth/core/http';
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { type Dispatch, type Ending, settled } from './dispatch.ts';
import { errorOfRequest } from './errors.ts';
import { createExchange } from './exchange.ts';
import { headersOf, refuseOldCopy } from './old-axios.ts';
import { requestUrl } from './request-url.ts';

/** Sends a request that left the interceptors, with a token of the first of `sources` that covers its URL. */
export function send(
  config: InternalAxiosRequestConfig,
  sources: Iterable<TokenSource>,
  dispatch: Dispatch,
): Promise<AxiosResponse> {
  const headers = headersOf(config);
  const authorization = headers.get('authorization');
  // `Authorization: false` says that the request has none. An empty one or null is a leftover.
  const isRefused = authorization === false && !config.auth;
  const isOwn = !isRefused && (Boolean(config.auth) || authorization !== undefined);
  if ((config.serviceAuth === false && Object.hasOwn(config, 'serviceAuth')) || isRefused) {
    return dispatch.send(config).then(settled);
  }
  const url = requestUrl(config);
  for (const source of sources) {
    if (!source.covers(url)) continue;
    if (isOwn) {
      source.reportBypass?.();
      return dispatch.send(config).then((ending) => settled(withCause(ending, tokenBypassed)));
    }
    refuseOldCopy(config, url);
    const exchange = createExchange({ config, url, source }, dispatch);
    return sendWithToken(source, exchange).then(
      (ending) => settled(exchange.isRejected(ending) ? withCause(ending, tokenRejected) : ending),
      async (error) => {
        // fetch rejects for this redirect, too. A wait for a token fails with other errors.
        if (error instanceof TypeError) throw await dispatch.failure(config, 'Network Error', 'ERR_NETWORK', error);
        throw errorOfRequest(error, config);
      },
    );
  }
  return dispatch.send(config).then((ending) => {
    return settled(isOwn ? ending : withCause(ending, () => tokenNotSent(url)));
  });
}

/** Adds a `cause` to the error of a 401. An error that has one keeps it. */
function withCause(ending: Ending, create: () => Error): Ending {
  const { error, response } = ending;
  if (response?.status === 401 && error instanceof Error && error.cause === undefined) {
    Object.defineProperty(error, 'cause', ownProperties({ value: create(), configurable: true, writable: true }));
  }
  return ending;
}

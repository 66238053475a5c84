import type { TokenSource } from '@service-auth/core';
import {
  ownProperties,
  rejectsToken,
  sendWithToken,
  tokenBypassed,
  tokenNotSent,
  tokenRejected,
} from '@service-auth/core/http';
import type { AxiosResponse, InternalAxiosRequestConfig } from 'axios';
import { type Dispatch, type Ending, settled } from './dispatch.ts';
import { errorOfRequest } from './errors.ts';
import { createExchange } from './exchange.ts';
import type { IsRejected } from './judge.ts';
import { headersOf, refuseOldCopy } from './old-axios.ts';
import { requestUrl } from './request-url.ts';

/**
 * Sends a request that left the interceptors, with a token of the first of `clients` that covers
 * its URL.
 */
export function send(
  config: InternalAxiosRequestConfig,
  clients: Iterable<[auth: TokenSource, isRejected: IsRejected | undefined]>,
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
  for (const [auth, isRejected] of clients) {
    if (!auth.covers(url)) continue;
    if (isOwn) {
      auth.reportBypass?.();
      return dispatch.send(config).then((ending) => settled(withCauseOf401(ending, tokenBypassed)));
    }
    refuseOldCopy(config, url);
    const exchange = createExchange({ config, url, auth, isRejected }, dispatch);
    return sendWithToken(auth, exchange).then(
      (ending) => settled(exchange.wasRejected() ? withCause(ending, tokenRejected) : ending),
      (error) => {
        throw errorOfRequest(error, config);
      },
    );
  }
  return dispatch.send(config).then((ending) => {
    return settled(isOwn ? ending : withCauseOf401(ending, () => tokenNotSent(url)));
  });
}

function withCauseOf401(ending: Ending, create: () => Error): Ending {
  return ending.response && rejectsToken(ending.response.status) ? withCause(ending, create) : ending;
}

/** Adds a `cause` to an error. An error that has one keeps it. */
function withCause(ending: Ending, create: () => Error): Ending {
  const { error } = ending;
  if (error instanceof Error && error.cause === undefined) {
    Object.defineProperty(error, 'cause', ownProperties({ value: create(), configurable: true, writable: true }));
  }
  return ending;
}

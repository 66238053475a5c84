import type { TokenSource } from '@service-auth/core';
import {
  checkIsRejected,
  checkTokenSource,
  ownProperties,
  rejectsToken,
  sendWithToken,
  tokenBypassed,
  tokenNotSent,
  tokenRejected,
} from '@service-auth/core/http';
import axios, {
  type AxiosInstance,
  type AxiosRequestConfig,
  type AxiosResponse,
  type InternalAxiosRequestConfig,
} from 'axios';
import { createDispatch, type Dispatch, type Ending, settled } from './dispatch.ts';
import { errorOfRequest } from './errors.ts';
import { createExchange } from './exchange.ts';
import type { IsRejected } from './judge.ts';
import { headersOf, refuseOldCopy, refuseVersion } from './old-axios.ts';

declare module 'axios' {
  interface AxiosRequestConfig {
    /** False: this request is sent without a token of `attachServiceAuth`. Default true. */
    serviceAuth?: boolean | undefined;
  }
}

/**
 * The part of an axios instance that this package uses. axios's own type is too narrow: its
 * declarations for `import`, for `require` and of different versions exclude each other, and an
 * application may have instances of all of them.
 */
export interface AttachableAxios {
  readonly interceptors: { readonly request: { eject(id: number): void } };
}

/** Options of {@link attachServiceAuth}. */
export interface AttachServiceAuthOptions {
  /**
   * Returns whether an answer rejects the token, for an API that answers an expired token with 403,
   * 400 or even 200. Such an answer is treated as a 401 is by default, and no other answer is, not
   * even a 401. The function is asked only about requests that had the token. `response` is as the
   * call would resolve with it, but without `request`; the `data` of a stream is undefined. The
   * call rejects with what the function throws or rejects with. Default: the status is 401.
   */
  readonly isRejected?: IsRejected | undefined;
}

interface Attachment {
  readonly clients: Map<TokenSource, IsRejected | undefined>;
  end(): void;
}

// The key is a registered symbol, because a process that uses ESM and CommonJS loads this module
// twice.
const attachmentKey: unique symbol = Symbol.for('@service-auth/axios');
type Host = AxiosInstance & { [attachmentKey]?: Attachment };

/**
 * Makes requests of `instance` carry the token of `auth` wherever `auth.covers(url)` is true. A
 * request that the API answers with 401 is sent once more if another token is available. Requests
 * to other URLs, with their own `Authorization` or `auth`, or with `{ serviceAuth: false }` are
 * sent unchanged. `instance` is any axios instance of axios 1.17 or newer, the default one
 * included. Older versions show the token to a proxy.
 *
 * Attaching the same `auth` again changes nothing, not even its options. If several clients cover a
 * URL, the one that was attached first serves it.
 *
 * An `auth` whose `baseUrl` covers none of the requests is accepted: the URLs are not known yet,
 * and one instance may call several APIs. If a request without a token is then answered with 401,
 * the `cause` of its AxiosError explains why no token was sent.
 *
 * A request that gets no token rejects with a ServiceAuthError of its own, with the `config` of the
 * request.
 * @returns a function that detaches `auth` and leaves the instance as it was. Requests that were
 * already sent end as they began
 * @throws TypeError if `instance` is no axios instance, if axios is older than 1.17, if `auth` is
 * no client or has no `baseUrl`, or if `isRejected` is no function
 */
export function attachServiceAuth(
  instance: AttachableAxios,
  auth: TokenSource,
  { isRejected }: AttachServiceAuthOptions = {},
): () => void {
  checkTokenSource(auth, 'axios');
  checkIsRejected(isRejected, 'axios');
  const host = instance as Host | undefined;
  const { clients, end } = host?.[attachmentKey] ?? attach(host);
  if (!clients.has(auth)) clients.set(auth, isRejected);
  return () => {
    if (clients.delete(auth) && clients.size === 0) end();
  };
}

function attach(host: Host | undefined): Attachment {
  refuseVersion(axios.VERSION);
  const bare: AxiosInstance | undefined = host?.create?.({});
  // Test frameworks create mocks of axios that have only some of its methods.
  if (!host?.interceptors?.request || !bare?.defaults) {
    throw new TypeError(
      '[service-auth/axios] The first argument of attachServiceAuth must be an axios instance, not a mock of one.',
    );
  }
  const clients = new Map<TokenSource, IsRejected | undefined>();
  const dispatch = createDispatch(bare);
  // The adapter runs after all interceptors, so it checks the final URL and headers.
  const wrapAdapter = (config: InternalAxiosRequestConfig): InternalAxiosRequestConfig => {
    const { adapter } = config;
    config.adapter = (final) => send(Object.assign(final, { adapter }), clients, dispatch);
    return config;
  };
  const id = host.interceptors.request.use(wrapAdapter, null, { synchronous: true });
  const attachment: Attachment = {
    clients,
    end() {
      host.interceptors.request.eject(id);
      delete host[attachmentKey];
    },
  };
  Object.defineProperty(host, attachmentKey, ownProperties({ value: attachment, configurable: true }));
  return attachment;
}

/**
 * Sends a request that left the interceptors, with a token of the first of `clients` that covers
 * its URL.
 */
function send(
  config: InternalAxiosRequestConfig,
  clients: Iterable<[auth: TokenSource, isRejected: IsRejected | undefined]>,
  dispatch: Dispatch,
): Promise<AxiosResponse> {
  const authorization = headersOf(config).get('authorization');
  const isExempt = config.serviceAuth === false && Object.hasOwn(config, 'serviceAuth');
  // `Authorization: false` says that the request has none. An empty one or null is a leftover.
  if (isExempt || (authorization === false && !config.auth)) return dispatch.send(config).then(settled);
  const isOwn = Boolean(config.auth) || authorization !== undefined;
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

/**
 * Returns the URL of a request as axios builds it, without `params`. `instance.getUri()` would
 * merge all settings again, and in some versions of axios its result differs from the URL that is
 * requested.
 */
function requestUrl({ baseURL, url, allowAbsoluteUrls }: AxiosRequestConfig): string {
  const path = String(url ?? '');
  const isAbsolute = /^([a-z][a-z\d+\-.]*:)?\/\//i.test(path);
  if (!baseURL || (isAbsolute && allowAbsoluteUrls !== false)) return path;
  return path ? `${withoutTrailingSlashes(String(baseURL))}/${path.replace(/^\/+/, '')}` : String(baseURL);
}

function withoutTrailingSlashes(text: string): string {
  let end = text.length;
  while (text[end - 1] === '/') end -= 1;
  return text.slice(0, end);
}

import { type AccessToken, createServiceAuth, type TokenSource } from '@service-auth/core';
import type { ConnectHttpClient, HttpClientBody, HttpClientRequest } from '../src/index.ts';

/** An answer, and whether the request that it answers carried the token. */
interface Sent {
  readonly response: Response;
  readonly withToken: boolean;
}

/** The decisions of an adapter, one by one, so that a test can get a single one wrong. */
export interface Decisions {
  /** Whether the request is sent with a token. */
  authenticates(request: HttpClientRequest, auth: TokenSource): boolean;
  /** The headers of a request with a token. */
  headers(request: HttpClientRequest, token: AccessToken): Record<string, string>;
  /** What the wait for a token listens to. */
  waitsWith(request: HttpClientRequest): AbortSignal | undefined;
  /** What happens when there is no token: throws, or lets the request go without one. */
  withoutToken(error: unknown): undefined;
  /** Whether the answer says that the token is no good. */
  isRejection(sent: Sent): boolean;
  /** Whether the body can be sent a second time. */
  canResend(body: HttpClientBody | undefined): boolean;
  /** Whether another token is worth another try. */
  isNew(next: AccessToken, rejected: AccessToken): boolean;
  /** How often a request is sent at most. */
  readonly sends: number;
  /** Reports the rejection of a token. */
  invalidate(auth: TokenSource, token: AccessToken): Promise<void>;
  /** Whether the token goes along to where a redirect leads. */
  keepsToken(target: string, auth: TokenSource): boolean;
  /** What the caller gets to see of a failure. */
  rethrow(error: unknown, token: AccessToken | undefined): never;
}

const ownsAuthorization = ({ headers }: HttpClientRequest): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');

export const rightDecisions: Decisions = {
  authenticates: (request, auth) => !request.optOut && !ownsAuthorization(request) && auth.covers(request.url),
  headers: ({ headers }, token) => ({ ...headers, authorization: token.authorization }),
  waitsWith: ({ signal }) => signal,
  withoutToken: (error) => {
    throw error;
  },
  isRejection: ({ response, withToken }) => response.status === 401 && withToken,
  canResend: (body) => body?.kind !== 'stream',
  isNew: (next, rejected) => next.value !== rejected.value,
  sends: 2,
  invalidate: (auth, token) => auth.invalidate(token),
  keepsToken: (target, auth) => auth.covers(target),
  rethrow: (error) => {
    throw error;
  },
};

function contentOf(body: HttpClientBody | undefined): RequestInit {
  if (!body) return {};
  if (body.kind === 'json') return { body: JSON.stringify(body.value) };
  return { body: body.value, ...(body.kind === 'stream' && { duplex: 'half' }) };
}

/** Follows redirects by hand: by fetch itself they would hide where a 401 came from and whether the token had gone there. */
async function follow(url: string, init: RequestInit, keepsToken: (target: string) => boolean): Promise<Sent> {
  const headers = new Headers(init.headers);
  for (let current = { ...init, headers }, target = url; ; ) {
    const response = await fetch(target, { ...current, redirect: 'manual' });
    const location = response.headers.get('location');
    if (response.status < 300 || response.status > 399 || location === null) {
      return { response, withToken: headers.has('authorization') };
    }
    await response.body?.cancel();
    const token = headers.get('authorization');
    target = new URL(location, target).href;
    if (token !== null && !keepsToken(target)) headers.delete('authorization');
    if (response.status < 307 && init.method !== 'GET') {
      current = { ...init, method: 'GET', body: null, headers };
    }
  }
}

/** An adapter for fetch that decides as told. */
export function adapter(decisions: Decisions): ConnectHttpClient {
  return ({ options }) => {
    const auth = createServiceAuth(options);

    async function sendOnce(request: HttpClientRequest, token: AccessToken | undefined) {
      const headers = token ? decisions.headers(request, token) : request.headers;
      const { method, url, body, signal: callerSignal, timeoutMs } = request;
      const timeout = timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)];
      const signal = AbortSignal.any([...(callerSignal ? [callerSignal] : []), ...timeout]);
      const init = { method, headers, signal, ...contentOf(body) };
      const keepsToken = (target: string) => token !== undefined && decisions.keepsToken(target, auth);
      return follow(url, init, keepsToken);
    }

    async function send(request: HttpClientRequest): Promise<Response> {
      if (!decisions.authenticates(request, auth)) return (await sendOnce(request, undefined)).response;
      const waitOptions = { signal: decisions.waitsWith(request) };
      let token = await auth.getToken(waitOptions).catch(decisions.withoutToken);
      if (!token) return (await sendOnce(request, undefined)).response;
      for (let count = 1; ; count++) {
        const sent = await sendOnce(request, token).catch((error: unknown) => decisions.rethrow(error, token));
        if (!decisions.isRejection(sent)) return sent.response;
        await decisions.invalidate(auth, token);
        if (count >= decisions.sends || !decisions.canResend(request.body)) return sent.response;
        const next = await auth.getToken(waitOptions);
        if (!decisions.isNew(next, token)) return sent.response;
        await sent.response.body?.cancel();
        token = next;
      }
    }

    return {
      auth,
      async request(request) {
        const response = await send(request);
        return { status: response.status, text: await response.text() };
      },
      close: () => auth.close(),
    };
  };
}

import { type AccessToken, createServiceAuth, type TokenSource } from '@service-auth/core';
import { isReplayable, redirectTo, sendWithToken } from '@service-auth/core/http';
import type { ConnectHttpClient, HttpClientBody, HttpClientRequest } from '../src/index.ts';

type Headers = Readonly<Record<string, string>>;

/** A request to one address: the one that was asked for, or one that a redirect asks for. */
interface Hop {
  readonly url: string;
  readonly init: Omit<RequestInit, 'headers'> & { readonly method: string; readonly headers: Headers };
  /** How many redirects led here. */
  readonly followed: number;
}

/** The decisions of an adapter, one by one, so that a test can get a single one wrong. */
export interface Decisions {
  /** Whether the request is sent with a token. */
  authenticates(request: HttpClientRequest, auth: TokenSource): boolean;
  /** The headers of a request with a token. */
  headers(headers: Headers, token: AccessToken): Headers;
  /** What the wait for a token listens to. */
  waitsWith(request: HttpClientRequest): AbortSignal | undefined;
  /** What happens when there is no token: throws, or lets the request go without one. */
  withoutToken(error: unknown): undefined;
  /** Sends a request with a token, and again after a 401. */
  readonly sendWithToken: typeof sendWithToken;
  /** Whether the answer to a request, with the token or without it, says that the token is no good. */
  isRejection(response: Response, withToken: boolean): boolean;
  /** Whether the body can be sent a second time. */
  canResend(body: HttpClientBody | undefined): boolean;
  /** What is sent after a 401: the request that was asked for, or the last one that redirects led to. */
  resends(first: Hop, last: Hop): Hop;
  /** Frees a 401 that nobody will read. */
  discardRejection(response: Response): unknown;
  /** Frees a redirect that is followed. */
  discardRedirect(response: Response): unknown;
  /** Reports the rejection of a token. */
  invalidate(auth: TokenSource, token: AccessToken): Promise<void>;
  /** Whether the token goes along to where a redirect leads. */
  keepsToken(target: string, auth: TokenSource): boolean;
  /** What the caller gets to see of a failure. */
  rethrow(error: unknown, token: AccessToken | undefined): never;
}

const ownsAuthorization = ({ headers }: HttpClientRequest): boolean =>
  Object.keys(headers).some((name) => name.toLowerCase() === 'authorization');

const discard = (response: Response) => response.body?.cancel();

export const rightDecisions: Decisions = {
  authenticates: (request, auth) => !request.optOut && !ownsAuthorization(request) && auth.covers(request.url),
  headers: (headers, token) => ({ ...headers, authorization: token.authorization }),
  waitsWith: ({ signal }) => signal,
  withoutToken: (error) => {
    throw error;
  },
  sendWithToken,
  isRejection: ({ status }, withToken) => status === 401 && withToken,
  canResend: (body) => body?.kind === 'json' || isReplayable(body?.value),
  resends: (_, last) => last,
  discardRejection: discard,
  discardRedirect: discard,
  invalidate: (auth, token) => auth.invalidate(token),
  keepsToken: (target, auth) => auth.covers(target),
  rethrow: (error) => {
    throw error;
  },
};

/** `sendWithToken` by hand, so that a test can get a single rule of it wrong. */
export function sendWithTokenByHand({
  sends = 2,
  reports = 2,
  isNew = (next: AccessToken, rejected: AccessToken) => next.value !== rejected.value,
}: {
  sends?: number;
  reports?: number;
  isNew?: (next: AccessToken, rejected: AccessToken) => boolean;
} = {}): typeof sendWithToken {
  return async (auth, { waitForToken = () => auth.getToken(), send, isRejected, canResend, discard }) => {
    let token = await waitForToken();
    for (let count = 1; ; count++) {
      const answer = await send(token, count as 1 | 2);
      if (!isRejected(answer)) return answer;
      if (count <= reports) await auth.invalidate(token);
      if (count >= sends || !canResend(answer)) return answer;
      const next = await waitForToken();
      if (!isNew(next, token)) return answer;
      await discard(answer);
      token = next;
    }
  };
}

function contentOf(body: HttpClientBody | undefined): Omit<RequestInit, 'headers'> {
  if (!body) return {};
  if (body.kind === 'json') return { body: JSON.stringify(body.value) };
  return { body: body.value, ...(body.kind === 'stream' && { duplex: 'half' }) };
}

function firstHop({ url, method, headers, body, signal, timeoutMs }: HttpClientRequest): Hop {
  const signals = [signal ?? [], timeoutMs === undefined ? [] : AbortSignal.timeout(timeoutMs)].flat();
  return { url, init: { method, headers, signal: AbortSignal.any(signals), ...contentOf(body) }, followed: 0 };
}

/** An adapter for fetch that decides as told. It follows redirects itself, for fetch does not show them. */
export function adapter(decisions: Decisions): ConnectHttpClient {
  return ({ options }) => {
    const auth = createServiceAuth(options);
    const source = {
      ...auth,
      invalidate: (token: AccessToken) => decisions.invalidate(auth, token),
    };

    function nextHop({ url: from, init, followed }: Hop, { status, headers }: Response): Hop | undefined {
      const redirect = redirectTo({ status, location: headers.get('location'), from, method: init.method, followed });
      if (!redirect) return undefined;
      const { dropHeaders, becomesGet } = redirect;
      const url = redirect.url.href;
      const kept = Object.entries(init.headers).filter(([name]) =>
        name === 'authorization' ? decisions.keepsToken(url, auth) : !dropHeaders.includes(name.toLowerCase()),
      );
      const changes = becomesGet ? { method: 'GET', body: null } : {};
      return { url, init: { ...init, ...changes, headers: Object.fromEntries(kept) }, followed: followed + 1 };
    }

    async function send(request: HttpClientRequest): Promise<Response> {
      const first = firstHop(request);
      let last = first;

      async function sendFrom(hop: Hop): Promise<Response> {
        last = hop;
        const response = await fetch(hop.url, { ...hop.init, redirect: 'manual' });
        const next = nextHop(hop, response);
        if (!next) return response;
        decisions.discardRedirect(response);
        return sendFrom(next);
      }

      if (!decisions.authenticates(request, auth)) return sendFrom(first);
      const waitOptions = { signal: decisions.waitsWith(request) };
      return decisions.sendWithToken<Response>(source, {
        waitForToken: () => auth.getToken(waitOptions).catch(decisions.withoutToken) as Promise<AccessToken>,
        async send(token: AccessToken | undefined) {
          const hop = decisions.resends(first, last);
          const headers = token ? decisions.headers(hop.init.headers, token) : hop.init.headers;
          return sendFrom({ ...hop, init: { ...hop.init, headers } }).catch((error) => decisions.rethrow(error, token));
        },
        isRejected: (response) => decisions.isRejection(response, 'authorization' in last.init.headers),
        canResend: () => decisions.canResend(request.body),
        discard: decisions.discardRejection,
      });
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

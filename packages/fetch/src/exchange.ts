import type { AccessToken, TokenSource } from '@service-auth/core';
import { isRedirect, redirectTo, type SendWithTokenOptions } from '@service-auth/core/http';
import { type Fields, without, withToken } from './headers.ts';

/** A request to one address, without the token: the one that the caller asked for, or one that a redirect asks for. */
export interface Hop {
  readonly target: string | Request;
  readonly init: RequestInit;
  readonly fields: Fields;
  /** Whether its body can be sent again. */
  readonly canResend: boolean;
  /** False once a redirect led out of `baseUrl`: whoever is asked there might send the token anywhere within the API. */
  readonly carriesToken: boolean;
  /** How many redirects led here. */
  readonly followed: number;
}

/** What the requests of one call have in common. */
export interface Call {
  readonly auth: TokenSource;
  readonly send: typeof fetch;
  /** Whether redirects are followed here, for `send` neither tells where it went nor asks. The `redirect` of the hops is 'manual' then. */
  readonly followsRedirects: boolean;
  readonly signal: AbortSignal | undefined;
}

/** How `sendWithToken` sends one call, along its redirects. */
export function createExchange(first: Hop, call: Call): SendWithTokenOptions<Response> {
  const { auth, send, followsRedirects, signal } = call;
  let hop = first;

  /** Goes on where a response redirects to; returns undefined if it is for the caller. */
  function follow(response: Response, token: AccessToken, attempt: 1 | 2): Response | Promise<Response> {
    const next = isRedirect(response.status) ? nextHop(response, hop, auth) : undefined;
    if (!next) return hop.followed ? Object.defineProperty(response, 'redirected', { value: true }) : response;
    discard(response);
    hop = next;
    return sendHop(token, attempt);
  }

  function sendHop(token: AccessToken, attempt: 1 | 2): Promise<Response> {
    // Ours: a copy of the caller's. But what was handed over before may be in use still.
    const init = attempt === 1 ? hop.init : { ...hop.init };
    init.headers = hop.carriesToken ? withToken(hop.fields, token) : hop.fields;
    const sent = send(hop.target, init);
    return followsRedirects ? sent.then((response) => follow(response, token, attempt)) : sent;
  }

  return {
    waitForToken: () => (signal ? auth.getToken({ signal }) : auth.getToken()),
    send: sendHop,
    // Where `send` followed redirects, the token may have been left behind on the way.
    isRejected: ({ status, redirected }) => status === 401 && hop.carriesToken && (followsRedirects || !redirected),
    canResend: () => hop.canResend,
    discard,
  };
}

/** Ends a response that nobody will read, so that its connection is free. */
function discard(response: Response): void {
  response.body?.cancel().catch(() => {});
}

/**
 * The request that a redirect asks for.
 * @throws `TypeError` where fetch fails
 */
function nextHop({ status, headers }: Response, { target, init, fields, ...hop }: Hop, auth: TokenSource) {
  const request = typeof target === 'string' ? undefined : target;
  const { method = request?.method ?? 'GET', signal = request?.signal ?? null } = init;
  const from = request?.url ?? String(target);
  const to = redirectTo({ ...hop, status, location: headers.get('location'), from, method });
  if (!to) return undefined;
  if (to.crossesOrigin && init.mode === 'same-origin') throw new TypeError('A redirect leads to another origin');
  const { becomesGet, crossesOrigin, dropHeaders } = to;
  const { href } = to.url;
  return {
    target: href,
    init: { ...init, ...(becomesGet ? { method: 'GET', body: null } : { method }), signal },
    fields: without(fields, dropHeaders),
    canResend: becomesGet || hop.canResend,
    carriesToken: hop.carriesToken && !crossesOrigin && auth.covers(href),
    followed: hop.followed + 1,
  };
}

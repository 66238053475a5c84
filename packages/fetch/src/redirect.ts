import type { TokenSource } from '@service-auth/core';
import { ownProperties, redirectTo } from '@service-auth/core/http';
import { type Fields, without } from './headers.ts';

/** One request without its token: the caller's, or the next one after a redirect. */
export interface Hop {
  readonly target: string | Request;
  readonly init: RequestInit;
  readonly fields: Fields;
  /** True if its body can be sent again. */
  readonly canResend: boolean;
  /**
   * False after a redirect out of `baseUrl`. It stays false, because the host there could choose
   * where in the API the token goes.
   */
  readonly carriesToken: boolean;
  /** The number of redirects before this request. */
  readonly followed: number;
}

/**
 * Returns the next request after a redirect. Undefined: the answer is no redirect.
 * @throws `TypeError` in the cases in which fetch rejects
 */
export function nextHop(
  { status, headers }: Response,
  { target, init, fields, ...hop }: Hop,
  auth: TokenSource,
): Hop | undefined {
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
    init: ownProperties({ ...init, ...(becomesGet ? { method: 'GET', body: null } : { method }), signal }),
    fields: without(fields, dropHeaders),
    canResend: becomesGet || hop.canResend,
    carriesToken: hop.carriesToken && !crossesOrigin && auth.covers(href),
    followed: hop.followed + 1,
  };
}

/** Makes an answer, and its clones, say that a redirect led to it, as fetch does. */
export function markRedirected(response: Response): Response {
  const { clone } = response;
  return Object.defineProperties(response, {
    redirected: { value: true },
    clone: { value: () => markRedirected(clone.call(response)), configurable: true, writable: true },
  });
}

import type { AccessToken, TokenSource } from '@service-auth/core';
import { discardBody, isRedirect, ownProperties, redirectTo, type SendWithTokenOptions } from '@service-auth/core/http';
import { type Fields, without, withToken } from './headers.ts';

/** One request without its token: the caller's, or the next one after a redirect. */
export interface Hop {
  readonly target: string | Request;
  readonly init: RequestInit;
  readonly fields: Fields;
  /** True if its body can be sent again. */
  readonly canResend: boolean;
  /** False after a redirect out of `baseUrl`. It stays false, because the host there could choose where in the API the token goes. */
  readonly carriesToken: boolean;
  /** The number of redirects before this request. */
  readonly followed: number;
}

/** The settings that all requests of one call share. */
export interface Call {
  readonly auth: TokenSource;
  readonly send: typeof fetch;
  /** True if this package follows redirects, because `send` neither reports them nor asks. The `redirect` of each hop is then 'manual'. */
  readonly followsRedirects: boolean;
  readonly signal: AbortSignal | undefined;
}

/**
 * Tells `sendWithToken` how to send one call and how to follow its redirects. It is a class, because creating closures for each request would take
 * longer than the rest of this package.
 */
export class Exchange implements SendWithTokenOptions<Response> {
  readonly #call: Call;
  #hop: Hop;

  constructor(first: Hop, call: Call) {
    this.#call = call;
    this.#hop = first;
  }

  waitForToken(): Promise<AccessToken> {
    const { auth, signal } = this.#call;
    return signal ? auth.getToken({ signal }) : auth.getToken();
  }

  send(token: AccessToken, attempt: 1 | 2): Promise<Response> {
    const { target, init: first, fields, carriesToken } = this.#hop;
    // The first attempt may change `init`, which is our copy. The second attempt copies it, because `send` may still use the first one.
    const init = attempt === 1 ? first : ownProperties(first);
    init.headers = carriesToken ? withToken(fields, token) : fields;
    const { send } = this.#call;
    return send(target, init);
  }

  follow(response: Response): boolean {
    const { auth, followsRedirects } = this.#call;
    const next = followsRedirects && isRedirect(response.status) ? nextHop(response, this.#hop, auth) : undefined;
    if (next) this.#hop = next;
    else if (followsRedirects && this.#hop.followed) {
      Object.defineProperty(response, 'redirected', ownProperties({ value: true }));
    }
    return next !== undefined;
  }

  isRejected({ status, redirected }: Response): boolean {
    // If `send` followed redirects itself, it may have removed the token on the way.
    return status === 401 && this.#hop.carriesToken && (this.#call.followsRedirects || !redirected);
  }

  canResend(): boolean {
    return this.#hop.canResend;
  }

  discard({ body }: Response): void {
    discardBody(body);
  }
}

/**
 * The next request after a redirect.
 * @throws `TypeError` in the cases in which fetch rejects
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
    init: ownProperties({ ...init, ...(becomesGet ? { method: 'GET', body: null } : { method }), signal }),
    fields: without(fields, dropHeaders),
    canResend: becomesGet || hop.canResend,
    carriesToken: hop.carriesToken && !crossesOrigin && auth.covers(href),
    followed: hop.followed + 1,
  };
}

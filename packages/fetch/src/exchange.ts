import type { AccessToken, TokenSource } from '@service-auth/core';
import {
  acceptsToken,
  discardBody,
  isRedirect,
  ownProperties,
  type SendWithTokenOptions,
} from '@service-auth/core/http';
import { withToken } from './headers.ts';
import { type IsRejected, judge } from './judge.ts';
import { type Hop, markRedirected, nextHop } from './redirect.ts';

/** The settings that all requests of one call share. */
export interface Call {
  readonly auth: TokenSource;
  readonly send: typeof fetch;
  /**
   * True if this package follows redirects, because `send` neither reports them nor asks. The
   * `redirect` of each hop is then 'manual'.
   */
  readonly followsRedirects: boolean;
  readonly signal: AbortSignal | undefined;
  /** The rule of the application for the answers that reject the token. */
  readonly isRejected: IsRejected | undefined;
}

/**
 * Tells `sendWithToken` how to send one call and how to follow its redirects. It is a class,
 * because creating closures for each request would take longer than the rest of this package.
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
    // The first attempt may change `init`, which is our copy. The second attempt copies it, because
    // `send` may still use the first one.
    const init = attempt === 1 ? first : ownProperties(first);
    init.headers = carriesToken ? withToken(fields, token) : fields;
    const { send } = this.#call;
    return send(target, init);
  }

  follow(response: Response): boolean {
    const { auth, followsRedirects } = this.#call;
    const next = followsRedirects && isRedirect(response.status) ? nextHop(response, this.#hop, auth) : undefined;
    if (next) this.#hop = next;
    else if (followsRedirects && this.#hop.followed) markRedirected(response);
    return next !== undefined;
  }

  isRejected(response: Response): boolean | Promise<boolean> {
    return this.#hadToken(response) && judge(this.#call.isRejected, response);
  }

  isAccepted(response: Response): boolean {
    return acceptsToken(response.status) && this.#hadToken(response);
  }

  /**
   * True if the last request had the token. If `send` followed redirects itself, it may have
   * removed the token on the way.
   */
  #hadToken({ redirected }: Response): boolean {
    return this.#hop.carriesToken && (this.#call.followsRedirects || !redirected);
  }

  canResend(): boolean {
    return this.#hop.canResend;
  }

  discard({ body }: Response): void {
    discardBody(body);
  }
}

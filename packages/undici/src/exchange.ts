import type { AccessToken, TokenSource } from '@service-auth/core';
import { isReplayable, listenToErrors, ownProperties, replaceRejected, settledToken } from '@service-auth/core/http';
import type { Dispatcher } from 'undici';
import { withToken } from './headers.ts';
import { type IsRejected, judge } from './judge.ts';
import type { Handler } from './recording.ts';
import { fail, RejectionHandler, type RejectionPolicy } from './rejection-handler.ts';

const closedCodes: ReadonlySet<unknown> = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

/** A call whose URL `auth` covers. */
interface Call {
  readonly auth: TokenSource;
  /** The rule of the application for the answers that reject the token. */
  readonly isRejected: IsRejected | undefined;
  readonly dispatch: Dispatcher.Dispatch;
  readonly options: Dispatcher.DispatchOptions;
  /** The headers of the options, in a form that can be read again. */
  readonly headers: Dispatcher.DispatchOptions['headers'];
}

/**
 * Sends the requests of one call. It is a class, because creating closures for each request would
 * take longer than the rest of this package.
 */
export class Exchange implements RejectionPolicy {
  readonly caller: Handler;
  readonly #call: Call;
  /**
   * Set while `dispatch` sends the request again. If undici refuses a request, it tells the handler
   * before `dispatch` returns.
   */
  #refusal: { isRefused: boolean } | undefined;

  constructor(call: Call, caller: Handler) {
    this.caller = caller;
    this.#call = call;
  }

  /**
   * Returns what `dispatch` of undici returns: false asks the caller to wait for `drain`. Returns
   * true if the request has to wait for a token first.
   * @throws what `dispatch` of undici throws. If the request had to wait, the handler gets the
   * error
   */
  start(): boolean {
    const { auth, options } = this.#call;
    const signal = signalOf(options);
    const promise = auth.getToken(signal && { signal });
    const known = settledToken(promise);
    if (known) return this.#dispatchWith(known, 1);
    listenToErrors(options.body);
    promise.then(
      (token) => this.#send(token, 1),
      (error) => fail(this.caller, error),
    );
    return true;
  }

  #dispatchWith(token: AccessToken, attempt: 1 | 2): boolean {
    const handler = new RejectionHandler(this, token, attempt) as Dispatcher.DispatchHandler;
    const { dispatch, options: given, headers } = this.#call;
    const options = ownProperties(given);
    options.headers = withToken(headers, token);
    return dispatch(options, handler);
  }

  #send(token: AccessToken, attempt: 1 | 2): void {
    try {
      this.#dispatchWith(token, attempt);
    } catch (error) {
      fail(this.caller, error);
    }
  }

  #sendAgain(token: AccessToken): boolean {
    const refusal = { isRefused: false };
    this.#refusal = refusal;
    this.#send(token, 2);
    this.#refusal = undefined;
    return !refusal.isRefused;
  }

  refuses(error: unknown): boolean {
    if (!this.#refusal || !closedCodes.has(Object(error).code)) return false;
    this.#refusal.isRefused = true;
    return true;
  }

  /**
   * True if the last request had the token. undici removes the token at a redirect to another host.
   */
  #hadToken(visited: readonly URL[]): boolean {
    return visited.every((url) => this.#call.auth.covers(url));
  }

  isRejected(statusCode: number, headers: unknown, visited: readonly URL[]): boolean | Promise<boolean> {
    return this.#hadToken(visited) && judge(this.#call.isRejected, statusCode, headers);
  }

  accept(token: AccessToken, visited: readonly URL[]): void {
    if (this.#hadToken(visited)) this.#call.auth.reportAccepted?.(token);
  }

  async replace(token: AccessToken, attempt: 1 | 2, visited: readonly URL[]): Promise<(() => boolean) | undefined> {
    // After a redirect, the API rejected the request to which it led, and not this one.
    const { auth, options } = this.#call;
    const canResend = attempt === 1 && visited.length < 2 && isReplayable(options.body);
    const next = await replaceRejected(auth, token, { signal: signalOf(options), canResend });
    return next && (() => this.#sendAgain(next));
  }
}

/**
 * Returns the signal that ends the wait for a token. undici also accepts event emitters: their
 * abort takes effect after the wait.
 */
function signalOf(options: Dispatcher.DispatchOptions & { signal?: unknown }): AbortSignal | undefined {
  const signal = options.signal as Partial<AbortSignal> | null | undefined;
  return signal?.addEventListener ? (signal as AbortSignal) : undefined;
}

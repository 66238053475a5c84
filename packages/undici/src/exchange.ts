import type { AccessToken, TokenSource } from '@service-auth/core';
import { isReplayable, listenToErrors, ownProperties, replaceRejected, settledToken } from '@service-auth/core/http';
import type { Dispatcher } from 'undici';
import { withToken } from './headers.ts';
import { type IsRejected, judge } from './judge.ts';
import type { Handler } from './recording.ts';
import { fail, RejectionHandler, type RejectionPolicy } from './rejection-handler.ts';

type Headers = Dispatcher.DispatchOptions['headers'];

const closedCodes: ReadonlySet<unknown> = new Set(['UND_ERR_CLOSED', 'UND_ERR_DESTROYED']);

/** The settings that all requests of an interceptor share. */
interface Settings {
  readonly auth: TokenSource;
  readonly isRejected: IsRejected | undefined;
}

/**
 * A request that carries the token. It is a class, because creating closures for each request would
 * take longer than the rest of this package.
 */
export class Exchange implements RejectionPolicy {
  readonly caller: Handler;
  readonly #settings: Settings;
  readonly #dispatch: Dispatcher.Dispatch;
  readonly #options: Dispatcher.DispatchOptions;
  readonly #headers: Headers;
  /**
   * Set while `dispatch` sends the request again. If undici refuses a request, it tells the handler
   * before `dispatch` returns.
   */
  #refusal: { isRefused: boolean } | undefined;

  constructor(
    settings: Settings,
    dispatch: Dispatcher.Dispatch,
    options: Dispatcher.DispatchOptions,
    headers: Headers,
    caller: Handler,
  ) {
    this.caller = caller;
    this.#settings = settings;
    this.#dispatch = dispatch;
    this.#options = options;
    this.#headers = headers;
  }

  /**
   * Returns what `dispatch` of undici returns: false asks the caller to wait for `drain`. Returns
   * true if the request has to wait for a token first.
   * @throws what `dispatch` of undici throws. If the request had to wait, the handler gets the
   * error
   */
  start(): boolean {
    const signal = signalOf(this.#options);
    const promise = this.#settings.auth.getToken(signal && { signal });
    const known = settledToken(promise);
    if (known) return this.#dispatchWith(known, true);
    listenToErrors(this.#options.body);
    promise.then(
      (token) => this.#send(token, true),
      (error) => fail(this.caller, error),
    );
    return true;
  }

  #dispatchWith(token: AccessToken, isFirst: boolean): boolean {
    const handler = new RejectionHandler(this, token, isFirst) as Dispatcher.DispatchHandler;
    const options = ownProperties(this.#options);
    options.headers = withToken(this.#headers, token);
    return this.#dispatch(options, handler);
  }

  #send(token: AccessToken, isFirst: boolean): void {
    try {
      this.#dispatchWith(token, isFirst);
    } catch (error) {
      fail(this.caller, error);
    }
  }

  #sendAgain(token: AccessToken): boolean {
    const refusal = { isRefused: false };
    this.#refusal = refusal;
    this.#send(token, false);
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
    return visited.every((url) => this.#settings.auth.covers(url));
  }

  isRejected(statusCode: number, headers: unknown, visited: readonly URL[]): boolean | Promise<boolean> {
    return this.#hadToken(visited) && judge(this.#settings.isRejected, statusCode, headers);
  }

  accept(token: AccessToken, visited: readonly URL[]): void {
    if (this.#hadToken(visited)) this.#settings.auth.reportAccepted?.(token);
  }

  async replace(token: AccessToken, isFirst: boolean, visited: readonly URL[]): Promise<(() => boolean) | undefined> {
    // After a redirect, the API rejected the request to which it led, and not this one.
    const canResend = isFirst && visited.length < 2 && isReplayable(this.#options.body);
    const next = await replaceRejected(this.#settings.auth, token, { signal: signalOf(this.#options), canResend });
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

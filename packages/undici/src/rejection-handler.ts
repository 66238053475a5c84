import type { AccessToken } from '@service-auth/core';
import { createRecording, type Handler, type Recording } from './recording.ts';

/** What the handler of one attempt asks about a 401. */
export interface Exchange {
  readonly caller: Handler;
  /**
   * Resolves to a function that sends the request again, or to undefined.
   * `visited`: the URLs that answered below, the last one included, if something below follows redirects; else empty.
   */
  decide(token: AccessToken, isFirst: boolean, visited: readonly URL[]): Promise<(() => void) | undefined>;
}

type Abort = (reason: unknown) => void;
type Context = { readonly history?: readonly URL[] } | null | undefined;
type Controller = { abort: Abort };

const nobody: Handler = {};

/** Tells a handler that its request failed. */
export function fail(handler: Handler, error: unknown): void {
  if (handler.onResponseError) handler.onResponseError(null, error);
  else handler.onError?.(error);
}

/**
 * Hands every call on to the caller, but records those of a 401 until it is decided what becomes of it. Nothing is paused meanwhile: undici
 * crashes if a peer ends a paused connection. A class, because every request has one: closures would cost more.
 */
export class RejectionHandler {
  readonly #exchange: Exchange;
  readonly #caller: Handler;
  readonly #token: AccessToken;
  readonly #isFirst: boolean;
  /** The caller; the recording while a 401 is decided; nobody once the caller needs no more of this answer. */
  #target: Handler;
  #recording: Recording | undefined;
  #controller: unknown;
  #abort: Abort | undefined;
  #visited: readonly URL[] | undefined;

  constructor(exchange: Exchange, token: AccessToken, isFirst: boolean) {
    this.#exchange = exchange;
    this.#caller = exchange.caller;
    this.#target = exchange.caller;
    this.#token = token;
    this.#isFirst = isFirst;
  }

  onConnect(abort: Abort, context: Context): void {
    this.#abort = abort;
    this.#visited = context?.history;
    this.#target.onConnect?.((reason: unknown) => this.#abortByCaller(reason), context);
  }

  onRequestStart(controller: Controller, context: Context): void {
    // Read now: interceptors.dump() replaces it later by a function that ends nothing.
    this.#abort = controller.abort;
    this.#controller = controller;
    this.#visited = context?.history;
    this.#target.onRequestStart?.(controller, context);
  }

  onHeaders(status: number, headers: unknown, resume: unknown, message: unknown): unknown {
    if (status === 401) this.#record();
    return this.#target.onHeaders?.(status, headers, resume, message);
  }

  onResponseStart(controller: Controller, status: number, headers: object, message: unknown): void {
    if (status === 401) {
      this.#record();
      // undici's own function tells nobody once the whole answer has arrived.
      controller.abort = (reason) => this.#abortByCaller(reason);
    }
    // RFC 9110 section 12.5.5: more than the request decided on this answer. Caches outside do not see the token, and must not store it.
    this.#target.onResponseStart?.(controller, status, { ...headers, vary: '*' }, message);
  }

  onData(chunk: unknown): unknown {
    return this.#target.onData?.(chunk);
  }

  onResponseData(controller: unknown, chunk: unknown): unknown {
    return this.#target.onResponseData?.(controller, chunk);
  }

  onComplete(trailers: unknown): unknown {
    return this.#target.onComplete?.(trailers);
  }

  onResponseEnd(controller: unknown, trailers: unknown): unknown {
    return this.#target.onResponseEnd?.(controller, trailers);
  }

  onError(error: unknown): unknown {
    return this.#target.onError?.(error);
  }

  onResponseError(controller: unknown, error: unknown): unknown {
    return this.#target.onResponseError?.(controller, error);
  }

  onUpgrade(...details: unknown[]): unknown {
    return this.#target.onUpgrade?.(...details);
  }

  onRequestUpgrade(...details: unknown[]): unknown {
    return this.#target.onRequestUpgrade?.(...details);
  }

  onResponseStarted(): unknown {
    return this.#target.onResponseStarted?.();
  }

  onBodySent(chunk: unknown): unknown {
    return this.#target.onBodySent?.(chunk);
  }

  onRequestSent(): unknown {
    return this.#target.onRequestSent?.();
  }

  #record(): void {
    this.#recording = createRecording(() => this.#release());
    this.#target = this.#recording;
    this.#exchange.decide(this.#token, this.#isFirst, this.#visited ?? []).then(
      (sendAgain) => (sendAgain ? this.#replace(sendAgain) : this.#release()),
      (error) => this.#replace(() => fail(this.#caller, error)),
    );
  }

  get #isRecording(): boolean {
    return this.#target === this.#recording;
  }

  /** Hands on what was recorded, and from now on all that follows. */
  #release(): void {
    try {
      for (const [name, details] of this.#recording?.calls ?? []) {
        if (this.#isRecording) this.#caller[name]?.(...details);
      }
      if (this.#isRecording) this.#target = this.#caller;
    } catch (error) {
      this.#replace(() => fail(this.#caller, error));
    }
  }

  /** Ends the request, and does something else instead of handing on what was recorded. */
  #replace(replacement: () => void): void {
    if (!this.#isRecording) return;
    this.#target = nobody;
    // Without effect if the whole answer has arrived: then its connection serves the next request.
    this.#abort?.call(this.#controller, new Error('This answer is not used.'));
    replacement();
  }

  #abortByCaller(reason: unknown): void {
    if (this.#isRecording) this.#replace(() => fail(this.#caller, reason));
    else this.#abort?.call(this.#controller, reason);
  }
}

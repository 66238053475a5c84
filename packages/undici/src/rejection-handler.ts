import type { AccessToken } from '@service-auth/core';
import { acceptsToken } from '@service-auth/core/http';
import { createRecording, type Handler, methods, type Recording } from './recording.ts';

/**
 * Decides for the handler of one attempt what an answer means, and what to do after a rejection.
 */
export interface RejectionPolicy {
  readonly caller: Handler;
  /**
   * Returns whether an answer rejects the token. `visited`: the URLs that an inner interceptor
   * requested while it followed redirects, the last one included; empty without redirects.
   */
  isRejected(status: number, headers: unknown, visited: readonly URL[]): boolean | Promise<boolean>;
  /**
   * Reports a rejection. Resolves to undefined, or to a function that sends the request again and
   * returns false if the dispatcher was closed meanwhile.
   */
  replace(token: AccessToken, attempt: 1 | 2, visited: readonly URL[]): Promise<(() => boolean) | undefined>;
  /** Reports that the API accepted the token. */
  accept(token: AccessToken, visited: readonly URL[]): void;
  /**
   * Returns whether an error only says that the request cannot be sent again, because the
   * dispatcher was closed. The caller gets the rejection then.
   */
  refuses(error: unknown): boolean;
}

type Abort = (reason: unknown) => void;
type Context = { readonly history?: readonly URL[] } | null | undefined;
type Controller = { abort: Abort; resume?(): void };

const nobody: Handler = {};
const noRedirects: readonly URL[] = [];

/**
 * Returns whether caches may store the answer to a request with a token (RFC 9111 section 3.5).
 * Outer caches do not see the token, so they must not store any other answer: `vary: *` says that
 * the answer depends on more than they see (RFC 9110 section 12.5.5). Even undici's caches of the
 * type `private` serve the callers of all tokens.
 */
function isPublic(headers: { readonly 'cache-control'?: unknown }): boolean {
  const stated = headers['cache-control'];
  if (stated === undefined) return false;
  const policy = String(stated);
  return /(^|[\s,])(public|s-maxage|must-revalidate)([\s,=]|$)/i.test(policy) && !/private/i.test(policy);
}

/** Creates the error that undici has for a caller that aborts without a reason. */
function aborted(): Error {
  return Object.assign(new Error('Request aborted'), { name: 'AbortError', code: 'UND_ERR_ABORTED' });
}

/** Reports the failure of a request to its handler. */
export function fail(handler: Handler, error: unknown): void {
  if (handler.onResponseError) handler.onResponseError(null, error);
  else handler.onError?.(error);
}

/**
 * Passes every call on to the caller. But it records the calls of an answer while the rule of the
 * application judges it, and those of a rejection until there is another token or none. The
 * connection is not paused meanwhile, because undici crashes if the server closes a paused
 * connection. It is a class, because every request creates one, and closures would take longer.
 */
export class RejectionHandler {
  readonly #policy: RejectionPolicy;
  readonly #caller: Handler;
  readonly #token: AccessToken;
  readonly #attempt: 1 | 2;
  /**
   * Gets the calls: the caller; the recording while an answer is judged; a handler that does
   * nothing once the caller needs nothing more of this answer.
   */
  #target: Handler;
  #recording: Recording | undefined;
  #controller: unknown;
  #abort: Abort | undefined;
  #visited: readonly URL[] = noRedirects;

  static {
    for (const name of methods.filter((method) => !(method in RejectionHandler.prototype))) {
      Object.assign(RejectionHandler.prototype, {
        [name](this: RejectionHandler, ...details: unknown[]) {
          return this.#target[name]?.(...details);
        },
      });
    }
  }

  constructor(policy: RejectionPolicy, token: AccessToken, attempt: 1 | 2) {
    this.#policy = policy;
    this.#caller = policy.caller;
    this.#target = policy.caller;
    this.#token = token;
    this.#attempt = attempt;
  }

  onConnect(abort: Abort, context: Context): void {
    this.#abort = abort;
    this.#visited = context?.history ?? noRedirects;
    this.#target.onConnect?.((reason: unknown) => this.#abortByCaller(reason), context);
  }

  onRequestStart(controller: Controller, context: Context): void {
    // Read `abort` now, because interceptors.dump() replaces it later by a function without effect.
    this.#abort = controller.abort;
    this.#controller = controller;
    this.#visited = context?.history ?? noRedirects;
    this.#target.onRequestStart?.(controller, context);
  }

  onHeaders(status: number, headers: unknown, resume: unknown, message: unknown): unknown {
    this.#judge(status, headers);
    return this.#target.onHeaders?.(status, headers, resume, message);
  }

  onResponseStart(controller: Controller, status: number, headers: object, message: unknown): void {
    this.#judge(status, headers);
    if (this.#isRecording) {
      // undici's own function has no effect after the whole answer has arrived.
      controller.abort = (reason) => this.#abortByCaller(reason);
      // The caller may have paused at an informational answer: fetch of undici 7 does so at each of
      // them (RFC 9110 section 15.2).
      controller.resume?.();
    }
    // No cache stores an informational answer (RFC 9110 section 15.2).
    const isAsReceived = status < 200 || isPublic(headers);
    this.#target.onResponseStart?.(controller, status, isAsReceived ? headers : { ...headers, vary: '*' }, message);
  }

  // undici calls these for each request, and the methods of `static` take longer.
  onResponseData(controller: unknown, chunk: unknown): unknown {
    return this.#target.onResponseData?.(controller, chunk);
  }

  onResponseEnd(controller: unknown, trailers: unknown): unknown {
    return this.#target.onResponseEnd?.(controller, trailers);
  }

  onError(error: unknown): unknown {
    return this.#policy.refuses(error) ? undefined : this.#target.onError?.(error);
  }

  onResponseError(controller: unknown, error: unknown): unknown {
    return this.#policy.refuses(error) ? undefined : this.#target.onResponseError?.(controller, error);
  }

  #judge(status: number, headers: unknown): void {
    // Informational answers say nothing about the token (RFC 9110 section 15.2).
    if (status < 200) return;
    let verdict: boolean | Promise<boolean>;
    try {
      verdict = this.#policy.isRejected(status, headers, this.#visited);
    } catch (error) {
      verdict = Promise.reject(error);
    }
    if (verdict) this.#record(verdict, status);
    else this.#accept(status);
  }

  #accept(status: number): void {
    if (acceptsToken(status)) this.#policy.accept(this.#token, this.#visited);
  }

  #record(verdict: boolean | Promise<boolean>, status: number): void {
    this.#recording = createRecording(() => this.#release());
    this.#target = this.#recording;
    this.#decide(verdict, status).then(
      (sendAgain) => (this.#isRecording && sendAgain?.() ? this.#drop() : this.#release()),
      (error) => this.#fail(error),
    );
  }

  async #decide(verdict: boolean | Promise<boolean>, status: number): Promise<(() => boolean) | undefined> {
    // Nothing waits for a verdict that is known, so the token is reported before the next request.
    if (verdict === true || (await verdict)) return this.#policy.replace(this.#token, this.#attempt, this.#visited);
    this.#accept(status);
    return undefined;
  }

  get #isRecording(): boolean {
    return this.#target === this.#recording;
  }

  /** Passes on the recorded calls, and then all further calls directly. */
  #release(): void {
    try {
      for (const [name, details] of this.#recording?.calls ?? []) {
        if (!this.#isRecording) return;
        if (name === 'onError' || name === 'onResponseError') throw details.at(-1);
        this.#caller[name]?.(...details);
      }
      if (this.#isRecording) this.#target = this.#caller;
    } catch (error) {
      if (!this.#isRecording) return;
      this.#drop();
      // undici never reports the error of a body in the same turn as its start: nobody listens for
      // it yet, and the caller would wait for ever.
      setImmediate(fail, this.#caller, error);
    }
  }

  /** Aborts the request without passing on the recorded calls. */
  #drop(): void {
    this.#target = nobody;
    // This has no effect if the whole answer has arrived: its connection then serves the next
    // request.
    this.#abort?.call(this.#controller, new Error('This answer is not used.'));
  }

  #fail(error: unknown): void {
    if (!this.#isRecording) return;
    this.#drop();
    fail(this.#caller, error);
  }

  #abortByCaller(reason: unknown): void {
    if (this.#isRecording) this.#fail(reason ?? aborted());
    else this.#abort?.call(this.#controller, reason);
  }
}

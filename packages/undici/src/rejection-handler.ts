/** A handler of undici: 6 calls the methods of the first generation (`onConnect`, `onHeaders` …), 7 and 8 those of the second. */
export type Handler = { readonly [name in string]?: (...details: unknown[]) => unknown };

/**
 * Decides what becomes of a 401: resolves to a function that sends the request again, or to undefined.
 * `visited`: where redirects led that were followed below.
 */
export type Decide = (visited: readonly URL[]) => Promise<(() => void) | undefined>;

type Abort = (reason: Error) => void;
type Context = { readonly history?: readonly URL[] } | null | undefined;
interface Controller {
  abort(reason: Error): void;
  pause(): void;
  resume(): void;
}

const handedOn = [
  'onUpgrade',
  'onRequestUpgrade',
  'onResponseStarted',
  'onBodySent',
  'onRequestSent',
  'onData',
  'onResponseData',
  'onComplete',
  'onResponseEnd',
];

/** Tells a handler that its request failed. */
export function fail(handler: Handler, error: unknown): void {
  if (handler['onResponseError']) handler['onResponseError'](null, error);
  else handler['onError']?.(error);
}

/**
 * Hands everything on to the caller, but holds a 401 back until it is decided what becomes of it. A class, for there is one for each
 * request: as many closures would cost more than all the rest of this package.
 */
export class RejectionHandler {
  readonly #caller: Handler;
  readonly #decide: Decide;
  #abort: Abort = () => {};
  #visited: readonly URL[] = [];
  /** What arrives of a 401 while it is decided: it is paused, but mocks do not know what that is. */
  #held: [name: string, details: unknown[]][] | undefined;
  #isOver = false;

  static {
    for (const name of handedOn) {
      const value = function (this: RejectionHandler, ...details: unknown[]): unknown {
        return this.#hand(name, details);
      };
      Object.defineProperty(RejectionHandler.prototype, name, { value });
    }
  }

  constructor(caller: Handler, decide: Decide) {
    this.#caller = caller;
    this.#decide = decide;
  }

  onConnect(abort: Abort, context: Context): void {
    this.#abort = abort;
    this.#visited = context?.history ?? [];
    this.#hand('onConnect', [abort, context]);
  }

  onRequestStart(controller: Controller, context: Context): void {
    // At once: interceptors.dump() puts one of its own there, which ends nothing.
    const { abort } = controller;
    this.#abort = (reason) => abort.call(controller, reason);
    this.#visited = context?.history ?? [];
    this.#hand('onRequestStart', [controller, context]);
  }

  onHeaders(status: number, headers: unknown, resume: () => void, message: string): unknown {
    const isRejected = status === 401;
    if (isRejected) this.#hold(resume);
    const goesOn = this.#hand('onHeaders', [status, headers, resume, message]);
    return isRejected ? false : goesOn;
  }

  onResponseStart(controller: Controller, status: number, headers: unknown, message: string): void {
    if (status === 401) {
      this.#hold(() => controller.resume());
      controller.pause();
    }
    this.#hand('onResponseStart', [controller, status, headers, message]);
  }

  onError(error: unknown): void {
    this.#end(() => this.#caller['onError']?.(error));
  }

  onResponseError(controller: Controller, error: unknown): void {
    this.#end(() => this.#caller['onResponseError']?.(controller, error));
  }

  #hand(name: string, details: unknown[]): unknown {
    if (this.#isOver) return undefined;
    if (this.#held) return void this.#held.push([name, details]);
    return this.#caller[name]?.(...details);
  }

  #hold(resume: () => void): void {
    this.#held = [];
    this.#decide(this.#visited)
      .then((sendAgain) => (sendAgain ? this.#replace(sendAgain) : this.#release(resume)))
      .catch((error) => this.#replace(() => fail(this.#caller, error)));
  }

  #release(resume: () => void): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const [name, details] of held) this.#hand(name, details);
    resume();
  }

  /** Ends the request, and has something else done in place of handing on how it ended. */
  #replace(replacement: () => void): void {
    this.#end(() => {
      this.#abort(new Error('The request is sent again with another token.'));
      replacement();
    });
  }

  #end(last: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    last();
  }
}

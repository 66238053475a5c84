/** A handler of undici. 6 calls the methods of its first generation (`onConnect`, `onHeaders` …), 8 those of its second, 7 either. */
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

const nobody: Handler = {};
const others = [
  'onUpgrade',
  'onRequestUpgrade',
  'onResponseStarted',
  'onBodySent',
  'onRequestSent',
  'onData',
  'onComplete',
];

/** Tells a handler that its request failed. */
export function fail(handler: Handler, error: unknown): void {
  if (handler['onResponseError']) handler['onResponseError'](null, error);
  else handler['onError']?.(error);
}

/**
 * Hands everything on, but holds a 401 back until it is decided what becomes of it. A class, for there is one for each request: as many
 * closures would cost more than all the rest of this package.
 */
export class RejectionHandler {
  readonly #caller: Handler;
  readonly #decide: Decide;
  /** Who gets what arrives: the caller, a recorder or nobody. */
  #receiver: Handler;
  #visited: readonly URL[] = [];
  #controller: Controller | Abort | undefined;

  static {
    for (const name of others) {
      const value = function (this: RejectionHandler, ...details: unknown[]): unknown {
        return this.#receiver[name]?.(...details);
      };
      Object.defineProperty(RejectionHandler.prototype, name, { value });
    }
  }

  constructor(caller: Handler, decide: Decide) {
    this.#caller = caller;
    this.#receiver = caller;
    this.#decide = decide;
  }

  onConnect(abort: Abort, context: Context): void {
    this.#begin(abort, context);
    this.#receiver['onConnect']?.(abort, context);
  }

  onRequestStart(controller: Controller, context: Context): void {
    this.#begin(controller, context);
    this.#receiver['onRequestStart']?.(controller, context);
  }

  onHeaders(status: number, headers: unknown, resume: () => void, message: string): unknown {
    if (status === 401) this.#hold(resume);
    const result = this.#receiver['onHeaders']?.(status, headers, resume, message);
    return status === 401 ? false : result;
  }

  onResponseStart(controller: Controller, status: number, headers: unknown, message: string): void {
    if (status === 401) this.#hold(() => controller.resume());
    if (status === 401) controller.pause();
    this.#receiver['onResponseStart']?.(controller, status, headers, message);
  }

  onResponseData(controller: Controller, chunk: unknown): void {
    this.#receiver['onResponseData']?.(controller, chunk);
  }

  onResponseEnd(controller: Controller, trailers: unknown): void {
    this.#receiver['onResponseEnd']?.(controller, trailers);
  }

  onError(error: unknown): void {
    this.#end(() => this.#caller['onError']?.(error));
  }

  onResponseError(controller: Controller, error: unknown): void {
    this.#end(() => this.#caller['onResponseError']?.(controller, error));
  }

  #begin(controller: Controller | Abort, context: Context): void {
    this.#controller = controller;
    if (context?.history) this.#visited = context.history;
  }

  /** Mocks do not know what a pause is: what arrives meanwhile is recorded. */
  #hold(resume: () => void): void {
    const held: [name: string, details: unknown[]][] = [];
    const record =
      (name: string) =>
      (...details: unknown[]) =>
        held.push([name, details]);
    this.#receiver = new Proxy(nobody, { get: (_, name) => record(name as string) });

    const release = (): void => {
      this.#receiver = this.#caller;
      for (const [name, details] of held) this.#caller[name]?.(...details);
      resume();
    };
    this.#decide(this.#visited)
      .then((sendAgain) => {
        if (sendAgain) this.#end(sendAgain, new Error('The request is sent again with another token.'));
        else if (this.#receiver !== nobody) release();
      })
      .catch((error) => this.#end(() => fail(this.#caller, error), error));
  }

  #end(last: () => void, reason?: Error): void {
    if (this.#receiver === nobody) return;
    this.#receiver = nobody;
    const controller = this.#controller;
    if (reason && typeof controller === 'function') controller(reason);
    else if (reason) (controller as Controller | undefined)?.abort(reason);
    last();
  }
}

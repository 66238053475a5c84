import { createDeferred } from './deferred.ts';

/** A request as the service read it, without any credential. */
export interface RecordedRequest {
  /** When it had arrived completely, in epoch milliseconds of the service's clock. */
  readonly at: number;
  readonly method: string;
  /** Path and query, as sent. */
  readonly path: string;
  /** Lower-case names; without `authorization`, `proxy-authorization` and `cookie`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** What the service answers instead of its own answer. Whatever is left out is as the service would have it. */
export interface ScriptedAnswer {
  readonly status?: number | undefined;
  /** Added to the service's own headers, or in their place; undefined removes one. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  /** The body, byte for byte. `content-encoding` is yours to set. */
  readonly body?: string | Uint8Array | undefined;
  /** Time on the service's clock that the request waits, 0 to 3,600,000 ms. */
  readonly delayMs?: number | undefined;
  /** Where `delayMs` and a hold take effect: before the request is handled, or (default) when the answer is ready. */
  readonly waitBefore?: 'handling' | 'answering' | undefined;
  /**
   * The connection breaks: before the request is handled; after it was handled but before any byte of the answer; in the middle of the
   * answer's body.
   */
  readonly cut?: 'request' | 'answer' | 'body' | undefined;
  /** Sends the body byte by byte, this many milliseconds of the service's clock apart. */
  readonly dripMs?: number | undefined;
}

/** Chooses the answer to one request; undefined: the service's own. */
export type ScriptedChoice<Request extends RecordedRequest, Answer extends ScriptedAnswer> = (
  request: Request,
) => Answer | undefined | Promise<Answer | undefined>;

/** A request that waits for the test. */
export interface Hold {
  /** Resolves when the request is at the point where it waits. */
  readonly arrived: Promise<void>;
  release(): void;
}

/** The faults of one endpoint, in the hands of a test. Queued answers come first, then the standing one, then the service's own. */
export interface Script<Request extends RecordedRequest, Answer extends ScriptedAnswer> {
  /** Queues answers, one for each of the next requests. */
  next(...answers: Answer[]): void;
  /** Answers each request from now on: the same way, or as a function of the request decides. */
  always(answer: Answer | ScriptedChoice<Request, Answer>): void;
  /** Queues an answer that is given when the test says so. */
  hold(answer?: Answer): Hold;
  /** Forgets everything that was queued or standing. What is held stays held. */
  clear(): void;
}

/** The answer to one request, and the hold it waits for. */
export interface Choice<Answer> {
  readonly answer: Answer;
  /** Marks the request as arrived and waits for its release. */
  hold(): Promise<void>;
}

/** The service's side of a {@link Script}. */
export interface ScriptReader<Request, Answer> {
  choose(request: Request): Promise<Choice<Answer>>;
}

const noHold = async (): Promise<void> => {};

export function createScript<Request extends RecordedRequest, Answer extends ScriptedAnswer>(): Script<
  Request,
  Answer
> &
  ScriptReader<Request, Answer> {
  let queue: Choice<Answer>[] = [];
  let standing: ScriptedChoice<Request, Answer> | undefined;

  return {
    next(...answers) {
      queue.push(...answers.map((answer) => ({ answer, hold: noHold })));
    },
    always(answer) {
      standing = typeof answer === 'function' ? answer : () => answer;
    },
    hold(answer = {} as Answer) {
      const arrival = createDeferred();
      const release = createDeferred();
      const hold = () => {
        arrival.resolve();
        return release.promise;
      };
      queue.push({ answer, hold });
      return { arrived: arrival.promise, release: () => release.resolve() };
    },
    clear() {
      queue = [];
      standing = undefined;
    },
    async choose(request) {
      const queued = queue.shift();
      if (queued) return queued;
      return { answer: (await standing?.(request)) ?? ({} as Answer), hold: noHold };
    },
  };
}

import { checkAnswer } from './check-answer.ts';
import { createDeferred } from './deferred.ts';

/** A request that the service received, without credentials. */
export interface RecordedRequest {
  /** The time at which it had arrived completely, in epoch milliseconds of the service's clock. */
  readonly at: number;
  readonly method: string;
  /** The path and the query, as sent. */
  readonly path: string;
  /**
   * The headers with lower-case names, without `authorization`, `proxy-authorization` and `cookie`.
   */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * A scripted answer. The service fills in every field that is missing: without a `status` the API
 * still answers 401 to a request without a valid token. A `status` is sent whatever the token.
 */
export interface ScriptedAnswer {
  readonly status?: number | undefined;
  /** Headers that are added to the service's own or replace them; undefined removes a header. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>> | undefined;
  /** The exact bytes of the body. If they are encoded, set `content-encoding` yourself. */
  readonly body?: string | Uint8Array | undefined;
  /** The time that the request waits, 0 to 3,600,000 ms on the service's clock. Default 0. */
  readonly delayMs?: number | undefined;
  /**
   * The point at which `delayMs` and a pause delay the request: before it is handled, or (default)
   * when the answer is ready.
   */
  readonly waitBefore?: 'handling' | 'answering' | undefined;
  /**
   * Breaks the connection. `request`: before the request is handled; `answer`: after it is handled,
   * before the first byte of the answer; `body`: in the middle of the answer's body.
   */
  readonly cut?: 'request' | 'answer' | 'body' | undefined;
}

/** Chooses the answer to one request. Undefined selects the service's own answer. */
export type ScriptedChoice<Request extends RecordedRequest, Answer extends ScriptedAnswer> = (
  request: Request,
) => Answer | undefined | Promise<Answer | undefined>;

/** A request that waits until the test resumes it. */
export interface PausedRequest {
  /** Resolves when the request has arrived and waits. */
  readonly arrived: Promise<void>;
  /** Lets the request continue. */
  resume(): void;
}

/**
 * Scripts the answers of one endpoint. Queued answers come first, then the standing answer, then
 * the service's own. A wrong answer throws a `TypeError`; if a function chose it, the connection
 * breaks and `close()` rejects with the error.
 */
export interface Script<Request extends RecordedRequest, Answer extends ScriptedAnswer> {
  /** Queues answers, one for each of the next requests. */
  next(...answers: Answer[]): void;
  /**
   * Sets the standing answer: one answer for all requests, or a function that chooses it for each
   * request.
   */
  always(answer: Answer | ScriptedChoice<Request, Answer>): void;
  /**
   * Queues an answer that waits until the test resumes the request. Default: the service's own
   * answer.
   */
  pauseNext(answer?: Answer): PausedRequest;
  /** Removes all queued answers and the standing answer. Paused requests remain paused. */
  clear(): void;
}

/** The chosen answer to one request, with its pause. */
export interface Choice<Answer> {
  readonly answer: Answer;
  /** Marks the request as arrived and waits until it is resumed. */
  pause(): Promise<void>;
}

/** The service's side of a {@link Script}. */
export interface ScriptReader<Request, Answer> {
  choose(request: Request): Promise<Choice<Answer>>;
}

const noPause = async (): Promise<void> => {};

/**
 * Creates a script. `isOfTokens`: it is that of the token endpoint, whose answers have more fields.
 */
export function createScript<Request extends RecordedRequest, Answer extends ScriptedAnswer>(
  isOfTokens: boolean,
): Script<Request, Answer> & ScriptReader<Request, Answer> {
  const checked = (answer: Answer): Answer => {
    checkAnswer(answer, isOfTokens);
    return answer;
  };
  let queue: Choice<Answer>[] = [];
  let standing: ScriptedChoice<Request, Answer> | undefined;

  return {
    next(...answers) {
      queue.push(...answers.map((answer) => ({ answer: checked(answer), pause: noPause })));
    },
    always(answer) {
      const same = typeof answer === 'function' ? undefined : checked(answer);
      standing = typeof answer === 'function' ? answer : () => same;
    },
    pauseNext(answer = {} as Answer) {
      const arrival = createDeferred();
      const resumption = createDeferred();
      const pause = () => {
        arrival.resolve();
        return resumption.promise;
      };
      queue.push({ answer: checked(answer), pause });
      return { arrived: arrival.promise, resume: () => resumption.resolve() };
    },
    clear() {
      queue = [];
      standing = undefined;
    },
    async choose(request) {
      const queued = queue.shift();
      if (queued) return queued;
      return { answer: checked((await standing?.(request)) ?? ({} as Answer)), pause: noPause };
    },
  };
}

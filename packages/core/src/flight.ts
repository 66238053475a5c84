import { outsideRequest } from './next.ts';
import { raced } from './pause.ts';

/** The rules of a runtime for work that outlives the request in which it began. */
export interface Lifeline {
  /** I/O ends with the request that began it, as in Cloudflare Workers. A request must not wait for the work of another one. */
  readonly requestBound: boolean;
  /** Keeps the I/O of the request going until `work` settles. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
}

/** Attempts of one kind. Any number of callers share one attempt. */
export interface Flights<Reason> {
  /** Waits for the running attempt, or starts one. Where I/O is bound to requests, it always starts its own. */
  join(reason: Reason): Promise<void>;
  /** Rejects all waits with `reason` and aborts the attempt. Resolves when the attempt has ended, at its next step. */
  end(reason: Error): Promise<void>;
}

/** Shares each attempt among the callers that wait for it. */
export function createFlights<Reason>(
  attempt: (reason: Reason, signal: AbortSignal) => Promise<void>,
  { requestBound, waitUntil }: Lifeline,
): Flights<Reason> {
  let underWay: { landed: Promise<void>; done: Promise<void>; controller: AbortController } | undefined;

  function join(reason: Reason): Promise<void> {
    if (underWay) return underWay.landed;
    const controller = new AbortController();
    // The attempt belongs to all its callers, so it must not end with the request of the first one.
    const done = outsideRequest(() => attempt(reason, controller.signal)).finally(() => {
      underWay = undefined;
    });
    const landed = raced(done, controller.signal);
    // An unhandled rejection would end the process if nobody waits for this flight.
    const settled = landed.catch(() => {});
    try {
      waitUntil?.(settled);
    } catch {
      // Some runtimes throw outside of requests. The caller has a token and must not notice.
    }
    // In request-bound runtimes an abandoned attempt never settles, so it is not shared.
    if (!requestBound) underWay = { landed, done, controller };
    return landed;
  }

  async function end(reason: Error): Promise<void> {
    underWay?.controller.abort(reason);
    await underWay?.done.catch(() => {});
  }

  return { join, end };
}

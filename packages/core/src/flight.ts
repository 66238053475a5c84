import { outsideRequest } from './next.ts';
import { raced } from './pause.ts';

/** Whether work may outlive the request in which it began. */
export interface Lifeline {
  /** I/O ends with the request that began it, as in Cloudflare Workers: nobody may wait for what another request began. */
  readonly requestBound: boolean;
  /** Keeps the request's I/O going until `work` settles. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
}

/** Attempts of one kind, made by any number of callers. */
export interface Flights<Reason> {
  /** Ends with the attempt under way, or with one that begins now; where I/O is bound to requests, with one of its own. */
  join(reason: Reason): Promise<void>;
  /** Nobody is kept waiting any longer; the attempt itself ends at its next step, and with it the returned promise. */
  end(reason: Error): Promise<void>;
}

/** Shares attempts among those who wait for them. */
export function createFlights<Reason>(
  attempt: (reason: Reason, signal: AbortSignal) => Promise<void>,
  { requestBound, waitUntil }: Lifeline,
): Flights<Reason> {
  let underWay: { landed: Promise<void>; done: Promise<void>; controller: AbortController } | undefined;

  function join(reason: Reason): Promise<void> {
    if (underWay) return underWay.landed;
    const controller = new AbortController();
    // It belongs to all who join it, and must not end with the request of the first.
    const done = outsideRequest(() => attempt(reason, controller.signal)).finally(() => {
      underWay = undefined;
    });
    const landed = raced(done, controller.signal);
    // A flight that nobody waits for must not end the process when it fails.
    const settled = landed.catch(() => {});
    try {
      waitUntil?.(settled);
    } catch {
      // Runtimes refuse it outside of requests. A caller who is served must not notice.
    }
    // What a request left behind never lands: those who joined it would wait for ever.
    if (!requestBound) underWay = { landed, done, controller };
    return landed;
  }

  async function end(reason: Error): Promise<void> {
    underWay?.controller.abort(reason);
    await underWay?.done.catch(() => {});
  }

  return { join, end };
}

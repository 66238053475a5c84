import type { AcquisitionReason } from './events.ts';
import { outsideRequest } from './next.ts';
import { raced } from './pause.ts';

/** The rules of a runtime for work that outlives the request in which it began. */
export interface Lifeline {
  /** I/O ends with the request that began it, as in Cloudflare Workers. A request must not wait for the work of another one. */
  readonly requestBound: boolean;
  /** Keeps the I/O of the request going until `work` settles. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
}

/** An attempt under way. Any number of callers share it. */
export interface Flight {
  /** Settles for the callers: as the attempt does, or it rejects when the flight is ended. */
  readonly landed: Promise<unknown>;
  /** Settles when the attempt has ended. */
  readonly done: Promise<unknown>;
  readonly controller: AbortController;
  /** The calls that wait. */
  readonly waiting: Waiting;
}

export interface Waiting {
  /** The attempt that they wait for, as events name it, and its reason. */
  readonly acquisition: number;
  readonly reason: AcquisitionReason;
  callers: number;
}

/** Starts an attempt for those that wait. `onEnd` is called when it has ended. */
export function startFlight(
  attempt: (signal: AbortSignal) => Promise<unknown>,
  { waitUntil }: Lifeline,
  waiting: Waiting,
  onEnd: () => void,
): Flight {
  const controller = new AbortController();
  // The attempt belongs to all its callers, so it must not end with the request of the first one.
  const done = outsideRequest(() => attempt(controller.signal)).finally(onEnd);
  const landed = raced(done, controller.signal);
  // An unhandled rejection would end the process if nobody waits for this flight.
  const settled = landed.catch(() => {});
  try {
    waitUntil?.(settled);
  } catch {
    // Some runtimes throw outside of requests. The attempt must go on.
  }
  return { landed, done, controller, waiting };
}

/** Rejects all waits with `reason` and aborts the attempt. Resolves when the attempt has ended, at its next step. */
export async function endFlight(flight: Flight | undefined, reason: Error): Promise<void> {
  flight?.controller.abort(reason);
  await flight?.done.catch(() => {});
}

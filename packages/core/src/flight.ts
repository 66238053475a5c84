import { type AcquisitionReason, callIgnoringErrors } from './events.ts';
import { outsideRequest } from './next.ts';
import { raced } from './raced.ts';

/** The rules of a runtime for work that outlives the incoming request in which it began. */
export interface Lifeline {
  /** I/O ends with the incoming request that began it, as in Cloudflare Workers. A request must not wait for the work of another one. */
  readonly requestBound: boolean;
  /** Keeps the I/O of the incoming request going until `work` ends. */
  readonly waitUntil: ((work: Promise<unknown>) => void) | undefined;
}

/** A flight under way. Any number of callers share it. */
export interface RunningFlight {
  /** The callers wait for this. It has the outcome of the flight, or rejects at once when the flight is aborted. */
  readonly outcome: Promise<unknown>;
  /** Settles when the flight has really ended. */
  readonly ended: Promise<unknown>;
  readonly controller: AbortController;
  readonly details: FlightDetails;
}

/** The part of a flight that events show. They call a flight an acquisition. */
export interface FlightDetails {
  readonly acquisition: number;
  readonly reason: AcquisitionReason;
  /** The calls of `getToken()` that wait for it. */
  callers: number;
}

/** Starts a flight: runs `fly`. `onEnd` is called when it has ended. */
export function startFlight(
  fly: (signal: AbortSignal) => Promise<unknown>,
  { waitUntil }: Lifeline,
  details: FlightDetails,
  onEnd: () => void,
): RunningFlight {
  const controller = new AbortController();
  // A flight belongs to all its callers, so it must not end with the incoming request of the first one.
  const ended = outsideRequest(() => fly(controller.signal)).finally(onEnd);
  const outcome = raced(ended, controller.signal);
  // An unhandled rejection would end the process if nobody waits for this flight.
  const settled = outcome.catch(() => {});
  // Some runtimes throw if no incoming request is being served. The flight must go on.
  callIgnoringErrors(waitUntil, settled);
  return { outcome, ended, controller, details };
}

/** Rejects all callers with `reason` and aborts the flight. Resolves when the flight has ended, at its next step. */
export async function endFlight(flight: RunningFlight | undefined, reason: Error): Promise<void> {
  flight?.controller.abort(reason);
  await flight?.ended.catch(() => {});
}

import type { AcquisitionReason } from '../contract/events.ts';
import { abortable } from '../platform/abortable.ts';
import { callIgnoringErrors } from '../platform/call-ignoring-errors.ts';
import type { Lifeline } from '../platform/lifeline.ts';
import { outsideRequest } from '../platform/next.ts';

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
  const outcome = abortable(ended, controller.signal);
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

import { raced } from './pause.ts';

/** An attempt to get a token that any number of callers wait for. */
export interface Flight {
  /** Ends with the attempt, or when the flight is ended. */
  readonly landed: Promise<void>;
  /** Ends with the attempt. */
  readonly done: Promise<void>;
  /** Nobody is kept waiting any longer; the attempt itself ends at its next step. */
  end(reason: Error): void;
}

/** Sets off an attempt. */
export function takeOff(attempt: (signal: AbortSignal) => Promise<void>, afterwards: () => void): Flight {
  const controller = new AbortController();
  const done = attempt(controller.signal).finally(afterwards);
  const landed = raced(done, controller.signal);
  // A flight that nobody waits for must not end the process when it fails.
  landed.catch(() => {});
  return { landed, done, end: (reason) => controller.abort(reason) };
}

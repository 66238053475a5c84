import type { Clock } from './clock.ts';

/** A timer that does not keep the process running. */
export const background = { background: true } as const;

/** Returns the longest time that {@link pause} may take. */
export const maxPauseMs = (delayMs: number): number => Math.ceil(delayMs * 1.5);

/**
 * Waits for 50 to 150 % of `delayMs`, so that the processes of a fleet do not act at the same
 * moment.
 */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = clock.setTimer(resolve, Math.ceil(delayMs * (0.5 + Math.random())), background);
  });
  return abortable(over, signal).finally(cancel);
}

/** Measures the time in which the event loop runs. */
export interface Stopwatch {
  ms(): number;
  stop(): void;
}

const tickMs = 1_000;

/**
 * Starts a stopwatch. It reads the clock each second. If more time has passed, the event loop stood
 * still, and only one second counts.
 */
export function createStopwatch(clock: Clock): Stopwatch {
  let total = 0;
  let since = clock.monotonic();
  let cancel = () => {};
  const ms = () => {
    const now = clock.monotonic();
    total += Math.min(tickMs, now - since);
    since = now;
    return total;
  };
  const tick = () => {
    ms();
    cancel = clock.setTimer(tick, tickMs, background);
  };
  tick();
  return { ms, stop: () => cancel() };
}

/** The result of {@link within} after the deadline. */
export const timedOut: unique symbol = Symbol('timed out');

/**
 * Settles as `run` does, or resolves with {@link timedOut} after `timeoutMs`. The signal of `run`
 * aborts then, and its result is ignored. Time in which the event loop stood still does not count.
 */
export async function within<Result>(
  timeoutMs: number,
  clock: Clock,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | typeof timedOut> {
  const controller = new AbortController();
  let cancel = () => {};
  const deadline = new Promise<typeof timedOut>((resolve) => {
    cancel = setDeadline(clock, timeoutMs, () => {
      resolve(timedOut);
      controller.abort();
    });
  });
  try {
    return await Promise.race([run(controller.signal), deadline]);
  } finally {
    cancel();
  }
}

const parts = 8;
const lateMs = 10;

/**
 * Calls back after `delayMs`, which it divides into eight parts. An event loop that stood still
 * fires its timers before it reads its sockets. So a part that ends late counts only for its own
 * length, and if the last part ends late, one more follows: an answer that has arrived is read
 * first. There are at most sixteen parts. Returns a function that cancels.
 */
function setDeadline(clock: Clock, delayMs: number, callback: () => void): () => void {
  const partMs = Math.ceil(delayMs / parts);
  let leftMs = delayMs;
  let extra = parts;
  let cancel = () => {};
  const next = () => {
    const waitMs = leftMs > 0 ? Math.min(partMs, leftMs) : partMs;
    const dueAt = clock.monotonic() + waitMs;
    cancel = clock.setTimer(
      () => {
        leftMs -= waitMs;
        if (leftMs > 0) return next();
        const isLate = clock.monotonic() - dueAt > lateMs;
        extra -= 1;
        if (isLate && extra >= 0) next();
        else callback();
      },
      waitMs,
      background,
    );
  };
  next();
  return () => cancel();
}

/**
 * Settles as `promise` does. If `signal` aborts before that, rejects with its reason, and the
 * result of the promise is ignored.
 */
export function abortable<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return promise;
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    // Options are left out, because the platform would read those that they lack from a polluted
    // prototype.
    signal.addEventListener('abort', abort);
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

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
    cancel = setTimer(clock, Math.ceil(delayMs * (0.5 + Math.random())), () => resolve());
  });
  return abortable(over, signal).finally(cancel);
}

const lateMs = 10;

/** How long the event loop stood still, by its clock, and when a timer fired last. */
const standstills = new WeakMap<Clock, { ms: number; firedAt: number }>();

/**
 * Returns how long the event loop has stood still since the process began, in milliseconds: a timer
 * of this file was due and did not fire.
 */
export function standstillMs(clock: Clock): number {
  return standstills.get(clock)?.ms ?? 0;
}

/** Sets a timer in the background. `callback` gets the milliseconds by which it fires late. */
function setTimer(clock: Clock, delayMs: number, callback: (late: number) => void): () => void {
  const dueAt = clock.monotonic() + delayMs;
  const fire = () => {
    const now = clock.monotonic();
    const { ms, firedAt } = standstills.get(clock) ?? { ms: 0, firedAt: dueAt };
    const stoodStillMs = now - Math.max(dueAt, firedAt);
    standstills.set(clock, { ms: stoodStillMs > lateMs ? ms + stoodStillMs : ms, firedAt: now });
    callback(now - dueAt);
  };
  return clock.setTimer(fire, delayMs, background);
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
    cancel = setTimer(clock, waitMs, (late) => {
      leftMs -= waitMs;
      if (leftMs > 0) return next();
      extra -= 1;
      if (late > lateMs && extra >= 0) next();
      else callback();
    });
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

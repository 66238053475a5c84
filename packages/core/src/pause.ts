import type { Clock } from './clock.ts';
import { serviceAuthError } from './errors.ts';
import { ownProperties } from './foreign.ts';

/** Waits for about `delayMs`: half to one and a half of it, so that the processes of a fleet do not act in step. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = clock.setTimer(resolve, Math.ceil(delayMs * (0.5 + Math.random())));
  });
  return raced(over, signal).finally(cancel);
}

const maxAttempts = 100;

/**
 * Tries until an attempt returns something: for swaps that others got ahead of. Between attempts it waits 10 ms to a second, but not after the first `atOnce`.
 * @throws `ERR_STORE` after 100 attempts: about a minute and a half of waiting
 */
export async function untilDone<Result>(
  clock: Clock,
  attempt: () => Promise<Result | undefined>,
  atOnce = 0,
): Promise<Result> {
  let delayMs = 10;
  for (let attempts = 0; attempts < maxAttempts; attempts++) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (attempts < atOnce) continue;
    await pause(clock, delayMs);
    delayMs = Math.min(1_000, delayMs * 1.6);
  }
  const message =
    'The record was another one at each of 100 attempts to replace it. Check that the store shows what was written last.';
  throw serviceAuthError('ERR_STORE', message, { retryAt: clock.now() + 1_000 });
}

/** `promise`, unless `signal` aborts first. */
export function raced<Result>(promise: Promise<Result>, signal: AbortSignal | undefined): Promise<Result> {
  if (!signal) return promise;
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort, ownProperties({ once: true }));
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
  });
}

/** What {@link within} resolves with when time ran out. */
export const timedOut: unique symbol = Symbol('timed out');

/**
 * What `run` resolves with, but no later than after `timeoutMs`: then its signal aborts, and whatever becomes of it is ignored.
 * Time in which the event loop stood still does not count.
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
 * Calls back after `delayMs`, which it waits for in eight parts. An event loop that stood still fires its timers first and reads its sockets
 * afterwards, so a part that ends late counts as no more than a part; and after a last one that ended late there is another, so that an answer
 * that came meanwhile is read. There are twice eight parts at most. Returns a function that cancels.
 */
function setDeadline(clock: Clock, delayMs: number, callback: () => void): () => void {
  const partMs = Math.ceil(delayMs / parts);
  let leftMs = delayMs;
  let extra = parts;
  let cancel = () => {};
  const next = () => {
    const waitMs = leftMs > 0 ? Math.min(partMs, leftMs) : partMs;
    const dueAt = clock.monotonic() + waitMs;
    cancel = clock.setTimer(() => {
      leftMs -= waitMs;
      if (leftMs > 0) return next();
      const isLate = clock.monotonic() - dueAt > lateMs;
      extra -= 1;
      if (isLate && extra >= 0) next();
      else callback();
    }, waitMs);
  };
  next();
  return () => cancel();
}

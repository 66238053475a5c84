import type { Clock } from './clock.ts';
import { ownProperties } from './foreign.ts';

/** Waits for about `delayMs`: half to one and a half of it, so that the processes of a fleet do not act in step. */
export function pause(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  let cancel = () => {};
  const over = new Promise<void>((resolve) => {
    cancel = clock.setTimer(resolve, Math.ceil(delayMs * (0.5 + Math.random())));
  });
  return raced(over, signal).finally(cancel);
}

/** Tries until an attempt returns something, waiting 10 ms to a second in between: for swaps that others got ahead of. */
export async function untilDone<Result>(clock: Clock, attempt: () => Promise<Result | undefined>): Promise<Result> {
  for (let delayMs = 10; ; delayMs = Math.min(1_000, delayMs * 1.6)) {
    const result = await attempt();
    if (result !== undefined) return result;
    await pause(clock, delayMs);
  }
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

/** What `run` resolves with, but no later than after `timeoutMs`: then its signal aborts, and whatever becomes of it is ignored. */
export async function within<Result>(
  timeoutMs: number,
  clock: Clock,
  run: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | typeof timedOut> {
  const controller = new AbortController();
  let cancel = () => {};
  const deadline = new Promise<typeof timedOut>((resolve) => {
    cancel = clock.setTimer(() => {
      resolve(timedOut);
      controller.abort();
    }, timeoutMs);
  });
  try {
    return await Promise.race([run(controller.signal), deadline]);
  } finally {
    cancel();
  }
}

import type { Clock } from '@service-auth/core';

/**
 * The clock of this machine. It does not use core's clock, because this package imports only types
 * from core.
 */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer = setTimeout(callback, delayMs);
    if (options?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};

import type { Clock } from '@service-auth/core';

/** The clock of this machine. Core's own is not used: this package takes nothing but types from core. */
export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer(callback, delayMs, options) {
    const timer = setTimeout(callback, delayMs);
    if (options?.background) timer.unref();
    return () => clearTimeout(timer);
  },
};

import type { Clock } from '@service-auth/core';
import { systemClock } from '../clock/system-clock.ts';

/** The clock of a process, whose time of day an administrator or a bad time server moves. */
export interface SteppableClock extends Clock {
  /** Moves the time of day, in milliseconds; the monotonic clock goes on. */
  step(ms: number): void;
}

export function steppableClock(): SteppableClock {
  let steppedMs = 0;
  return {
    ...systemClock,
    now: () => systemClock.now() + steppedMs,
    step(ms) {
      steppedMs += ms;
    },
  };
}

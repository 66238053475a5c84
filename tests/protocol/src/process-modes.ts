import { day, hour, minute, second } from './judge/units.ts';
import type { Mode } from './mode.ts';
import { everything } from './settings.ts';

/** Processes and machines that stand still, sleep, or are copies of one another. */
export const processModes: Readonly<Record<string, Mode>> = {
  pauses: {
    about: 'requests that stop for up to 80 minutes, then queue for up to 25',
    settings: () => ({
      rates: {
        ...everything,
        ...{ freeze: 15, freeze_at_call: 0.05, freeze_at_send: 0.25 },
        ...{ token_request_late: 0.25, crash_at_send: 0.15, reset: 8 },
      },
      maxFreezeMs: 80 * minute,
    }),
  },
  sleep: {
    about: 'machines that sleep while their monotonic clock stands still',
    settings: () => ({
      rates: {
        ...everything,
        // The wall clock tells that the machine slept, so here it is right.
        ...{ wall_clock_step: 0, store_clock_step: 0 },
        ...{ sleep: 10, sleep_at_call: 0.03, sleep_at_send: 0.25 },
      },
      maxFreezeMs: 80 * minute,
    }),
  },
  naps: {
    about: 'machines that sleep for seconds while their monotonic clock stands still, and tokens of minutes',
    weight: 2,
    settings: (random) => ({
      windowMs: hour,
      tokens: 120,
      lifetimeMs: Math.round(random.between(30, 500)) * second,
      callEveryMs: random.between(2, 20) * second,
      rates: { sleep: 1, sleep_at_call: 0.1, sleep_at_send: 0.1 },
      maxFreezeMs: 90 * second,
    }),
  },
  'long-sleep': {
    about: 'machines that sleep for more than a month while their monotonic clock stands still',
    weight: 8,
    settings: (random) => ({
      processes: random.integer(1, 3),
      tokens: 12,
      lifetimeMs: Math.round(random.between(6, 60)) * hour,
      callEveryMs: random.between(1, 6) * hour,
      faultsForMs: 120 * day,
      rates: { sleep_long: 0.2, close: 0.3, reset: 0.2 },
    }),
  },
  'late-loop': {
    about: 'event loops that stand still for up to 30 seconds, while the store and the endpoint answer',
    settings: (random) => ({
      tokens: 150,
      reserve: undefined,
      processes: random.integer(1, 4),
      lifetimeMs: Math.round(random.between(1, 3) * 3_600) * second,
      callEveryMs: random.between(2, 30) * minute,
      faultsForMs: 0.5 * day,
      rates: { blocked: 60, blocked_at_call: 0.3, blocked_at_send: 0.4, load_fails_once: 0.2 },
      nothingFails: true,
      feasible: true,
    }),
  },
  clones: {
    about: 'processes that were resumed from one image of memory, so that their random generators repeat one another',
    weight: 2,
    settings: (random) => ({
      tokens: random.pick([12, 24, 40]),
      processes: random.integer(2, 6),
      callEveryMs: random.between(5, 60) * minute,
      lifetimeMs: random.between(0.5, 3) * hour,
      rates: {
        ...{ random_repeated: 0.5, store_reply_lost: 0.03, token_5xx_after: 0.02 },
        ...{ crash: 3, reset: 8, api_401: 0.02 },
      },
    }),
  },
};

import { noisy } from './endpoint-modes.ts';
import type { Rates } from './faults.ts';
import { day, hour, minute } from './judge/units.ts';
import type { Mode } from './mode.ts';
import type { Random } from './random.ts';
import { audiencesOf, everything, feasible, hourly, rarer, type Settings, undying } from './settings.ts';

/** The reserve pays for what the store loses, so any window may see all tokens of the agreement. */
const insured = (tokens: number) => ({ tokens, reserve: undefined, bound: tokens });

const replicated = (tokens: number) => ({ ...insured(tokens), durability: 'replicated' as const });

/** Whatever may be spent is spent within hours. */
const thirsty = { lifetimeMs: hour / 3, callEveryMs: 10 * minute };

/** The usual faults, and others by which the store loses something, so often in a window. */
const losing = <Given extends Partial<Settings>>(given: Given, rates: Rates, lossesPerWindow = 1) => ({
  ...given,
  rates: { ...everything, ...rates },
  lossesPerWindow,
});

/** A durable store that is lost, or a replicated one that goes back, once a window. */
const lossy = (random: Random, more: Rates) => {
  const tokens = random.pick([12, 24, 30]);
  return random.chance(0.5)
    ? losing({ ...insured(tokens), ...thirsty }, { store_wiped: 2, ...more })
    : losing({ ...replicated(tokens), ...thirsty }, { store_regressed: 2, ...more });
};

/** A store that is lost, goes back, is full or written by somebody else, or whose clock is wrong. */
export const storeModes: Readonly<Record<string, Mode>> = {
  coarse: {
    about:
      'a store whose clock shows whole seconds, of servers that differ by up to a second; a window of a day or an hour',
    settings: (random) => {
      // Without steps of the clock, expiries are checked to two seconds.
      const rates = random.chance(0.5) ? everything : { ...everything, store_clock_step: 0 };
      return { ...(random.chance(0.5) && hourly), rates, clockIsCoarse: true };
    },
  },
  'store-ahead': {
    about:
      'a store whose clock is up to 27 hours ahead and is put right, at once or in steps; short-lived processes, losses',
    settings: (random) => {
      const rates = { ...everything, store_clock_step: 0, store_clock_set_right: 4, crash: random.pick([5, 60]) };
      const given = { storeAheadMs: Math.round(27 * hour * random.next() ** 2), rates };
      if (random.chance(0.5)) return { ...feasible(random), ...given };
      if (random.chance(0.5)) return given;
      const tokens = random.pick([12, 15, 24]);
      return { ...given, ...insured(tokens), lossesPerWindow: 1, rates: { ...rates, store_wiped: 2 } };
    },
  },
  full: {
    about: 'a store that keeps 9 to 20 kB, more audiences than that has room for, and tokens of up to 5,000 characters',
    weight: 10,
    settings: (random) => ({
      tokens: 60,
      processes: random.integer(1, 3),
      audiences: audiencesOf(random.integer(16, 28)),
      lifetimeMs: random.between(2, 12) * hour,
      callEveryMs: random.between(2, 15) * minute,
      callsAtOnce: random.integer(1, 4),
      faultsForMs: random.between(0.5, 1.2) * day,
      rates: rarer(0.5),
      maxRecordBytes: random.integer(9_000, 20_000),
      maxPadding: 5_000,
    }),
  },
  exchanged: {
    about:
      'somebody who can write to the store exchanges the sealed tokens of audiences, clients, token endpoints, ids, generations and expiries',
    weight: 3,
    settings: (random) => ({
      tokens: 40,
      processes: random.integer(1, 4),
      audiences: ['api', 'other api'],
      callEveryMs: random.between(5, 60) * minute,
      lifetimeMs: random.between(1, 6) * hour,
      rates: { tokens_exchanged: 24, crash: 12, close: 6, reset: 4, api_401: 0.02, caller_aborts: 0.02 },
    }),
  },
  wiped: {
    about: 'a durable store that loses everything once a window',
    settings: (random) => losing(insured(random.pick([12, 15, 24, 30])), { store_wiped: 2 }),
  },
  said: {
    about:
      'a store that loses everything, or goes back, once a window; somebody says how many tokens the record has not seen',
    settings: (random) => lossy(random, { spent_said: 12 }),
  },
  'said-falsely': {
    about: 'the same, but the number is too small by up to 3: the limit is exceeded by no more than that',
    settings: (random) => {
      const given = lossy(random, { spent_said_falsely: 12 });
      return { ...given, saidFalselyBy: 3, bound: given.tokens + 3 };
    },
  },
  'wiped-uninsured': {
    about: 'control: the same without the reserve',
    isControl: true,
    settings: () => losing({ tokens: 12 }, { store_wiped: 3 }, 2),
  },
  flushed: {
    about: 'a replicated store that loses everything three times a window, resets in between',
    settings: (random) => losing(replicated(random.pick([18, 24, 30])), { store_wiped: 5, reset: 8 }, 3),
  },
  remembered: {
    about: 'one process whose store is repeatedly lost or set back: its memory suffices without a reserve',
    settings: () => {
      const rates = { ...undying, store_wiped: 8, store_regressed: 8 };
      return losing({ processes: 1, audiences: ['api'] }, rates, Number.POSITIVE_INFINITY);
    },
  },
  failover: {
    about: 'a replicated store that goes back to an older state once a window',
    settings: (random) => losing(replicated(random.pick([6, 12, 24])), { store_regressed: 2 }),
  },
  split: {
    about: 'a replicated store whose two halves diverge once a window',
    settings: (random) => losing(replicated(random.pick([6, 12, 24])), { split_brain: 2 }),
  },
  'split-uninsured': {
    about: 'control: the same without the reserve',
    isControl: true,
    settings: () => losing({ tokens: 12 }, { split_brain: 2 }),
  },
  restored: {
    about: 'a replicated store that goes back to an older state once a window while no process runs',
    settings: (random) => {
      const given = replicated(random.pick([6, 12, 24]));
      return losing({ ...given, ...(random.chance(0.5) && thirsty) }, { store_restored: 2 });
    },
  },
  'restored-thrice': {
    about: 'control: the same three times a window',
    isControl: true,
    settings: () => ({
      ...replicated(12),
      ...thirsty,
      rates: { crash: 5, store_restored: 12 },
      lossesPerWindow: 3,
    }),
  },
  discarding: {
    about: 'a store that keeps no write for up to two hours: each one is answered as a conflict',
    settings: () => ({ rates: { ...everything, store_discards: 4 } }),
  },
  leaps: {
    about: 'a store whose clock leaps forward by up to 30 hours while processes run, and may be put right',
    settings: () => ({
      rates: { ...everything, ...undying, wall_clock_step: 0, store_clock_step: 0, store_clock_leap: 3 },
    }),
  },
  'to-and-fro': {
    about:
      'a store whose clock is set back by up to six hours once a window, and then put right, while processes read it all the time',
    weight: 20,
    settings: (random) => ({
      callEveryMs: random.between(10, 20) * 1_000,
      rates: {
        ...{ ...noisy, store_clock_set_back: 4, token_reply_lost: 0.04, token_5xx_after: 0.04 },
        ...{ token_unreachable: 0.03, token_refused: 0.01, api_401: 0.001, reset: 2 },
      },
      lossesPerWindow: 1,
    }),
  },
  'leaps-forgotten': {
    about: 'a replicated store whose clock leaps forward once a window while no process runs',
    settings: (random) => losing(replicated(random.pick([12, 24])), { store_clock_step: 0, store_clock_leap: 2 }),
  },
  'leaps-uninsured': {
    about: 'control: the same without the reserve',
    isControl: true,
    settings: () => losing({ tokens: 12 }, { store_clock_step: 0, store_clock_leap: 3 }),
  },
  'wild-clock': {
    about: 'beyond the assumptions: the clock of the store jumps by hours and days, and back',
    isControl: true,
    settings: () => losing(replicated(12), { store_clock_wild: 2 }),
  },
};

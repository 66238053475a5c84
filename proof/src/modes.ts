import type { StoreDurability } from '@service-auth/core';
import type { Rates } from './faults.ts';
import type { Random } from './random.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** Everything that is fixed before a run begins. */
export interface Settings {
  readonly processes: number;
  readonly audiences: readonly string[];
  readonly windowMs: number;
  readonly tokens: number;
  /** Undefined: core's default. */
  readonly reserve: number | undefined;
  readonly durability: StoreDurability;
  readonly lifetimeMs: number;
  /** The mean time between calls of one process. */
  readonly callEveryMs: number;
  /** How long faults go on. */
  readonly faultsForMs: number;
  readonly rates: Rates;
  /** The most tokens that any window may see. */
  readonly bound: number;
  /** The longest that a token request may stand still before it leaves, and the longest that it may be under way. */
  readonly longestFreezeMs: number;
  readonly longestQueueMs: number;
  /** How often the store may be wiped, regress or split within the time that a lost entry would have counted. */
  readonly lossesPerWindow: number;
  /** Demand is far below the budget: whoever asks after the faults is served at once. */
  readonly feasible: boolean;
}

/** A family of runs: what may go wrong, and what is promised all the same. */
export interface Mode {
  readonly about: string;
  /** Within the stated assumptions: a violation is a bug. False: a control, or beyond the assumptions. */
  readonly promised: boolean;
  /** A seed takes as long as many of another mode. */
  readonly slow?: boolean;
  settings(random: Random): Settings;
}

const network: Rates = {
  store_refused: 0.01,
  store_request_lost: 0.01,
  store_request_late: 0.01,
  store_duplicated: 0.01,
  store_reply_lost: 0.015,
  store_reply_late: 0.01,
  store_reply_error: 0.01,
  token_unreachable: 0.03,
  token_request_lost: 0.03,
  token_request_late: 0.04,
  token_reply_lost: 0.04,
  token_reply_late: 0.03,
  token_5xx_before: 0.03,
  token_5xx_after: 0.04,
  token_sent_twice: 0.01,
  token_garbled: 0.01,
  token_refused: 0.005,
  token_rate_limited: 0.01,
  token_redirected: 0.005,
  partition: 1.5,
  store_outage: 1,
  endpoint_outage: 1,
};

const processes: Rates = {
  crash: 5,
  crash_at_call: 0.01,
  crash_at_send: 0.05,
  freeze: 5,
  freeze_at_call: 0.01,
  freeze_at_send: 0.03,
  close: 2,
  wall_clock_step: 3,
};

const undying: Rates = { crash: 0, crash_at_call: 0, crash_at_send: 0, close: 0, secret_rotated: 0 };

const people: Rates = {
  api_401: 0.01,
  caller_aborts: 0.05,
  secret_source_fails: 0.002,
  reset: 2,
  revoked: 0.5,
  secret_rotated: 0.3,
};

const everything: Rates = { ...network, ...processes, ...people, store_clock_step: 5 };

/** `usable`, as the contract states the defaults. */
function usableOf(tokens: number, reserve: number | undefined, durability: StoreDurability): number {
  return tokens - (reserve ?? Math.min(tokens - 1, Math.ceil(tokens / (durability === 'replicated' ? 2 : 5))));
}

function drawn(random: Random, given: Partial<Settings>): Settings {
  const windowMs = given.windowMs ?? day;
  const scale = windowMs / day;
  const tokens = given.tokens ?? random.pick([1, 2, 3, 5, 8, 11, 12, 12, 12, 24]);
  const reserve = 'reserve' in given ? given.reserve : 0;
  const durability = given.durability ?? 'durable';
  return {
    processes: random.integer(2, 4),
    audiences: tokens < 5 || random.chance(0.75) ? ['api'] : ['api', 'other api'],
    windowMs,
    tokens,
    reserve,
    durability,
    lifetimeMs: Math.round((random.between(0.7, 3) * 3_600 * scale * 12) / Math.max(12, tokens)) * second,
    callEveryMs: random.between(10, 90) * minute * scale,
    // A little more than a window shows most; some runs see an entry leave twice.
    faultsForMs: (1.1 + 1.9 * random.next() ** 3) * windowMs,
    rates: everything,
    bound: usableOf(tokens, reserve, durability),
    longestFreezeMs: 50 * minute * scale,
    longestQueueMs: 25 * minute * scale,
    lossesPerWindow: 0,
    feasible: false,
    ...given,
  };
}

/** Demand of about 1.2 tokens per lifetime and audience fits three times over. */
function feasible(random: Random, given: Partial<Settings> = {}): Settings {
  const tokens = random.pick([24, 40, 60]);
  const lifetimeMs = Math.round(random.between(12, 24) * 3_600) * second;
  return drawn(random, { tokens, lifetimeMs, feasible: true, ...given });
}

const half = { tokens: 12, reserve: undefined, durability: 'replicated', bound: 12 } as const;

/** All modes by name. */
export const modes: Readonly<Record<string, Mode>> = {
  faults: {
    about: 'everything within the assumptions, demand above the budget',
    promised: true,
    settings: (random) => drawn(random, {}),
  },
  feasible: {
    about: 'the same, demand below the budget',
    promised: true,
    settings: (random) => feasible(random),
  },
  pauses: {
    about: 'requests that stand still for up to 80 minutes, then queue for up to 25',
    promised: true,
    settings: (random) =>
      drawn(random, {
        rates: {
          ...everything,
          freeze: 15,
          freeze_at_call: 0.05,
          freeze_at_send: 0.25,
          token_request_late: 0.25,
          crash_at_send: 0.15,
          reset: 8,
        },
        longestFreezeMs: 80 * minute,
      }),
  },
  sleep: {
    about: 'machines that sleep while their monotonic clock stands still',
    promised: true,
    settings: (random) =>
      // The wall clock tells that the machine slept, so here it is right.
      drawn(random, {
        rates: {
          ...everything,
          wall_clock_step: 0,
          store_clock_step: 0,
          sleep: 10,
          sleep_at_call: 0.03,
          sleep_at_send: 0.25,
        },
        longestFreezeMs: 80 * minute,
      }),
  },
  hour: {
    about: 'a window of one hour, everything in proportion',
    promised: true,
    settings: (random) => drawn(random, { windowMs: hour, longestFreezeMs: 2.5 * minute, longestQueueMs: 1 * minute }),
  },
  many: {
    about: 'hundreds of tokens in a window of one hour, so that the oldest are added up',
    promised: true,
    slow: true,
    settings: (random) => {
      const tokens = random.integer(160, 240);
      const given = {
        windowMs: hour,
        tokens,
        processes: 3,
        audiences: ['api'],
        lifetimeMs: random.integer(8, 20) * second,
      };
      const reach = { longestFreezeMs: 2.5 * minute, longestQueueMs: minute };
      return drawn(random, { ...given, ...reach, callEveryMs: 15 * second, faultsForMs: 2.2 * hour });
    },
  },
  wiped: {
    about: 'a durable store that loses everything once a window',
    promised: true,
    settings: (random) => {
      const tokens = random.pick([12, 15, 24, 30]);
      const rates = { ...everything, store_wiped: 2 };
      return drawn(random, { tokens, reserve: undefined, bound: tokens, rates, lossesPerWindow: 1 });
    },
  },
  flushed: {
    about: 'a replicated store that loses everything three times a window',
    promised: true,
    settings: (random) => {
      const tokens = random.pick([18, 24, 30]);
      const rates = { ...everything, store_wiped: 5 };
      const given = { tokens, reserve: undefined, durability: 'replicated' as const, bound: tokens, rates };
      return drawn(random, { ...given, lossesPerWindow: 3 });
    },
  },
  remembered: {
    about: 'one process whose store is lost, or goes back, again and again: its memory is enough, no reserve is needed',
    promised: true,
    settings: (random) => {
      const rates = { ...everything, ...undying, store_wiped: 8, store_regressed: 8 };
      return drawn(random, { processes: 1, audiences: ['api'], rates, lossesPerWindow: Number.POSITIVE_INFINITY });
    },
  },
  failover: {
    about: 'a replicated store that goes back to an older state once a window',
    promised: true,
    settings: (random) => {
      const tokens = random.pick([6, 12, 24]);
      const rates = { ...everything, store_regressed: 2 };
      const given = { tokens, reserve: undefined, durability: 'replicated' as const, bound: tokens, rates };
      return drawn(random, { ...given, lossesPerWindow: 1 });
    },
  },
  split: {
    about: 'a replicated store of which two halves go on apart, once a window',
    promised: true,
    settings: (random) => {
      const tokens = random.pick([6, 12, 24]);
      const rates = { ...everything, split_brain: 2 };
      const given = { tokens, reserve: undefined, durability: 'replicated' as const, bound: tokens, rates };
      return drawn(random, { ...given, lossesPerWindow: 1 });
    },
  },
  healthy: {
    about: 'no faults: demand, latency, no refusal',
    promised: true,
    slow: true,
    settings: (random) =>
      drawn(random, {
        tokens: 150,
        reserve: undefined,
        durability: random.pick(['durable', 'replicated'] as const),
        processes: random.integer(1, 8),
        lifetimeMs: day,
        callEveryMs: random.between(20, 180) * minute,
        faultsForMs: 4 * day,
        rates: {},
        feasible: true,
      }),
  },
  real: {
    about: 'the real figures: 150 tokens, 40 processes, tokens of 24 hours, 10 days',
    promised: true,
    slow: true,
    settings: (random) =>
      feasible(random, {
        tokens: 150,
        processes: 40,
        lifetimeMs: day,
        callEveryMs: 2 * hour,
        faultsForMs: 10 * day,
      }),
  },
  'wiped-uninsured': {
    about: 'control: the same without the reserve',
    promised: false,
    settings: (random) => drawn(random, { tokens: 12, rates: { ...everything, store_wiped: 3 }, lossesPerWindow: 2 }),
  },
  'split-uninsured': {
    about: 'control: the same without the reserve',
    promised: false,
    settings: (random) => drawn(random, { tokens: 12, rates: { ...everything, split_brain: 2 }, lossesPerWindow: 1 }),
  },
  'wild-clock': {
    about: 'beyond the assumptions: the clock of the store jumps by hours and days, and back',
    promised: false,
    settings: (random) => drawn(random, { ...half, rates: { ...everything, store_clock_wild: 2 }, lossesPerWindow: 1 }),
  },
  'clock-set-back': {
    about: 'beyond the assumptions: the clock of the store is set back by hours, then corrected',
    promised: false,
    settings: (random) => drawn(random, { ...half, rates: { ...everything, store_clock_set_back: 2 } }),
  },
};

import { agreementModes, audiencesOf } from './agreement-modes.ts';
import type { Mode } from './mode.ts';
import type { Random } from './random.ts';
import { drawn, everything, feasible, type Settings, undying } from './settings.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** When an outage or a row of deaths begins: in a record that knows a whole window, or in the first days of one. */
function begins(random: Random): number {
  return random.chance(0.7) ? 28 * hour : random.between(0.1, 27) * hour;
}

/** A fleet of three with the agreement of the service, over a store that is older than a window and answers late now and then. */
function established(random: Random): Settings {
  const rates = { store_reply_late: 0.01, store_refused: 0.005, caller_aborts: 0.02 };
  const durability = random.pick(['durable', 'replicated'] as const);
  return drawn(random, { tokens: 150, reserve: undefined, durability, processes: 3, audiences: ['api'], rates });
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
    about: 'requests that stop for up to 80 minutes, then queue for up to 25',
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
        maxFreezeMs: 80 * minute,
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
          wall_clock_stands_still: 0,
          store_clock_step: 0,
          sleep: 10,
          sleep_at_call: 0.03,
          sleep_at_send: 0.25,
        },
        maxFreezeMs: 80 * minute,
      }),
  },
  coarse: {
    about:
      'a store whose clock shows whole seconds, of servers that differ by up to a second; a window of a day or an hour',
    promised: true,
    settings: (random) => {
      const reach = { windowMs: hour, maxFreezeMs: 2.5 * minute, maxQueueMs: minute };
      // Without steps of the clock, expiries are checked to two seconds.
      const rates = random.chance(0.5) ? everything : { ...everything, store_clock_step: 0 };
      return drawn(random, { ...(random.chance(0.5) && reach), rates, clockIsCoarse: true });
    },
  },
  hour: {
    about: 'a window of one hour, everything in proportion',
    promised: true,
    settings: (random) => drawn(random, { windowMs: hour, maxFreezeMs: 2.5 * minute, maxQueueMs: 1 * minute }),
  },
  many: {
    about: 'hundreds of tokens in a window of one hour, so that the oldest are added up',
    promised: true,
    weight: 20,
    settings: (random) => {
      const tokens = random.integer(160, 240);
      const given = {
        windowMs: hour,
        tokens,
        processes: 3,
        audiences: ['api'],
        lifetimeMs: random.integer(8, 20) * second,
      };
      const reach = { maxFreezeMs: 2.5 * minute, maxQueueMs: minute };
      return drawn(random, { ...given, ...reach, callEveryMs: 15 * second, faultsForMs: 2.2 * hour });
    },
  },
  unsent: {
    about: 'requests that never leave, requests that break after they left, and rejections whose body never ends',
    promised: true,
    settings: (random) =>
      drawn(random, {
        tokens: random.pick([12, 24, 40]),
        callEveryMs: random.between(5, 30) * minute,
        rates: {
          token_unreachable: 0.3,
          token_broken_after: 0.12,
          token_refusal_endless: 0.12,
          token_refused: 0.03,
          token_rate_limited: 0.03,
          token_redirected: 0.02,
          token_sent_twice: 0.02,
          token_reply_lost: 0.03,
          token_5xx_after: 0.03,
          token_garbled: 0.02,
          caller_aborts: 0.05,
        },
        countIsExact: true,
      }),
  },
  told: {
    about: 'an endpoint that limits the fleet, or is unavailable, and says for how long; late answers, two audiences',
    promised: true,
    settings: (random) =>
      drawn(random, {
        tokens: 150,
        processes: random.integer(2, 4),
        audiences: ['api', 'other api'],
        lifetimeMs: Math.round(random.between(2, 8)) * minute,
        callEveryMs: random.between(10, 60) * second,
        faultsForMs: random.between(1, 5) * hour,
        rates: {
          token_rate_limited: 0.3,
          token_unavailable: 0.15,
          token_reply_late: 0.6,
          token_reply_lost: 0.02,
          reset: 40,
          crash: 3,
          caller_aborts: 0.02,
        },
      }),
  },
  cached: {
    about:
      'a cache that repeats one of the last answers of the endpoint to any process, whether it has had the token or not: 401s, resets, expiries',
    promised: true,
    settings: (random) =>
      drawn(random, {
        tokens: random.pick([12, 24, 40]),
        processes: random.integer(1, 4),
        callEveryMs: random.between(5, 60) * minute,
        rates: { token_cached: 0.4, api_401: 0.02, reset: 6, revoked: 1, token_unreachable: 0.05, caller_aborts: 0.02 },
        countIsExact: true,
      }),
  },
  clones: {
    about: 'processes that were resumed from one image of memory, so that their random generators repeat one another',
    promised: true,
    settings: (random) =>
      drawn(random, {
        tokens: random.pick([12, 24, 40]),
        processes: random.integer(2, 6),
        callEveryMs: random.between(5, 60) * minute,
        lifetimeMs: random.between(0.5, 3) * hour,
        rates: {
          random_repeated: 0.5,
          store_reply_lost: 0.03,
          crash: 3,
          reset: 8,
          api_401: 0.02,
          token_5xx_after: 0.02,
        },
      }),
  },
  exchanged: {
    about:
      'somebody who can write to the store exchanges the sealed tokens of audiences, clients, token endpoints, ids, generations and expiries',
    promised: true,
    settings: (random) =>
      drawn(random, {
        tokens: 40,
        processes: random.integer(1, 4),
        audiences: ['api', 'other api'],
        callEveryMs: random.between(5, 60) * minute,
        lifetimeMs: random.between(1, 6) * hour,
        rates: { tokens_exchanged: 24, crash: 12, close: 6, reset: 4, api_401: 0.02, caller_aborts: 0.02 },
      }),
  },
  alarms: {
    about: 'all processes of a fleet reset its token for one alarm, at one moment or within seconds',
    promised: true,
    weight: 4,
    settings: (random) =>
      drawn(random, {
        tokens: 150,
        processes: random.integer(3, 12),
        audiences: audiencesOf(random.integer(1, 2)),
        lifetimeMs: random.between(1, 6) * hour,
        callEveryMs: random.between(2, 60) * second,
        faultsForMs: random.between(1, 6) * hour,
        rates: {
          reset_by_all: 40,
          reset: 4,
          close: 8,
          crash: 8,
          store_reply_late: 0.01,
          store_refused: 0.005,
          caller_aborts: 0.02,
        },
      }),
  },
  operated: {
    about: 'people who order retries and resets, while the endpoint rejects credentials, answers 429 and fails',
    promised: true,
    settings: (random) =>
      drawn(random, {
        tokens: random.pick([8, 12, 24]),
        callEveryMs: random.between(5, 60) * minute,
        rates: {
          ...everything,
          retry_ordered: 24,
          reset: 6,
          token_refused: 0.15,
          token_rate_limited: 0.15,
          token_5xx_before: 0.1,
          endpoint_outage: 3,
        },
      }),
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
    about: 'a replicated store that loses everything three times a window, resets in between',
    promised: true,
    settings: (random) => {
      const tokens = random.pick([18, 24, 30]);
      const rates = { ...everything, store_wiped: 5, reset: 8 };
      const given = { tokens, reserve: undefined, durability: 'replicated' as const, bound: tokens, rates };
      return drawn(random, { ...given, lossesPerWindow: 3 });
    },
  },
  remembered: {
    about: 'one process whose store is repeatedly lost or set back: its memory suffices without a reserve',
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
    about: 'a replicated store whose two halves diverge once a window',
    promised: true,
    settings: (random) => {
      const tokens = random.pick([6, 12, 24]);
      const rates = { ...everything, split_brain: 2 };
      const given = { tokens, reserve: undefined, durability: 'replicated' as const, bound: tokens, rates };
      return drawn(random, { ...given, lossesPerWindow: 1 });
    },
  },
  'store-ahead': {
    about:
      'a store whose clock is up to 27 hours ahead and is put right, at once or in steps; short-lived processes, losses',
    promised: true,
    settings: (random) => {
      const rates = { ...everything, store_clock_step: 0, store_clock_set_right: 4, crash: random.pick([5, 60]) };
      const given = { storeAheadMs: Math.round(27 * hour * random.next() ** 2) };
      if (random.chance(0.5)) return feasible(random, { ...given, rates });
      if (random.chance(0.5)) return drawn(random, { ...given, rates });
      const tokens = random.pick([12, 15, 24]);
      const insured = { tokens, reserve: undefined, bound: tokens, lossesPerWindow: 1 };
      return drawn(random, { ...given, ...insured, rates: { ...rates, store_wiped: 2 } });
    },
  },
  'late-loop': {
    about: 'event loops that stand still for up to 30 seconds, while the store and the endpoint answer',
    promised: true,
    settings: (random) =>
      drawn(random, {
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
  outages: {
    about: 'the real figures, an endpoint that fails in one way for minutes or days',
    promised: true,
    weight: 8,
    settings: (random) => {
      const fromMs = begins(random);
      return {
        ...established(random),
        audiences: audiencesOf(random.chance(0.6) ? 1 : random.integer(2, 3)),
        outage: {
          fromMs,
          state: random.pick([
            'silent',
            'unreachable',
            'failing',
            'page',
            'missing',
            'forbidden',
            'limited',
            'behind',
          ] as const),
        },
        // The longest ones end when the entries of their first hours have stopped counting.
        faultsForMs:
          28 * hour + (random.chance(0.3) ? random.between(27, 36) * hour : 10 * minute * 160 ** random.next()),
        lifetimeMs: random.between(1, 24) * hour,
        callEveryMs: random.between(1, 15) * minute,
      };
    },
  },
  'one-audience': {
    about:
      'the real figures, an endpoint that fails for one, two or three of several audiences, which ask all the time',
    promised: true,
    weight: 10,
    settings: (random) => {
      const fromMs = begins(random);
      const state = random.pick(['missing', 'failing', 'page', 'unavailable', 'silent'] as const);
      const failing = audiencesOf(random.integer(1, 3));
      const audiences = audiencesOf(failing.length + random.pick([1, 2, random.integer(3, 8)]));
      // All of them together need less than what a new record may issue.
      const lifeHours = (fromMs < 27 * hour ? 2.5 : 1) * audiences.length * random.between(1, 3);
      return {
        ...established(random),
        audiences,
        processes: 2,
        failing: { fromMs, audiences: failing, state },
        faultsForMs: fromMs + random.between(4, 36) * hour,
        lifetimeMs: lifeHours * hour,
        callEveryMs: random.between(15, 90) * second,
        rates: {
          store_reply_late: 0.01,
          caller_aborts: 0.02,
          token_5xx_before: 0.02,
          token_unreachable: 0.01,
          close: 4,
        },
      };
    },
  },
  'one-api': {
    about:
      'the real figures, an API that rejects every token of its audience, revocations of all tokens, and processes that end during a request',
    promised: true,
    weight: 4,
    settings: (random) => {
      return {
        ...established(random),
        audiences: audiencesOf(random.integer(2, 3)),
        processes: random.integer(1, 3),
        rejecting: 'api 0',
        faultsForMs: random.between(40, 70) * hour,
        lifetimeMs: random.between(6, 24) * hour,
        callEveryMs: random.between(1, 6) * minute,
        rates: { revoked: 0.5, close: 2, crash: 2, crash_at_send: 0.1, caller_aborts: 0.02 },
      };
    },
  },
  'long-sleep': {
    about: 'machines that sleep for more than a week while their monotonic clock stands still',
    promised: true,
    settings: (random) =>
      drawn(random, {
        processes: random.integer(1, 3),
        tokens: 12,
        lifetimeMs: Math.round(random.between(6, 60)) * hour,
        callEveryMs: random.between(1, 6) * hour,
        faultsForMs: 40 * day,
        rates: { sleep_long: 0.2, close: 0.3, reset: 0.2 },
      }),
  },
  deaths: {
    about: 'the real figures, an endpoint that is slow, and processes that are killed while they wait for it',
    promised: true,
    weight: 10,
    settings: (random) => {
      const fromMs = begins(random);
      const everyMs = 2 * second * 1_800 ** random.next();
      return {
        ...established(random),
        timeoutMs: random.pick([undefined, 5 * second]),
        outage: { fromMs, state: 'slow' },
        dying: { fromMs, everyMs, livesMs: random.between(0.2, 4.5) * second },
        faultsForMs: fromMs + Math.min(30 * hour, 500 * everyMs),
        lifetimeMs: day,
        // No process of the fleet asks meanwhile.
        callEveryMs: 1_000 * day,
      };
    },
  },
  healthy: {
    about: 'no faults: demand and latency, and no call is denied',
    promised: true,
    weight: 20,
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
    weight: 60,
    settings: (random) =>
      feasible(random, {
        tokens: 150,
        processes: 40,
        lifetimeMs: day,
        callEveryMs: 2 * hour,
        faultsForMs: 10 * day,
      }),
  },
  ...agreementModes,
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

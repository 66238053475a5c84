import { day, hour, minute, second } from './judge/units.ts';
import type { Mode } from './mode.ts';
import type { Random } from './random.ts';
import { type Agreement, everything, hourly, type Phase, rarer, type Settings, type Term } from './settings.ts';

const per = (tokens: number, windowMs: number): Term => ({ tokens, windowMs });
const agreed = (...windows: readonly Term[]): Agreement => ({ windows, reserve: 0 });

/** A token request stands still, and is on its way, for less time than the shortest window holds its entry. */
const withinMinutes = { maxFreezeMs: 2.5 * minute, maxQueueMs: 3 * minute };

const several: readonly Agreement[] = [
  agreed(per(10, hour), per(50, day)),
  agreed(per(3, hour), per(12, day)),
  agreed(per(4, 10 * minute), per(8, hour), per(24, day)),
  agreed(per(12, day), per(6, 6 * hour)),
  agreed(per(8, day), per(12, 3 * day)),
];

const pairs: readonly (readonly [Agreement, Agreement])[] = [
  [agreed(per(12, day)), agreed(per(24, day))],
  [agreed(per(24, day)), agreed(per(4, hour))],
  [agreed(per(12, day)), agreed(per(4, hour), per(24, day))],
  [agreed(per(24, 2 * day)), agreed(per(24, day))],
];

/** Agreements with several windows, or with small or short ones, and processes whose agreements differ. */
export const agreementModes: Readonly<Record<string, Mode>> = {
  windows: {
    about: 'agreements of several windows, such as 10 tokens an hour and 50 a day',
    weight: 2,
    settings: (random) => ({
      ...withinMinutes,
      phases: [{ fromMs: 0, agreements: [random.pick(several)] }],
      lifetimeMs: Math.round(random.between(3, 60)) * minute,
      callEveryMs: random.between(3, 30) * minute,
      faultsForMs: random.between(1.1, 2) * day,
      rates: rarer(0.5),
    }),
  },
  disagree: {
    about: 'processes whose agreements differ for days',
    weight: 2,
    settings: (random) => {
      const agreements = random.pick(pairs);
      // Without faults of the store and of processes, a process that reads declares.
      const calm = { token_reply_lost: 0.03, token_5xx_before: 0.03, api_401: 0.01, caller_aborts: 0.02 };
      const declares = random.chance(0.6);
      return {
        ...withinMinutes,
        processes: random.integer(2, 5),
        phases: [{ fromMs: 0, agreements: random.chance(0.5) ? agreements : agreements.toReversed() }],
        lifetimeMs: Math.round(random.between(30, 90)) * minute,
        callEveryMs: random.between(3, 15) * minute,
        faultsForMs: random.between(1.2, 2.5) * day,
        rates: declares ? calm : rarer(0.5),
        declares,
      };
    },
  },
  rollout: {
    about: 'rollouts of other agreements and back again, also of windows that are longer than what the record knows',
    weight: 2,
    settings: (random) => (random.chance(0.5) ? longer(random) : shorter(random)),
  },
  inherit: {
    about:
      'clients that inherit the agreement: alone in a new record, and before, beside and after processes whose limit is larger or smaller than the default',
    weight: 4,
    settings: (random) => (random.chance(0.2) ? longer(random, Number.POSITIVE_INFINITY) : inherited(random)),
  },
  small: {
    about: '4 to 20 tokens in a window or two, and a store that loses everything, or goes back',
    settings: (random) => {
      const durability = random.pick(['durable', 'replicated'] as const);
      const tokens = random.integer(4, 20);
      const windows = random.pick([
        [per(tokens, hour)],
        [per(tokens, hour)],
        [per(Math.ceil(tokens / 3), hour / 3), per(tokens, hour)],
      ]);
      // A replicated store keeps half of the smallest window back.
      const reserve = Math.ceil(Math.min(...windows.map((window) => window.tokens)) / 2);
      const loss = durability === 'durable' ? 'store_wiped' : random.pick(['store_wiped', 'store_regressed'] as const);
      return {
        ...hourly,
        tokens,
        durability,
        audiences: ['api'],
        phases: [{ fromMs: 0, agreements: [{ windows, reserve: undefined }] }],
        bound: tokens,
        faultsForMs: random.between(1.1, 4) * hour,
        rates: { ...everything, [loss]: 3, reset: 6 },
        // After each loss at least one token may be issued, so the reserve pays for as many losses as it has tokens.
        lossesPerWindow: durability === 'durable' || loss === 'store_regressed' ? 1 : Math.min(3, reserve),
      };
    },
  },
  short: {
    about: 'windows of 1 to 20 minutes, and requests that issue a token up to six minutes later',
    weight: 2,
    settings: (random) => {
      const windowMs = Math.round(20 ** random.next()) * minute;
      const tokens = random.integer(2, 12);
      const windows = random.pick([[per(tokens, windowMs)], [per(tokens, windowMs), per(3 * tokens, hour)]]);
      return {
        tokens,
        windowMs,
        phases: [{ fromMs: 0, agreements: [{ windows, reserve: 0 }] }],
        timeoutMs: random.pick([undefined, 300 * second]),
        lifetimeMs: Math.round(random.between(5, 60)) * second,
        callEveryMs: random.between(2, 30) * second,
        faultsForMs: random.between(0.5, 2) * hour,
        rates: { ...rarer(0.1), token_request_late: 0.2, freeze_at_send: 0.1, api_401: 0.01 },
        maxFreezeMs: minute,
        maxQueueMs: 5.5 * minute,
      };
    },
  },
};

/** Another agreement every day or two. In some of that time nobody needs a token, so the record is only read. */
function shorter(random: Random): Partial<Settings> {
  const pool = [...several, ...pairs.flat()];
  const stepMs = random.between(0.3, 2.2) * day;
  const phases = Array.from({ length: random.integer(2, 4) }, (_, index): Phase => {
    const lifetimeMs = random.chance(0.3) ? 2 * day : Math.round(random.between(5, 60)) * minute;
    return { fromMs: index * stepMs, agreements: [random.pick(pool)], lifetimeMs };
  });
  return {
    ...withinMinutes,
    phases,
    callEveryMs: random.between(5, 30) * minute,
    faultsForMs: phases.length * stepMs,
    rates: rarer(0.2),
  };
}

/** Some of the processes inherit the agreement, and for some of the time all of them do. The default allows fewer tokens than most of these need. */
function inherited(random: Random): Partial<Settings> {
  const agreements = random.pick([
    [agreed(per(40, hour))],
    [agreed(per(20, hour / 2), per(300, day))],
    [agreed(per(40, hour)), agreed(per(60, hour))],
    [agreed(per(6, hour))],
    [agreed(per(12, day))],
  ]);
  const processes = random.integer(2, 4);
  // In a hurry, more tokens are needed in the first hour than the default allows in a new record.
  const isHurried = random.chance(0.4);
  const stepMs = isHurried ? random.between(5, 50) * minute : random.between(2, 14) * hour;
  const phases = Array.from({ length: random.integer(2, 4) }, (_, index): Phase => {
    const isAlone = random.chance(index === 0 ? 0.7 : 0.3);
    return { fromMs: index * stepMs, agreements, inheriting: isAlone ? processes : random.integer(0, processes - 1) };
  });
  return {
    ...withinMinutes,
    processes,
    phases,
    lifetimeMs: Math.round(isHurried ? random.between(40, 100) : random.between(180, 1_800)) * second,
    callEveryMs: isHurried ? random.between(15, 60) * second : random.between(3, 12) * minute,
    faultsForMs: phases.length * stepMs,
    rates: rarer(0.3),
  };
}

/** A window of weeks, which comes after a time in which the record only had to know a day. In that time so many processes inherit the agreement. */
function longer(random: Random, inheriting = 0): Partial<Settings> {
  const long = { windows: [per(12, random.integer(18, 24) * day)], reserve: 4 };
  const daily = agreed(per(4, day));
  const beforeMs = random.between(14, 20) * day;
  const phases: Phase[] = [
    { fromMs: 0, agreements: [daily], lifetimeMs: Math.round(random.between(30, 60)) * hour, inheriting },
    { fromMs: beforeMs, agreements: [long], lifetimeMs: Math.round(random.between(2, 12)) * hour },
  ];
  return {
    tokens: 4,
    processes: random.integer(1, 3),
    audiences: ['api'],
    phases,
    callEveryMs: random.between(1, 6) * hour,
    faultsForMs: beforeMs + random.between(2, 10) * day,
    rates: rarer(0.05),
  };
}

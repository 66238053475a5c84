import type { Rates } from './faults.ts';
import { hour, minute, second } from './judge/units.ts';
import type { Mode } from './mode.ts';
import type { Random } from './random.ts';
import { audiencesOf, drawn, everything, type Settings } from './settings.ts';

/** When an outage or a row of deaths begins: in a record that knows a whole window, or in the first days of one. */
export function begins(random: Random): number {
  return random.chance(0.7) ? 28 * hour : random.between(0.1, 27) * hour;
}

/** A store that answers late now and then, and callers who go away. */
export const noisy: Rates = { store_reply_late: 0.01, store_refused: 0.005, caller_aborts: 0.02 };

/** The agreement of the service, with a durable store or a replicated one. */
export function real(random: Random): Pick<Settings, 'tokens' | 'reserve' | 'durability'> {
  return { tokens: 150, reserve: undefined, durability: random.pick(['durable', 'replicated'] as const) };
}

/** A fleet of three with the agreement of the service, over a store that is older than a window. */
export function established(random: Random): Settings {
  return drawn(random, { ...real(random), processes: 3, audiences: ['api'], rates: noisy });
}

/** A token endpoint, or an API, that fails, refuses or repeats itself. */
export const endpointModes: Readonly<Record<string, Mode>> = {
  unsent: {
    about: 'requests that never leave, requests that break after they left, and rejections whose body never ends',
    weight: 2,
    settings: (random) => ({
      tokens: random.pick([12, 24, 40]),
      callEveryMs: random.between(5, 30) * minute,
      rates: {
        ...{ token_unreachable: 0.3, token_broken_after: 0.12, token_refusal_endless: 0.12, token_refused: 0.03 },
        ...{ token_rate_limited: 0.03, token_redirected: 0.02, token_reply_lost: 0.03, token_5xx_after: 0.03 },
        ...{ token_garbled: 0.02, caller_aborts: 0.05 },
      },
      countIsExact: true,
    }),
  },
  thrown: {
    about: 'a transport that throws answers as errors',
    settings: (random) => ({
      tokens: random.pick([12, 24, 40]),
      processes: random.integer(1, 3),
      callEveryMs: random.between(5, 30) * minute,
      rates: {
        ...{ token_answer_thrown: 0.6, token_5xx_before: 0.05, token_5xx_after: 0.05, token_unreachable: 0.1 },
        ...{ token_refused: 0.1, token_rate_limited: 0.1, token_redirected: 0.02, token_reply_lost: 0.03 },
      },
      countIsExact: true,
    }),
  },
  requests: {
    about: 'a provider that counts requests, refused ones too: rejections, 429s, outages, several audiences, deaths',
    settings: (random) => {
      const tokens = random.pick([12, 24, 40]);
      const windows = [{ tokens, windowMs: 24 * hour, counts: 'requests' as const }];
      return {
        tokens,
        phases: [{ fromMs: 0, agreements: [{ windows, reserve: 0 }] }],
        audiences: audiencesOf(random.integer(1, 4)),
        callEveryMs: random.between(5, 30) * minute,
        rates: {
          ...everything,
          ...{ token_refused: random.pick([0.05, 0.4]), token_rate_limited: 0.1, token_redirected: 0.05 },
          ...{ token_5xx_before: 0.1, endpoint_outage: 3 },
        },
      };
    },
  },
  quota: {
    about:
      'a provider that says what it counts, truly or not, with half of its answers, and somebody without the store who gets tokens; with faults and without',
    weight: 4,
    settings: (random) => {
      const quota = { isTrue: random.chance(0.6), foreignEveryMs: random.between(0.2, 4) * hour };
      const isHealthy = random.chance(0.5);
      return {
        quota,
        tokens: 150,
        reserve: undefined,
        processes: random.integer(1, 4),
        audiences: audiencesOf(random.integer(1, 3)),
        lifetimeMs: isHealthy ? 24 * hour : Math.round(random.between(20, 180)) * minute,
        callEveryMs: random.between(5, 60) * minute,
        faultsForMs: random.between(1.2, 2.5) * 24 * hour,
        // A request that takes longer than five minutes may be of the provider's window before.
        maxFreezeMs: 2.5 * minute,
        maxQueueMs: minute,
        ...(isHealthy ? { rates: {}, feasible: true } : { rates: { ...everything, store_clock_step: 0 } }),
      };
    },
  },
  told: {
    about: 'an endpoint that limits the fleet, or is unavailable, and says for how long; late answers, two audiences',
    weight: 3,
    settings: (random) => ({
      tokens: 150,
      processes: random.integer(2, 4),
      audiences: ['api', 'other api'],
      lifetimeMs: Math.round(random.between(2, 8)) * minute,
      callEveryMs: random.between(10, 60) * second,
      faultsForMs: random.between(1, 5) * hour,
      rates: {
        ...{ token_rate_limited: 0.3, token_unavailable: 0.15, token_reply_late: 0.6, token_reply_lost: 0.02 },
        ...{ reset: 40, crash: 3, caller_aborts: 0.02 },
      },
    }),
  },
  cached: {
    about:
      'a cache that repeats the last token of the endpoint to any process, whether it has had the token or not: 401s, resets, expiries',
    settings: (random) => ({
      tokens: random.pick([12, 24, 40]),
      processes: random.integer(1, 4),
      callEveryMs: random.between(5, 60) * minute,
      rates: { token_cached: 0.4, api_401: 0.02, reset: 6, revoked: 1, token_unreachable: 0.05, caller_aborts: 0.02 },
      countIsExact: true,
    }),
  },
  outages: {
    about:
      'the real figures, an endpoint that fails in one way for minutes or days, and sometimes people who order retries',
    weight: 8,
    settings: (random) => {
      const fromMs = begins(random);
      const usual = established(random);
      const ordered = random.fork('orders').chance(0.3) ? { retry_ordered: 24 } : {};
      const states = ['silent', 'unreachable', 'failing', 'page', 'missing', 'forbidden', 'limited'] as const;
      return {
        ...usual,
        rates: { ...usual.rates, ...ordered },
        audiences: audiencesOf(random.chance(0.6) ? 1 : random.integer(2, 3)),
        outage: { fromMs, state: random.pick(states) },
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
    weight: 10,
    settings: (random) => {
      const fromMs = begins(random);
      const state = random.pick(['missing', 'failing', 'page', 'unavailable', 'silent'] as const);
      const failing = audiencesOf(random.integer(1, 3));
      const audiences = audiencesOf(failing.length + random.pick([1, 2, random.integer(3, 8)]));
      // All of them together need less than what a new record may issue.
      const lifeHours = (fromMs < 27 * hour ? 2.5 : 1) * audiences.length * random.between(1, 3);
      const failures = { token_5xx_before: 0.02, token_unreachable: 0.01 };
      return {
        ...established(random),
        audiences,
        processes: 2,
        failing: { fromMs, audiences: failing, state },
        faultsForMs: fromMs + random.between(4, 36) * hour,
        lifetimeMs: lifeHours * hour,
        callEveryMs: random.between(15, 90) * second,
        rates: { store_reply_late: 0.01, caller_aborts: 0.02, ...failures, close: 4 },
      };
    },
  },
  'one-api': {
    about:
      'the real figures, an API that rejects every token of its audience, revocations of all tokens, and processes that end during a request',
    weight: 4,
    settings: (random) => ({
      ...established(random),
      audiences: audiencesOf(random.integer(2, 3)),
      processes: random.integer(1, 3),
      rejecting: 'api 0',
      faultsForMs: random.between(40, 70) * hour,
      lifetimeMs: random.between(6, 24) * hour,
      callEveryMs: random.between(1, 6) * minute,
      rates: { revoked: 0.5, close: 2, crash: 2, crash_at_send: 0.1, caller_aborts: 0.02 },
    }),
  },
};

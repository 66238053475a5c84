import { agreementModes } from './agreement-modes.ts';
import { begins, endpointModes, established, noisy, real } from './endpoint-modes.ts';
import { day, hour, minute, second } from './judge/units.ts';
import type { Mode } from './mode.ts';
import { processModes } from './process-modes.ts';
import { audiencesOf, everything, feasible, hourly, rarer } from './settings.ts';
import { storeModes } from './store-modes.ts';

export const modes: Readonly<Record<string, Mode>> = {
  faults: { about: 'everything within the assumptions, demand above the budget', settings: () => ({}) },
  feasible: { about: 'the same, demand below the budget', settings: feasible },
  hour: { about: 'a window of one hour, everything in proportion', settings: () => hourly },
  many: {
    about: 'hundreds of tokens in a window of one hour, so that the oldest are added up',
    weight: 20,
    settings: (random) => ({
      ...hourly,
      tokens: random.integer(160, 240),
      lifetimeMs: random.integer(8, 20) * second,
      processes: 3,
      audiences: ['api'],
      callEveryMs: 15 * second,
      faultsForMs: 2.2 * hour,
    }),
  },
  alarms: {
    about: 'all processes of a fleet reset its token for one alarm, at one moment or within seconds',
    weight: 4,
    settings: (random) => ({
      tokens: 150,
      processes: random.integer(3, 12),
      audiences: audiencesOf(random.integer(1, 2)),
      lifetimeMs: random.between(1, 6) * hour,
      callEveryMs: random.between(2, 60) * second,
      faultsForMs: random.between(1, 6) * hour,
      rates: { ...noisy, reset_by_all: 40, reset: 4, close: 8, crash: 8 },
    }),
  },
  batch: {
    about:
      'a dozen audiences in each process, which write at the same time; lost and late replies of the store, and sleep',
    weight: 30,
    settings: (random) => ({
      tokens: random.pick([24, 40, 60]),
      processes: random.integer(1, 3),
      audiences: audiencesOf(random.integer(6, 12)),
      lifetimeMs: random.between(1, 6) * hour,
      callEveryMs: random.between(1, 10) * minute,
      callsAtOnce: random.integer(2, 8),
      faultsForMs: random.between(0.5, 1.2) * day,
      rates: {
        ...rarer(0.5),
        ...{ wall_clock_step: 0, sleep: 6, sleep_at_call: 0.01 },
        ...{ store_reply_lost: 0.03, store_reply_error: 0.03, store_reply_late: 0.03 },
      },
    }),
  },
  operated: {
    about: 'people who order retries and resets, while the endpoint rejects credentials, answers 429 and fails',
    weight: 2,
    settings: (random) => ({
      tokens: random.pick([8, 12, 24]),
      callEveryMs: random.between(5, 60) * minute,
      rates: {
        ...everything,
        ...{ retry_ordered: 24, reset: 6, endpoint_outage: 3 },
        ...{ token_refused: 0.15, token_rate_limited: 0.15, token_5xx_before: 0.1 },
      },
    }),
  },
  ...processModes,
  ...endpointModes,
  ...storeModes,
  ...agreementModes,
  deaths: {
    about: 'the real figures, an endpoint that is slow, and processes that are killed while they wait for it',
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
  'dying-audiences': {
    about:
      'the real figures, processes that are killed while they wait for the tokens of one to ten audiences, and processes of another audience, which ask all the time',
    weight: 16,
    settings: (random) => {
      // A younger record may spend less than all of them need.
      const fromMs = random.between(28, 40) * hour;
      const everyMs = 2 * second * 150 ** random.next();
      const dying = audiencesOf(random.integer(1, 10));
      return {
        ...established(random),
        timeoutMs: random.pick([undefined, 5 * second]),
        audiences: audiencesOf(dying.length + 1),
        failing: { fromMs, audiences: dying, state: 'slow' },
        dying: { fromMs, everyMs, livesMs: random.between(0.2, 4.5) * second },
        faultsForMs: fromMs + random.between(2, 9) * hour,
        lifetimeMs: random.between(1, 3) * hour,
        callEveryMs: random.between(15, 90) * second,
      };
    },
  },
  healthy: {
    about: 'no faults: demand and latency, and no call is denied',
    weight: 20,
    settings: (random) => ({
      ...real(random),
      processes: random.integer(1, 8),
      lifetimeMs: day,
      callEveryMs: random.between(20, 180) * minute,
      faultsForMs: 4 * day,
      rates: {},
      feasible: true,
    }),
  },
  'one-token': {
    about:
      'no faults, and an endpoint that returns one token until it expires: no call is denied, also in its last minute',
    weight: 20,
    settings: (random) => ({
      ...real(random),
      processes: random.integer(1, 4),
      lifetimeMs: day,
      callEveryMs: random.between(35, 120) * second,
      faultsForMs: 2.5 * day,
      rates: {},
      feasible: true,
      repeatsToken: true,
    }),
  },
  real: {
    about: 'the real figures: 150 tokens, 40 processes, tokens of 24 hours, 10 days',
    weight: 60,
    settings: (random) => ({
      ...feasible(random),
      tokens: 150,
      processes: 40,
      lifetimeMs: day,
      callEveryMs: 2 * hour,
      faultsForMs: 10 * day,
    }),
  },
};

/** False for a control: it breaks promises. */
export function isPromised(mode: string): boolean {
  return !modes[mode]?.isControl;
}

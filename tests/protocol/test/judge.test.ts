import {
  type AccessToken,
  createServiceAuth,
  type ServiceAuth,
  type ServiceAuthEvent,
  type Usage,
} from '@service-auth/core';
import { describe, expect, test } from 'vitest';
import { createJudge } from '../src/judge/judge.ts';
import { promises, wordsOf } from '../src/judge/promises.ts';
import type { Circumstances, IssuedToken, Process } from '../src/judge/scene.ts';
import type { Call } from '../src/judge/sights.ts';
import { day, minute } from '../src/judge/units.ts';
import { createRandom } from '../src/random.ts';
import { run } from '../src/run.ts';
import { drawn } from '../src/settings.ts';
import { promiseOf } from '../src/shrink.ts';
import { type Copies, tryWhatIsSaid } from '../src/trial.ts';
import { wrongClients } from '../src/wrong-clients.ts';

// A wrong client in the simulator breaks each promise, or a history that somebody wrote. The judge
// names the promise, and after a history no other one.

const quiet: Circumstances = {
  processes: 1,
  audiences: ['api'],
  tokens: 150,
  durability: 'durable',
  phases: [{ agreements: [{ windows: [{ tokens: 150, windowMs: day }], reserve: undefined }] }],
  faultsForMs: day,
  rates: { sleep: 1 },
  bound: 120,
  lossesPerWindow: 0,
  storeAheadMs: 0,
};

/** A judge in a world in which nothing happens but what a test says. */
function stage(given: Partial<Circumstances> = {}) {
  const world = { now: 0, note: () => {} };
  const issued: IssuedToken[] = [];
  const timers: { readonly at: number; readonly due: () => void }[] = [];
  const [now, never] = [() => world.now, Number.NEGATIVE_INFINITY];
  const setTimer = (due: () => void, delayMs: number) => {
    timers.push({ at: world.now + delayMs, due });
    return () => {};
  };
  const clock = { now, monotonic: now, setTimer };
  const wallSetAt = { forward: never, back: never };
  const machine: Process = { name: 'p0', alive: true, clock, frozenUntil: 0, blockedMs: 0, wallSetAt };
  const store = { now, clockSpreadMs: 0, unnoticedMs: 0, setBackAt: never, lostAt: never };
  const issuedSince = (since: number) => issued.filter(({ issuedAt }) => issuedAt > since).length;
  const service = { issued, issuedSince };
  const [settings, ask] = [{ ...quiet, ...given }, () => {}];
  const judge = createJudge(
    world,
    settings,
    () => service,
    () => store,
    ask,
    [],
  );
  const asker = { machine, audience: 'api' };
  const call = (peeked?: AccessToken): Call => ({ asker, begunAt: world.now, peeked });
  return {
    ...{ world, judge, asker, call },
    /** All of them now. */
    issue(count: number) {
      for (let at = 0; at < count; at++) {
        issued.push({ ...token(`t${at}`), issuedAt: world.now, requestedAt: world.now, expiresAt: world.now + day });
        judge.issued(issued.at(-1) as IssuedToken);
      }
    },
    pass(ms: number) {
      world.now += ms;
      for (const { at, due } of timers.splice(0)) if (at <= world.now) due();
    },
  };
}

function token(value: string): IssuedToken {
  const life = { lifetimeMs: day, statedMs: day, expiresAt: day };
  return { value, audience: 'api', machine: 'p0', requestedAt: 0, issuedAt: 0, ...life, revoked: false };
}

const handed = (id: string, value = id) => ({ id, value }) as AccessToken;

const refusal = (code: string, fields: object = {}) =>
  Object.assign(new Error(code), { name: 'ServiceAuthError', code, ...fields });

/** What `getUsage()` says of a fleet to which nothing happened yet. */
const usageWith = (fields: object, window: object = {}) => {
  const windows = [{ tokens: 150, windowMs: day, usable: 120, used: 0, pending: 0, ...window }];
  return { holds: [], issuances: [], tokens: [], unknown: 0, windows, ...fields } as unknown as Usage;
};

/** The provider says what it counts, and a process reports how much of it is foreign. */
function quoting(foreign: number, reported: number, remaining = 90): History {
  const said = { windowMs: day, tokens: 150, remaining: 90 };
  const event = { type: 'quota_observed', of: 'client', ...said, remaining, foreign: reported };
  const happens = ({ judge, asker }: Stage) => {
    judge.quotaSaid([{ ...said, foreign, beganAt: 0 }]);
    judge.happened(asker, event as unknown as ServiceAuthEvent);
  };
  return [happens, { rates: {}, quota: { isTrue: remaining === 90 } }];
}

type Stage = ReturnType<typeof stage>;
type History = readonly [happens: (stage: Stage) => void, given?: Partial<Circumstances>];

const histories: Readonly<Record<string, History>> = {
  'the provider is quoted as it spoke': quoting(60, 0, 89),
  'no token of the fleet is foreign': quoting(3, 4),
  'foreign tokens are noticed': quoting(3, 2),
  'every token is one of the service': [({ judge, call }) => judge.served(call(), handed('t0'), undefined)],
  'an id names one token': [
    ({ judge, call }) => {
      for (const value of ['t0', 't1']) judge.served(call(), handed('id', value), token(value));
    },
  ],
  'every audience has its own token': [
    ({ judge, call }) => judge.served(call(), handed('t0'), { ...token('t0'), audience: 'another api' }),
  ],
  'a running process does not count as dead': [
    ({ judge }) => judge.counted(usageWith({ unknown: 1 })),
    { nothingFails: true },
  ],
  'a quarter of the budget is left': [
    ({ judge }) => judge.counted(usageWith({}, { used: 91, pending: 91 })),
    { outage: {} },
  ],
  'deaths are paced': [
    ({ judge, issue }) => {
      issue(26);
      judge.faultsEnded();
    },
    { dying: {} },
  ],
  'one alarm costs one token': [
    ({ judge, asker }) => {
      judge.resetting({ asker, reported: token('t0') });
      const event = { type: 'token_issued', reason: 'reset', expiresAt: day };
      for (let count = 0; count < 2; count++) judge.happened(asker, event as ServiceAuthEvent);
      judge.faultsEnded();
    },
    { rates: { reset_by_all: 1 } },
  ],
  'what was not issued costs nothing': [
    ({ judge }) => {
      judge.mayHaveIssued(1);
      judge.counted(usageWith({}, { used: 3 }));
    },
    { countIsExact: true },
  ],
  'no record outgrows its store': [({ judge }) => judge.outgrew('p0', 1_000_001)],
  'a store that keeps nothing is given up': [
    ({ judge, pass }) => {
      for (let count = 0; count < 61; count++) {
        judge.discarded('p0');
        pass(1_000);
      }
    },
  ],
  'peek token tells what get token returns': [
    ({ judge, call }) => judge.served(call(handed('t0')), handed('t1'), token('t1')),
  ],
  'one audience does not starve the others': [
    ({ world, judge, call, pass }) => {
      pass(2 * day);
      judge.counted(usageWith({}));
      for (let asked = 0; asked < 10; asked++) {
        judge.refused(call(), refusal('ERR_TOKEN_ENDPOINT', { retryAt: world.now + 10 * minute }));
        pass(10 * minute);
      }
    },
    { failing: { audiences: ['another api'] } },
  ],
  'a fleet that fails asks rarely': [
    ({ judge, pass }) => {
      for (let count = 0; count < 20; count++) {
        judge.wrote('p0', 0);
        judge.sending({ machine: 'p0', audience: 'api', hasCredentials: true });
        pass(1_000);
      }
    },
  ],
  'a healthy fleet needs few tokens': [
    ({ judge, issue }) => {
      issue(3);
      judge.faultsEnded();
    },
    { rates: {} },
  ],
  'every call ends': [
    ({ judge, call, pass }) => {
      judge.asked(call());
      pass(day);
    },
  ],
  'an aborted caller does not wait': [
    ({ judge, call, pass }) => {
      const waiting = call();
      judge.asked(waiting);
      pass(1);
      judge.aborted(waiting, 0);
    },
  ],
  'no process is busy without end': [({ judge }) => judge.exhausted(1_000_000)],
  'the record can be read': [({ judge }) => judge.unreadable(refusal('ERR_STORE_INTEGRITY'))],
};

const words = Object.values(promises).flat().map(wordsOf);
const shown = new Set(Object.values(wrongClients).flatMap(({ breaks }) => breaks));

/** One of the first seeds shows it. */
const seeds = 12;

test.each(Object.entries(wrongClients))('the judge tells %s', { timeout: 240_000 }, async (_, wrong) => {
  const { mode, breaks, change } = wrong;
  const missing = new Set(breaks);
  for (let seed = 1; seed <= seeds && missing.size > 0; seed++) {
    const { violations } = await run({ mode, seed }, change(createServiceAuth));
    const isTold = violations.filter((violation) => missing.delete(promiseOf(violation))).length > 0;
    if (isTold) expect((await run({ mode, seed }, createServiceAuth)).violations).toEqual([]);
  }
  expect([...missing]).toEqual([]);
});

test.each(words.filter((promise) => !shown.has(promise)))('a history breaks the promise: %s', (promise) => {
  const [happens, given] = histories[promise] as History;
  const staged = stage(given);
  happens(staged);
  expect([...new Set(staged.judge.violations.map(promiseOf))]).toEqual([promise]);
});

test('no two promises have the same words', () => {
  expect(new Set(words).size).toBe(words.length);
});

describe('a caller that is refused comes at the instant that it is told', () => {
  const second = 1_000;
  const settings = drawn(createRandom('trial'), { rates: { store_clock_step: 5 } });
  const [said, told] = [0, 20 * second];

  /** A record whose time stands still for so long, and in which a process dies 10 seconds after a caller could be served. */
  const standingStill =
    (ms: number): Copies =>
    (from) => {
      let at = from;
      const sinceThen = () => Math.max(0, at - ms);
      const usage = () => {
        const since = sinceThen();
        return {
          availableNow: said,
          refusedUntil: since < told ? at + told - since : undefined,
          issuances: [],
          holds: [],
          underWay: 0,
          windows: [{ usable: 120 }],
        } as unknown as Usage;
      };
      return {
        client: () => ({ getUsage: async () => usage() }) as ServiceAuth,
        ask: async () => (sinceThen() >= told && sinceThen() < told + 10 * second ? 'sent' : 'refused'),
        pass(passedMs) {
          at += passedMs;
        },
      };
    };

  test.each([0, 15, 50])('after a clock that stands still for %i seconds', async (seconds) => {
    const trial = await tryWhatIsSaid(standingStill(seconds * second), 0, undefined, settings);
    expect(trial?.refused).toMatchObject({ forMs: told, before: false, atIt: true });
  });

  test('but not more than a minute later', async () => {
    const trial = await tryWhatIsSaid(standingStill(70 * second), 0, undefined, settings);
    expect(trial?.refused).toMatchObject({ atIt: false });
  });
});

test.each([
  ['sent', 1],
  ['replaces', undefined],
] as const)('a request that is %s for an audience of the run: so many are served: %s', async (answer, served) => {
  const usage = {
    ...{ availableNow: 1, underWay: 0, refusedUntil: undefined, holds: [], tokens: [], issuances: [] },
    windows: [{ usable: 120 }],
  };
  const copies: Copies = () => ({
    client: () => ({ getUsage: async () => usage as unknown as Usage }) as ServiceAuth,
    ask: async () => answer,
    pass: () => {},
  });
  expect((await tryWhatIsSaid(copies, 0, 'api', drawn(createRandom('trial'), {})))?.served).toBe(served);
});

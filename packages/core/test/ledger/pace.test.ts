import { describe, expect, test } from 'vitest';
import { decide } from '../../src/ledger/decide.ts';
import { holdsOf } from '../../src/ledger/forecast.ts';
import type { Attempt, IssuanceReason, LedgerRecord } from '../../src/ledger/journal.ts';
import { limitsFor, termLimits } from '../../src/ledger/limits.ts';
import { withRetry } from '../../src/ledger/orders.ts';
import { pace } from '../../src/ledger/pace.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { ambiguous, attemptAt, issued, queryFor, recordWith, tried, unknownAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';

const paced = (record: LedgerRecord, audience = 'orders', now = noon, reason: IssuanceReason = 'cold') =>
  pace(record, now, caller(audience), reason, usual);
/** Returns for how long an audience waits for its holds. */
const waitOf = (record: LedgerRecord, audience?: string, now = noon, reason?: IssuanceReason) =>
  Math.max(0, ...paced(record, audience, now, reason).holds.map(({ until }) => until - now));

const caller = (audience: string) => ({ audience, keyId: 'key', secretId: 'secret' });
const unreachedAt = (at: number) => ({ outcome: { kind: 'unreached', at, charge: 0 } });

/** Failures in a row of some audiences, one after the other. Each asks as soon as it may. */
function failures(audiences: readonly string[], from = noon - hour): { record: LedgerRecord; now: number } {
  let state: { record: LedgerRecord; now: number } = { record: recordWith([]), now: from };
  audiences.forEach((audience, index) => {
    state = tried(state.record, state.now, { audience, id: `failed ${index}` }, ambiguous);
  });
  return state;
}

describe('a failure', () => {
  test.each<[string, Parameters<typeof attemptAt>[1], boolean]>([
    ['of unknown outcome', unknownAt(noon), true],
    ['that never reached the endpoint', { outcome: { kind: 'unreached', at: noon, charge: 0 } }, true],
    ['of a later kind that cost a token', unknownAt(noon, { kind: 'later kind' }), true],
    ['of a later kind that cost none', unknownAt(noon, { kind: 'later kind', charge: 0 }), false],
    ['that is no failure: a token', { outcome: { kind: 'issued', at: noon, charge: 1 } }, false],
    ['that is no failure: it was not sent', { outcome: { kind: 'unsent', at: noon, charge: 0 } }, false],
  ])('%s', (_, fields, isFailure) => {
    const record = recordWith([attemptAt(noon - second, fields)]);
    expect(waitOf(record, 'orders', noon)).toBe(isFailure ? second : 0);
    expect(paced(record).carried.streak).toBe(isFailure ? 1 : 0);
  });
});

test('a process that is gone was waited for during its lease, which is a part of the pause', () => {
  const gone = (streak: number) =>
    recordWith([attemptAt(noon - 40 * second, { until: noon, outcome: undefined, streak })]);
  expect([0, 5, 6, 8].map((streak) => waitOf(gone(streak), 'orders', noon))).toEqual([0, 0, 24 * second, 216 * second]);
  expect(paced(gone(0)).carried.streak).toBe(1);
});

describe('a streak', () => {
  test('grows by failures that began after the one before was known, and the pauses double up to 15 minutes', () => {
    const pauses: number[] = [];
    let { record, now } = failures(['orders']);
    for (let index = 0; index < 12; index++) {
      pauses.push(waitOf(record, 'orders', now) / second);
      ({ record, now } = tried(record, now, { id: `more ${index}` }, ambiguous));
    }
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  test('does not grow by two failures at once', () => {
    const at = noon - 10 * second;
    const twin = { audience: 'orders', ...unknownAt(noon) };
    expect(paced(recordWith([attemptAt(at, twin), attemptAt(at + 1, twin)])).carried.streak).toBe(1);
  });

  test('ends with a token', () => {
    const { record, now } = failures(['orders', 'orders', 'orders']);
    const after = tried(record, now, { id: 'token' }, issued);
    expect(waitOf({ ...after.record, tokens: [] }, 'orders', after.now)).toBe(0);
    expect(paced(after.record, 'orders', after.now).carried).toEqual({ streak: 0, fleetStreak: 0 });
  });

  test('is over after two days', () => {
    const { record, now } = failures(['orders', 'orders', 'orders']);
    const streakAfter = (ms: number) => paced(record, 'orders', now + ms).carried.streak;
    expect([2 * day - 1, 2 * day].map(streakAfter)).toEqual([3, 0]);
  });

  test('grows faster with a small limit, so that what may be lost freely lasts a quarter of an hour', () => {
    const pausesWith = (tokens: number) => {
      const limits = limitsFor([{ tokens, windowMs: day }], 0, 'durable');
      return [1, 2, 3, 4].map((count) => {
        const record = recordWith([attemptAt(noon, { ...unreachedAt(noon), streak: count - 1 })]);
        const { holds } = pace(record, noon, caller('orders'), 'cold', limits);
        return Math.round(Math.max(0, ...holds.map(({ until }) => until - noon)) / second);
      });
    };
    expect(pausesWith(120)).toEqual([1, 2, 4, 8]);
    expect(pausesWith(75)).toEqual([1, 2, 5, 13]);
    expect(pausesWith(16)).toEqual([1, 30, 900, 900]);
  });
});

describe('other audiences', () => {
  const lost = (count: number) =>
    failures(
      Array.from({ length: count }, () => 'orders'),
      noon - 12 * hour,
    );

  test('wait with all after requests of unknown outcome in a row, five minutes at most', () => {
    const waits = [1, 2, 3, 9, 14].map((count) => {
      const { record, now } = lost(count);
      return waitOf(record, 'invoices', now) / second;
    });
    expect(waits).toEqual([1, 2, 4, 256, 300]);
  });

  test('do not wait once anybody has a token', () => {
    const { record, now } = lost(9);
    const token = attemptAt(now, { audience: 'stock', id: 'token' });
    expect(waitOf({ ...record, attempts: [...record.attempts, token] }, 'invoices', now)).toBe(0);
  });

  test('do not wait for one whose requests never reached the endpoint', () => {
    const record = recordWith([attemptAt(noon, { ...unreachedAt(noon), streak: 9 })]);
    expect([waitOf(record, 'invoices'), waitOf(record, 'orders') / second]).toEqual([0, 512]);
  });

  test('ask one at a time after a failure, and an eighth of the usable tokens at a time otherwise', () => {
    const open = attemptAt(noon - second, { id: 'open', audience: 'stock', until: noon + minute, outcome: undefined });
    expect(paced(recordWith([open]), 'invoices').waitsUntil).toBe(0);
    const failed = attemptAt(noon - hour, unknownAt(noon - hour));
    expect(paced(recordWith([failed, open]), 'another').waitsUntil).toBe(noon + minute);
    const unreached = attemptAt(noon - hour, unreachedAt(noon - hour));
    expect(paced(recordWith([unreached, open]), 'another').waitsUntil).toBe(0);
    expect(paced(recordWith([unreached, open]), 'orders').waitsUntil).toBe(noon + minute);
    const many = Array.from({ length: 15 }, (_, index) => ({
      ...open,
      id: `open ${index}`,
      audience: `${index}`,
      generation: noon + index,
    }));
    expect(paced(recordWith(many.slice(1)), 'another').waitsUntil).toBe(0);
    expect(paced(recordWith(many), 'another').waitsUntil).toBe(noon + minute);
  });

  test('do not wait for one that failed more than two days ago', () => {
    const open = attemptAt(noon - second, { audience: 'stock', until: noon + minute, outcome: undefined });
    const waitsUntil = (days: number) => {
      const at = noon - days * day;
      return paced(recordWith([attemptAt(at, unknownAt(at)), open]), 'another').waitsUntil;
    };
    expect([1, 3].map(waitsUntil)).toEqual([noon + minute, 0]);
  });
});

describe('what the endpoint says', () => {
  test.each([
    [429, undefined, 'refused', 'rate_limited'],
    [400, 'other', 'refused', 'rate_limited'],
    [400, 'temporarily_unavailable', 'refused', 'backoff'],
    [503, undefined, 'unreached', 'backoff'],
  ] as const)('with %i %s holds for all, until a token that was reserved later', (status, code, outcome, held) => {
    const told = attemptAt(noon - minute, {
      outcome: { kind: outcome, status, code, at: noon - minute, charge: 0, toldUntil: noon + hour },
    });
    const token = (at: number) =>
      attemptAt(at, { id: 'token', audience: 'stock', outcome: { kind: 'issued', at: noon - second, charge: 1 } });
    const holds = (record: LedgerRecord) => paced(record, 'invoices').holds.map(({ kind, until }) => [kind, until]);
    expect(holds(recordWith([told]))).toContainEqual([held, noon + hour]);
    expect(holds(recordWith([told, token(noon - 2 * minute)]))).toContainEqual([held, noon + hour]);
    expect(holds(recordWith([told, token(noon - 2 * second)]))).toEqual([]);
  });
});

describe('sparing', () => {
  /** So many requests in a row were lost, the last of them now. */
  const lost = (count: number, fields: Partial<LedgerRecord> = {}, streak = 9) =>
    recordWith(
      Array.from({ length: count }, (_, index) =>
        attemptAt(noon - count + index + 1, { id: `${index}`, ...unknownAt(noon), streak, fleetStreak: 9 }),
      ),
      fields,
    );
  const minutes = (record: LedgerRecord, audience?: string) => Math.round(waitOf(record, audience) / minute);

  test('begins with an eighth of the usable tokens, and the fewer are left, the rarer are requests', () => {
    const waits = [14, 15, 30, 45, 60].map((count) => minutes(lost(count)));
    // 27 h / (3 × (0.43 × 120 − lost)), and a third longer after ten failures in a row.
    expect(waits).toEqual([9, 19, 33, 78, 78]);
  });

  test('keeps an audience apart for no longer than it has failed', () => {
    const waitAfter = (streak: number) =>
      minutes(recordWith(lost(40).attempts.map((one) => ({ ...one, streak, fleetStreak: 0 }))));
    expect([0, 1, 2, 3].map(waitAfter)).toEqual([2, 4, 9, 18]);
  });

  test('lets others ask while less than half is lost', () => {
    expect([58, 59].map((count) => minutes(lost(count), 'another'))).toEqual([5, 60]);
  });

  test('never spends three quarters', () => {
    expect(waitOf(lost(90), 'another') / hour).toBeGreaterThan(26);
    const ordered = (count: number) => withRetry(lost(count), noon, { id: 'order', by: 'somebody' });
    expect(waitOf(ordered(89), 'another')).toBe(0);
    expect(waitOf(ordered(90), 'another') / hour).toBeGreaterThan(26);
  });

  test('ends when less than an eighth is lost', () => {
    const { pendingMs } = termLimits({ tokens: 150, windowMs: day, reserve: 30 }, 'durable');
    const soonGone = Array.from({ length: 14 }, (_, index) => {
      const at = noon + 2 * minute - pendingMs + index;
      return attemptAt(at, { id: `${index}`, ...unknownAt(at) });
    });
    const record = recordWith([...soonGone, attemptAt(noon, { ...unknownAt(noon), streak: 5 })]);
    expect(waitOf(record)).toBe(2 * minute);
  });

  test('of a young record leaves half of the little that it may issue, and takes two hours at most', () => {
    const young = (count: number) => minutes(lost(count, { completeSince: noon - hour }));
    // Of a complete record, these requests may be repeated after 8.5 minutes.
    expect([minutes(lost(14)), young(14), young(15), young(20)]).toEqual([9, 9, 156, 156]);
  });
});

describe('refusals', () => {
  const refused = (status: number, record: LedgerRecord, now: number, id: string) =>
    tried(record, now, { id }, () => ({
      kind: 'released',
      cause: status === 404 ? 'misconfigured' : 'credentials',
      status,
      oauthError: status === 403 ? 'access_denied' : undefined,
    }));

  test('in a row hold for 5, 10, 15 minutes', () => {
    let state = refused(403, recordWith([]), noon, 'first');
    const waits = [waitOf(state.record, 'orders', state.now)];
    for (const id of ['second', 'third', 'fourth']) {
      state = refused(403, state.record, state.now, id);
      waits.push(waitOf(state.record, 'orders', state.now));
    }
    expect(waits.map((ms) => ms / minute)).toEqual([5, 10, 15, 15]);
  });

  test('are about this audience, or about the client, or about the address', () => {
    const kinds = (status: number, caller: object) => {
      const { record, now } = refused(status, recordWith([]), noon, 'first');
      return pace(
        record,
        now,
        { audience: 'orders', keyId: 'key', secretId: 'secret', ...caller },
        'cold',
        usual,
      ).holds.map(({ kind }) => kind);
    };
    const [other, another] = [{ audience: 'invoices' }, { secretId: 'another' }];
    expect([kinds(403, {}), kinds(403, other), kinds(403, another)]).toEqual([['credentials'], [], []]);
    expect([kinds(401, {}), kinds(401, other), kinds(401, another)]).toEqual([['credentials'], ['credentials'], []]);
    expect([kinds(404, {}), kinds(404, other), kinds(404, another)]).toEqual([
      ['misconfigured'],
      [],
      ['misconfigured'],
    ]);
  });

  test('of the client hold up all audiences alike', () => {
    const waits = ({ record, now }: { record: LedgerRecord; now: number }) =>
      ['orders', 'invoices'].map((audience) => waitOf(record, audience, now) / minute);
    const alone = refused(401, recordWith([]), noon, 'first');
    const beside = tried(recordWith([]), noon - hour, { audience: 'invoices', id: 'token' }, issued);
    expect(waits(alone)).toEqual([5, 5]);
    expect(waits(refused(401, beside.record, noon, 'first'))).toEqual([5, 5]);
    expect(waits(refused(403, beside.record, noon, 'first'))).toEqual([5, 0]);
  });

  test.each([
    ['whose audience is new', recordWith([])],
    ['whose audience had a token', tried(recordWith([]), noon - 26 * hour, { id: 'earlier' }, issued).record],
  ])('%s is one hold of those that people see, until that audience may ask', (_, earlier) => {
    const beside = tried(earlier, noon - hour, { audience: 'invoices', id: 'token' }, issued);
    const { record, now } = refused(401, beside.record, noon, 'first');
    const holds = holdsOf(record, now, usual).filter(({ kind }) => kind === 'credentials');
    expect(holds).toMatchObject([{ audience: 'orders', until: now + 5 * minute }]);
  });

  test('of a later release that counts none is the first one', () => {
    const uncounted = recordWith([
      attemptAt(noon, { outcome: { kind: 'refused', status: 401, at: noon, charge: 0, holdUntil: noon + 5 * minute } }),
    ]);
    expect(paced(uncounted).holds).toMatchObject([{ kind: 'credentials', count: 1 }]);
    const next = refused(401, uncounted, noon, 'second');
    expect(waitOf(next.record, 'invoices', next.now)).toBe(10 * minute);
  });

  test('that came later count, although an earlier request was answered after them', () => {
    const asked = (at: number, answeredAt: number, holdMs: number) =>
      attemptAt(at, {
        outcome: {
          kind: 'refused',
          status: 403,
          code: 'access_denied',
          at: answeredAt,
          charge: 0,
          count: 1,
          holdUntil: answeredAt + holdMs,
        },
      });
    const record = recordWith([
      asked(noon - 3 * second, noon, 10 * minute),
      asked(noon - 2 * second, noon - second, 5 * minute),
    ]);
    expect(waitOf(record)).toBe(10 * minute);
  });

  test('end with a token to the same secret', () => {
    const { record, now } = refused(403, recordWith([]), noon, 'first');
    const after = tried(record, now, { id: 'token' }, issued);
    expect(waitOf(after.record, 'orders', after.now)).toBe(0);
  });
});

test('after a refusal of the client one request at a time shows whether it is accepted again', () => {
  const open = attemptAt(noon - second, { audience: 'stock', until: noon + minute, outcome: undefined });
  const refused = (status: number) =>
    attemptAt(noon - 5 * minute, {
      outcome: {
        ...{ kind: 'refused', status, code: status === 403 ? 'access_denied' : 'invalid_client' },
        ...{ at: noon - 5 * minute, charge: 0, count: 1, holdUntil: noon },
      },
    });
  const waitsUntil = (status: number) => paced(recordWith([refused(status), open]), 'another').waitsUntil;
  expect([401, 403].map(waitsUntil)).toEqual([noon + minute, 0]);
});

describe('renewals', () => {
  test('after 401s are 1, 2, 4 … 60 minutes apart for each audience, and at most their share of the window', () => {
    let state: { record: LedgerRecord; now: number } = { record: recordWith([]), now: noon };
    const waits: number[] = [];
    for (let index = 0; index < 20; index++) {
      const { record, now } = state;
      state = tried({ ...record, tokens: [] }, now, { reason: 'rejected', id: `${index}` }, issued);
      waits.push(Math.round((state.now - now) / minute));
    }
    expect(waits.slice(0, 9)).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60]);
    expect(waitOf(state.record, 'orders', state.now, 'rejected')).toBeGreaterThan(2 * hour);
    expect(waitOf(state.record, 'orders', state.now, 'cold')).toBe(0);
  });

  test('ahead of expiry that bring no later expiry are not repeated before the end of the token', () => {
    const first = tried(recordWith([]), noon, { id: 'first' }, issued);
    const [token] = first.record.tokens;
    const again = tried(first.record, noon + 20 * hour, { id: 'again', reason: 'refresh', cached: token }, (attempt) =>
      issued(attempt, first.now),
    );
    expect(waitOf(again.record, 'orders', again.now, 'refresh')).toBe(first.now + day - minute - again.now);
    expect(waitOf(again.record, 'orders', again.now, 'cold')).toBe(0);
  });
});

describe('an order to try again', () => {
  const order = { id: 'order', by: 'somebody' };

  test('ends the pauses of all, and what fails again goes on with the pause that it had', () => {
    const { record: failed, now } = failures(Array.from({ length: 9 }, () => 'orders'));
    const ordered = withRetry(failed, now, order);
    expect([waitOf(failed, 'orders', now), waitOf(failed, 'invoices', now)]).toEqual([256 * second, 256 * second]);
    expect([waitOf(ordered, 'orders', now), waitOf(ordered, 'invoices', now)]).toEqual([0, 0]);
    const { record, now: after } = tried(ordered, now, { id: 'ordered' }, ambiguous);
    expect(after).toBe(now + second);
    expect(waitOf(record, 'orders', after)).toBe(512 * second);
  });

  test('ends no pause of a request that fails after it', () => {
    const underWay = recordWith([attemptAt(noon, { until: noon + minute, outcome: undefined, streak: 8 })]);
    const ordered = withRetry(underWay, noon + second, order);
    const [attempt] = ordered.attempts as [Attempt];
    const record = settle(ordered, noon + 2 * second, attempt, ambiguous());
    expect(waitOf(record, 'orders', noon + 2 * second)).toBe(256 * second);
  });

  test('ends what the endpoint said, refusals, the spacing after 401s, and the wait of a renewal', () => {
    const told = { kind: 'refused', status: 429, at: noon, charge: 0, toldUntil: noon + hour };
    const refused = { kind: 'refused', status: 401, at: noon, charge: 0, count: 1, holdUntil: noon + 5 * minute };
    const renewed = { kind: 'issued', at: noon, charge: 1, holdUntil: noon + hour };
    const cases: [Partial<Attempt>, IssuanceReason][] = [
      [{ outcome: told }, 'cold'],
      [{ outcome: refused }, 'cold'],
      [{ reason: 'rejected' }, 'rejected'],
      [{ outcome: renewed }, 'refresh'],
    ];
    for (const [fields, reason] of cases) {
      const record = recordWith([attemptAt(noon, fields)]);
      const ordered = withRetry(record, noon, order);
      expect(waitOf(record, 'orders', noon, reason)).toBeGreaterThan(0);
      expect(waitOf(ordered, 'orders', noon, reason)).toBe(0);
    }
  });

  test('does not pass over the share of renewals after 401s', () => {
    const renewals = Array.from({ length: 20 }, (_, index) =>
      attemptAt(noon - 20 * hour + index * minute, { reason: 'rejected' }),
    );
    const ordered = withRetry(recordWith(renewals), noon, order);
    expect(waitOf(ordered, 'orders', noon, 'rejected')).toBeGreaterThan(4 * hour);
  });
});

test('the holds that people see are those of the pace', () => {
  const { record, now } = failures(['orders', 'invoices', 'orders', 'invoices']);
  const holds = holdsOf(record, now, usual);
  for (const audience of ['orders', 'invoices', 'stock']) {
    const mine = holds
      .filter((hold) => hold.audience === undefined || hold.audience === audience)
      .map(({ until }) => until);
    const decision = decide(record, now, queryFor({ audience }), usual);
    if (decision.kind !== 'deny') throw new Error(decision.kind);
    expect(Math.max(...mine)).toBe(decision.denial.retryAt);
  }
});

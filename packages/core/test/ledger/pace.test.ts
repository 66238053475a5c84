import { describe, expect, test } from 'vitest';
import { decide } from '../../src/ledger/decide.ts';
import { holdsOf } from '../../src/ledger/forecast.ts';
import type { IssuanceReason, LedgerRecord } from '../../src/ledger/journal.ts';
import { withRetry } from '../../src/ledger/orders.ts';
import { pace } from '../../src/ledger/pace.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { ambiguous, attemptAt, issued, queryFor, recordWith, tried, unknownAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';

const paced = (record: LedgerRecord, audience = 'orders', now = noon, reason: IssuanceReason = 'cold') =>
  pace(record, now, { audience, keyId: 'key', secretId: 'secret' }, reason, usual);
/** Returns for how long an audience waits for its holds. */
const waitOf = (record: LedgerRecord, audience?: string, now = noon, reason?: IssuanceReason) =>
  Math.max(0, ...paced(record, audience, now, reason).holds.map(({ until }) => until - now));

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
    expect(paced(after.record, 'orders', after.now).carried).toMatchObject({ streak: 0, sinceToken: 0 });
  });

  test('is over when nobody failed for an hour after the next was allowed, and how often it failed is known', () => {
    const { record, now } = failures(['orders', 'orders', 'orders']);
    const soon = paced(record, 'orders', now + hour + 4 * second).carried;
    const later = paced(record, 'orders', now + hour + 4 * second + 1).carried;
    expect([soon.streak, later.streak, later.sinceToken]).toEqual([3, 0, 3]);
  });
});

describe('other audiences', () => {
  test('do not wait for the streak of one', () => {
    const { record, now } = failures(['orders', 'orders', 'orders', 'orders']);
    expect(waitOf(record, 'invoices', now)).toBe(0);
  });

  test('wait with all if two failed, ten minutes at most, and those that failed take turns', () => {
    const { record, now } = failures(
      Array.from({ length: 26 }, (_, index) => ['orders', 'invoices'][index % 2] as string),
      noon - 12 * hour,
    );
    expect(waitOf(record, 'stock', now)).toBe(10 * minute);
    const [orders, invoices] = [waitOf(record, 'orders', now), waitOf(record, 'invoices', now)];
    expect(Math.min(orders, invoices)).toBeGreaterThan(10 * minute);
    expect(Math.max(orders, invoices)).toBeLessThanOrEqual(20 * minute);
    expect(orders).not.toBe(invoices);
  });

  test('ask one at a time while two fail, and a quarter of the usable tokens at a time otherwise', () => {
    const open = attemptAt(noon - second, { id: 'open', audience: 'stock', until: noon + minute, outcome: undefined });
    const healthy = recordWith([open]);
    expect(paced(healthy, 'invoices').waitsUntil).toBe(0);
    const failed = [
      attemptAt(noon - hour, { ...unknownAt(noon - hour), audience: 'orders' }),
      attemptAt(noon - hour + 1, { ...unknownAt(noon - hour), audience: 'invoices' }),
    ];
    expect(paced(recordWith([...failed, open]), 'another').waitsUntil).toBe(noon + minute);
    const many = Array.from({ length: 30 }, (_, index) => ({
      ...open,
      id: `open ${index}`,
      audience: `${index}`,
      generation: noon + index,
    }));
    expect(paced(recordWith(many.slice(1)), 'another').waitsUntil).toBe(0);
    expect(paced(recordWith(many), 'another').waitsUntil).toBe(noon + minute);
  });

  test('of those that failed, the one that had a token comes first, then the one that failed less often', () => {
    const failed = (audience: string, sinceToken: number, at: number) =>
      attemptAt(at, { id: `${audience} ${at}`, audience, streak: 9, fleetStreak: 9, sinceToken, ...unknownAt(at) });
    const record = recordWith([
      attemptAt(noon - day, { audience: 'had one' }),
      failed('had one', 9, noon - 3 * second),
      failed('seldom', 1, noon - 2 * second),
      failed('often', 9, noon - second),
    ]);
    const waits = ['had one', 'seldom', 'often'].map((audience) => waitOf(record, audience));
    expect(waits).toEqual([...waits].sort((a, b) => a - b));
    expect(new Set(waits).size).toBe(3);
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

describe('an outage', () => {
  test('takes a quarter freely, then one in 4 spans by usable, and from three eighths on one in 110 minutes', () => {
    const spread = (count: number) =>
      recordWith(
        Array.from({ length: count }, (_, index) =>
          attemptAt(noon - hour - count + index, { id: `${index}`, ...unknownAt(noon - hour), streak: 5 }),
        ),
      );
    const from = (count: number) =>
      pace(spread(count), noon - hour + second, { audience: 'orders', keyId: 'key', secretId: 'secret' }, 'cold', {
        ...usual,
      }).probesUntil;
    // The probe is allowed 15 minutes after the failure.
    const later = (count: number) =>
      Math.max(0, paced(spread(count), 'orders', noon - hour + 15 * minute).probesUntil - (noon - hour));
    expect([from(29), later(29), later(30), later(44), later(45)]).toEqual([
      0,
      0,
      54 * minute,
      54 * minute,
      108 * minute,
    ]);
  });

  test('allows a probe after 15 minutes, and none any more when one was answered in vain', () => {
    const attempts = Array.from({ length: 31 }, (_, index) =>
      attemptAt(noon - minute + index, { id: `${index}`, ...unknownAt(noon - minute), streak: 5 }),
    );
    const record = recordWith(attempts);
    expect(waitOf(record)).toBe(14 * minute);
    const { record: probed, attempt, now } = tried(record, noon, { id: 'probed' }, ambiguous);
    expect(attempt.probed).toBe(true);
    expect(waitOf(probed, 'orders', now)).toBeGreaterThan(50 * minute);
    const unanswered = settle(
      { ...record, attempts: [...attempts, { ...attempt, outcome: undefined }] },
      now,
      attempt,
      { kind: 'released', cause: 'unreachable' },
    );
    expect(waitOf(unanswered, 'orders', now)).toBe(15 * minute);
    // A probe that is issued a token shows that the endpoint works. The request follows without another one.
    const cost = {
      ...probed,
      attempts: probed.attempts.map((each) =>
        each.id === 'probed' ? { ...each, outcome: { kind: 'unsent', at: now, charge: 1 } } : each,
      ),
    };
    expect(waitOf(cost, 'orders', now)).toBe(0);
    expect(paced(cost, 'orders', now).probesUntil).toBe(0);
    // A further failure is not followed by a probe, which would cost another token.
    const again = tried(cost, now, { id: 'again' }, ambiguous);
    expect(waitOf(again.record, 'orders', again.now)).toBeGreaterThan(50 * minute);
  });

  test('in which two audiences failed lets the others ask after ten minutes, while less than three eighths is unknown', () => {
    const outage = (count: number, fields: object = {}) =>
      recordWith(
        Array.from({ length: count }, (_, index) =>
          attemptAt(noon - minute - second + index, {
            id: `${index}`,
            audience: ['orders', 'invoices'][index % 2] as string,
            ...unknownAt(noon - minute),
            streak: 20,
            fleetStreak: 40,
            ...fields,
          }),
        ),
      );
    const probeOf = (record: LedgerRecord, audience: string) => {
      const { carried } = paced(record, audience, noon + 40 * minute);
      return [waitOf(record, audience) / minute, carried.probed];
    };
    expect(probeOf(outage(31), 'stock')).toEqual([9, true]);
    expect(probeOf(outage(31, { streak: 0, fleetStreak: 0 }), 'stock')).toEqual([9, true]);
    expect(waitOf(outage(31), 'orders')).toBeGreaterThan(9 * minute);
    expect(waitOf(outage(31), 'orders')).toBeLessThanOrEqual(14 * minute);
    // A probe was answered, and the request after it failed: those that failed wait for the budget, the others only from three eighths on.
    const vain = { fleetInVain: true };
    expect(probeOf(outage(44, vain), 'stock')).toEqual([9, true]);
    expect(probeOf(outage(45, vain), 'stock')[0]).toBe(107);
    expect(waitOf(outage(31, vain), 'orders')).toBeGreaterThan(50 * minute);
  });

  test('of a young record leaves half of the little that it may issue', () => {
    const attempts = Array.from({ length: 8 }, (_, index) =>
      attemptAt(noon + index, { id: `${index}`, ...unknownAt(noon), streak: 9 }),
    );
    const record = recordWith(attempts, { completeSince: noon });
    expect(paced(record, 'orders', noon + 20 * minute).probesUntil).toBe(noon + 7 + 216 * minute - 7);
    expect(paced({ ...record, completeSince: noon - 30 * day }, 'orders', noon + 20 * minute).probesUntil).toBe(0);
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
    expect(waits).toEqual([5, 10, 15, 15].map((minutes) => minutes * minute));
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
    expect(waitOf(next.record, 'orders', next.now)).toBe(10 * minute);
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
  const { record: failed, now } = failures(Array.from({ length: 10 }, () => 'orders'));
  const ordered = withRetry(failed, now, { id: 'order', by: 'somebody' });

  test('lets one attempt pass over the holds, and the next one waits again', () => {
    expect(waitOf(ordered, 'orders', now)).toBe(0);
    const { record, now: after } = tried(ordered, now, { id: 'ordered' }, ambiguous);
    expect(after).toBe(now + second);
    expect(waitOf(record, 'orders', after)).toBeGreaterThan(8 * minute);
  });

  test('is given back by an attempt that was not sent, and ends after a quarter of an hour', () => {
    const { record, now: after } = tried(ordered, now, { id: 'ordered' }, () => ({ kind: 'unsent' }));
    expect(waitOf(record, 'orders', after)).toBe(0);
    expect(waitOf(ordered, 'orders', now + 15 * minute)).toBe(0);
    const spared = withRetry(
      recordWith(
        Array.from({ length: 40 }, (_, index) =>
          attemptAt(noon + index, { id: `${index}`, ...unknownAt(noon), streak: 9 }),
        ),
      ),
      noon + second,
      { id: 'order', by: 'somebody' },
    );
    expect(waitOf(spared, 'orders', noon + second)).toBe(0);
    expect(paced(spared, 'orders', noon + second).probesUntil).toBeGreaterThan(noon);
  });

  test('whose attempt brings a token ends the failures and refusals of all', () => {
    const others = failures(['orders', 'invoices', 'orders', 'invoices']);
    const told = withRetry(others.record, others.now, { id: 'order', by: 'somebody' });
    const { record, now: after } = tried(told, others.now, { id: 'ordered', audience: 'stock' }, issued);
    expect([waitOf(record, 'orders', after), waitOf(record, 'invoices', after)]).toEqual([0, 0]);
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

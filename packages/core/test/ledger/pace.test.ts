import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import { limitsFor } from '../../src/ledger/limits.ts';
import { isOfCredentials } from '../../src/ledger/oauth-error.ts';
import { withRetry } from '../../src/ledger/orders.ts';
import { allHolds, type Hold, holdsOf, isAlone, lastOf, mostUnderWay, waitedFor } from '../../src/ledger/pace.ts';
import { present } from '../../src/ledger/present.ts';
import type { IssuanceReason, LedgerRecord, Spent } from '../../src/ledger/record.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  ambiguous,
  issued,
  issuedAt,
  openAt,
  recordWith,
  refused,
  several,
  situationOf,
  statedBy,
  type Tried,
  tokenWith,
  tried,
  unknownAt,
  unreachable,
  usual,
} from './support/records.ts';

const callerOf = (name: string) => ({ name, keyId: 'key', secretId: 'secret' });
/** What holds up a token, and for how long. */
function holds(
  record: LedgerRecord,
  name = 'orders',
  now = noon,
  reason: IssuanceReason = 'cold',
): [Hold['kind'], number][] {
  return holdsOf(situationOf(record), callerOf(name), reason)
    .filter(({ until }) => until > now)
    .map(({ kind, until }) => [kind, until - now]);
}
const waitOf = (record: LedgerRecord, name?: string, now?: number, reason?: IssuanceReason) =>
  Math.max(0, ...holds(record, name, now, reason).map(([, ms]) => ms));

/** Failures in a row, one after the other. Each asks as soon as it may. */
function failures(names: readonly string[], from = noon - hour, answer = ambiguous): Tried {
  let state: Pick<Tried, 'record' | 'now'> = { record: recordWith([]), now: from };
  for (const [index, name] of names.entries())
    state = tried(state.record, state.now, { name, id: `failed ${index}` }, answer);
  return state as Tried;
}

describe('back-off', () => {
  const rows = (count: number, answer?: typeof ambiguous) =>
    failures(
      several(count, () => 'orders'),
      noon - 12 * hour,
      answer,
    );

  test('of a token that failed doubles with each failure in a row, 15 minutes at most', () => {
    const pauses = several(12, (index) => {
      const { record, now } = rows(index + 1);
      return waitOf(record, 'orders', now) / second;
    });
    expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  test('holds up all after requests of unknown outcome in a row, five minutes at most', () => {
    const waits = [1, 2, 3, 9, 14].map((count) => {
      const { record, now } = rows(count);
      return waitOf(record, 'invoices', now) / second;
    });
    expect(waits).toEqual([1, 2, 4, 256, 300]);
  });

  test('holds up no other token after requests that never reached the endpoint', () => {
    const { record, now } = rows(10, unreachable);
    expect([waitOf(record, 'invoices', now), waitOf(record, 'orders', now) / second]).toEqual([0, 512]);
    expect(record.spent).toEqual([]);
  });

  test('ends with a token, for all if nobody but this one failed', () => {
    const { record, now } = rows(9);
    const other = tried(record, now, { name: 'stock', id: 'token' }, issued);
    expect([waitOf(other.record, 'invoices', other.now), waitOf(other.record, 'orders', other.now)]).toEqual([0, 0]);
    expect(tried(other.record, other.now, { id: 'next' }, ambiguous).record.lost?.count).toBe(1);
    // From that moment on, however short the pause would be.
    expect(waitOf(recordWith([], { lost: { count: 0, at: noon, kind: 'unknown' } }))).toBe(0);
    const own = tried(record, now, { id: 'token' }, issued);
    expect([waitOf({ ...own.record, tokens: [] }, 'orders', own.now), own.record.states['orders']?.failures]).toEqual([
      0,
      undefined,
    ]);
  });

  test.each([
    ['a failure', ambiguous, 'backoff'],
    ['a request that never reached the endpoint', unreachable, 'backoff'],
  ])('says what came of the last request: %s', (_, answer, kind) => {
    const { record, now } = rows(2, answer);
    expect(
      holdsOf(situationOf(record), callerOf('orders'), 'cold').find((hold) => hold.name === 'orders'),
    ).toMatchObject({
      kind,
      count: 2,
      last: { at: now },
    });
  });

  test('after the death of a process begins at its request, and others waited for it meanwhile', () => {
    const waits = [1, 6, 7, 9].map((count) => {
      const { record } = failures(
        several(count - 1, () => 'orders'),
        noon - hour,
      );
      const open = { ...record, spent: [...record.spent, openAt(noon, { generation: noon + 1 })] };
      const { record: whole } = present(open, undefined, noon + 40 * second, 'another record');
      return holds(whole, 'orders', noon + 40 * second).find(([kind]) => kind === 'deaths')?.[1] ?? 0;
    });
    expect(waits).toEqual([0, 0, 24 * second, 216 * second]);
  });
});

test('sparing begins when an eighth of the usable tokens is lost', () => {
  const lost = (count: number) =>
    recordWith(
      several(count, (index) => unknownAt(noon - count + index + 1)),
      {
        lost: { count: 9, at: noon, kind: 'unknown' },
        states: { orders: { failures: { count: 9, at: noon, kind: 'unknown' } } },
      },
    );
  const minutes = (count: number, name: string) => Math.round(waitOf(lost(count), name) / minute);
  expect([14, 15, 45].map((count) => minutes(count, 'orders'))).toEqual([4, 19, 76]);
  expect([14, 15, 45, 59].map((count) => minutes(count, 'another'))).toEqual([4, 4, 4, 60]);
});

describe('requests under way', () => {
  const open = (count: number, fields: Partial<Spent> = {}) =>
    several(count, (index) => {
      const id = `open ${index}`;
      return openAt(noon - second, { id, name: id, generation: noon + index, until: noon + minute + index, ...fields });
    });
  const waitsFor = (record: LedgerRecord, name = 'another', now = noon) =>
    waitedFor(situationOf(record, now), callerOf(name)).length;

  test('are an eighth of the usable tokens', () => {
    expect([0, 1, 14, 15].map((count) => waitsFor(recordWith(open(count))))).toEqual([0, 0, 0, 15]);
    expect(waitsFor(recordWith(open(15)), 'another', noon + minute)).toBe(0);
  });

  test('are 256 at most, and one at least', () => {
    const mostWith = (tokens: number) =>
      mostUnderWay(situationOf(recordWith([]), noon, limitsFor([{ tokens, windowMs: day }], 0, 'durable')));
    expect([1, 15, 80, 1_000_000].map(mostWith)).toEqual([1, 1, 10, 256]);
    expect(mostUnderWay(situationOf(recordWith([]), noon, { ...usual, terms: [] }))).toBe(256);
  });

  test('are fewer while others state a smaller limit', () => {
    const limits = [statedBy('other', { tokens: 16, windowMs: day, reserve: 0 }, noon)];
    const most = (now: number) => mostUnderWay(situationOf(recordWith([], { limits }), now));
    expect([most(noon), most(noon + hour)]).toEqual([2, 15]);
  });

  test('are one for a token that failed, and for all after a request of unknown outcome', () => {
    const states = { orders: { failures: { count: 1, at: noon - hour, kind: 'unreached' as const } } };
    const unreached = recordWith(open(1), { states });
    expect([waitsFor(unreached, 'orders'), waitsFor(unreached)]).toEqual([1, 0]);
    const lost = recordWith(open(1), { lost: { count: 1, at: noon - hour, kind: 'unknown' } });
    expect(waitsFor(lost)).toBe(1);
    expect(waitsFor(recordWith(open(1), { lost: { count: 0, at: noon - hour, kind: 'unknown' } }))).toBe(0);
  });

  test('are one after a refusal of the client, which shows whether it is accepted again', () => {
    const after = (status: number) =>
      tried(recordWith([]), noon - hour, {}, refused(status, { oauthError: 'other' })).record;
    expect([401, 403].map((status) => isAlone(after(status), callerOf('another')))).toEqual([true, false]);
    expect(isAlone(after(401), { ...callerOf('another'), secretId: 'another secret' })).toBe(false);
  });

  test('are as many as ever two days after the last failure', () => {
    const { record, now } = failures(['orders', 'orders']);
    const aloneAfter = (ms: number) => {
      const later = compact(situationOf(record, now + ms));
      return [isAlone(later, callerOf('orders')), isAlone(later, callerOf('another'))];
    };
    expect([2 * day, 2 * day + 1].map(aloneAfter)).toEqual([
      [true, true],
      [false, false],
    ]);
  });
});

describe('what the endpoint says', () => {
  test.each([
    [429, undefined, 'rate_limited', 'rate_limited'],
    [400, undefined, 'rate_limited', 'rate_limited'],
    [400, 'temporarily_unavailable', 'unavailable', 'backoff'],
  ] as const)('with %i %s holds for all, whatever token arrives', (status, oauthError, cause, held) => {
    const told = refused(status, { cause, oauthError, retryAfterMs: hour });
    const underWay = openAt(noon - minute, { name: 'stock' });
    const { record, now } = tried(recordWith([underWay]), noon - 30 * second, {}, told);
    expect(holds(record, 'invoices', now)).toEqual([[held, hour]]);
    const settled = settle(record, now + second, underWay, issued(underWay, now + second));
    expect(holds(settled, 'invoices', now)).toEqual([[held, hour]]);
    expect(
      holdsOf(situationOf(record), callerOf('invoices'), 'cold').find(({ kind }) => kind === held)?.last,
    ).toMatchObject({
      status,
      at: now,
    });
  });

  test('with a failure holds for all, too', () => {
    const { record, now } = tried(recordWith([]), noon, {}, () => ({
      kind: 'ambiguous',
      status: 503,
      retryAfterMs: hour,
    }));
    expect(holds(record, 'invoices', now)).toContainEqual(['backoff', hour]);
  });
});

describe('refusals', () => {
  test('in a row hold for 5, 10, 15 minutes', () => {
    let state = tried(recordWith([]), noon, { id: 'first' }, refused(403, { oauthError: 'access_denied' }));
    const waits = [waitOf(state.record, 'orders', state.now)];
    for (const id of ['second', 'third', 'fourth']) {
      state = tried(state.record, state.now, { id }, refused(403, { oauthError: 'access_denied' }));
      waits.push(waitOf(state.record, 'orders', state.now));
    }
    expect(waits.map((ms) => ms / minute)).toEqual([5, 10, 15, 15]);
  });

  test('are about this token, or about the client, or about the address', () => {
    const kinds = (status: number, caller: object) => {
      const { record, now } = tried(
        recordWith([]),
        noon,
        {},
        refused(status, status === 403 ? { oauthError: 'other' } : {}),
      );
      return holdsOf(situationOf(record), { ...callerOf('orders'), ...caller }, 'cold')
        .filter(({ until }) => until > now)
        .map(({ kind, name }) => [kind, name]);
    };
    const [other, another] = [{ name: 'invoices' }, { secretId: 'another' }];
    expect([kinds(403, {}), kinds(403, other), kinds(403, another)]).toEqual([[['credentials', 'orders']], [], []]);
    expect([kinds(401, {}), kinds(401, other), kinds(401, another)]).toEqual([
      [['credentials', 'orders']],
      [['credentials', 'orders']],
      [],
    ]);
    expect([kinds(404, {}), kinds(404, other), kinds(404, another)]).toEqual([
      [['misconfigured', 'orders']],
      [],
      [['misconfigured', 'orders']],
    ]);
  });

  test('are about the credentials only if an authorization server said so', () => {
    const answers = [{ status: 401 }, { status: 403 }, { status: 403, code: 'other' }, { code: 'other' }] as const;
    expect(answers.map(isOfCredentials)).toEqual([true, false, true, false]);
  });

  test('say who was refused, and why', () => {
    const { record, now } = tried(
      recordWith([]),
      noon,
      { instance: 'replica 2' },
      refused(401, { oauthError: 'invalid_client' }),
    );
    expect(allHolds(situationOf(record))).toMatchObject([
      {
        kind: 'credentials',
        until: now + 5 * minute,
        count: 1,
        last: { status: 401, code: 'invalid_client', at: now },
        refused: { instance: 'replica 2', keyId: 'key' },
      },
    ]);
  });

  test('end with a token to the same secret', () => {
    const { record, now } = tried(recordWith([]), noon, {}, refused(403, { oauthError: 'other' }));
    const after = tried(record, now, { id: 'token' }, issued);
    expect(waitOf(after.record, 'orders', after.now)).toBe(0);
  });
});

describe('renewals', () => {
  const rejected = (state: Pick<Tried, 'record' | 'now'>, id: string, died = false): Tried =>
    tried({ ...state.record, tokens: [] }, state.now, { reason: 'rejected', id, died }, issued);

  test('after 401s are 1, 2, 4 … 60 minutes apart for each token, and at most their share of the window', () => {
    let state: Pick<Tried, 'record' | 'now'> = { record: recordWith([]), now: noon };
    const waits = several(12, (index) => {
      const from = state.now;
      state = rejected(state, `${index}`);
      return Math.round((state.now - from) / minute);
    });
    expect(waits).toEqual([0, 1, 2, 4, 8, 16, 32, 60, 60, 60, 60, 60]);
    const share = several(40, (index) => issuedAt(noon - index * second, { id: `${index}`, reason: 'rejected' }));
    expect(waitOf(recordWith(share), 'orders', noon, 'rejected')).toBeGreaterThan(25 * hour);
    expect(waitOf(recordWith(share.slice(1)), 'orders', noon, 'rejected')).toBe(0);
    expect(waitOf(recordWith(share), 'orders', noon, 'cold')).toBe(0);
  });

  test('of a token that died come at once, and end the row', () => {
    let state: Pick<Tried, 'record' | 'now'> = { record: recordWith([]), now: noon };
    for (const id of ['first', 'second', 'third']) state = rejected(state, id);
    const waits = ['fourth', 'fifth'].map((id) => {
      const from = state.now;
      state = rejected(state, id, true);
      return state.now - from;
    });
    expect(waits).toEqual([second, second]);
    expect(state.record.states['orders']?.rejections).toBeUndefined();
    expect(state.record.spent.map(({ died }) => died)).toEqual([undefined, undefined, undefined, true, true]);
    const share = several(40, (index) => issuedAt(noon - index, { id: `${index}`, reason: 'rejected', died: true }));
    const caller = { ...callerOf('orders'), died: true };
    const until = Math.max(...holdsOf(situationOf(recordWith(share)), caller, 'rejected').map((hold) => hold.until));
    expect(until).toBeGreaterThan(noon + 25 * hour);
  });

  test('ahead of expiry that bring no later expiry are not repeated before the end of the token', () => {
    const first = tried(recordWith([]), noon, { id: 'first' }, issued);
    const [token] = first.record.tokens;
    const again = tried(first.record, noon + 20 * hour, { id: 'again', reason: 'refresh', cached: token }, (reserved) =>
      issued(reserved, first.now),
    );
    expect(waitOf(again.record, 'orders', again.now, 'refresh')).toBe(first.now + day - minute - again.now);
    expect(waitOf(again.record, 'orders', again.now, 'cold')).toBe(0);
  });
});

describe('an order to try again', () => {
  const order = { id: 'order', by: 'somebody' };

  test('ends the pauses of all, and what fails again goes on with the pause that it had', () => {
    const { record: failed, now } = failures(several(9, () => 'orders'));
    const ordered = withRetry(failed, now, order);
    expect([waitOf(failed, 'orders', now), waitOf(failed, 'invoices', now)]).toEqual([256 * second, 256 * second]);
    expect([waitOf(ordered, 'orders', now), waitOf(ordered, 'invoices', now)]).toEqual([0, 0]);
    const { record, now: after } = tried(ordered, now, { id: 'ordered' }, ambiguous);
    expect(after).toBe(now + second);
    expect(waitOf(record, 'orders', after)).toBe(512 * second);
  });

  test('ends no pause of a request that fails after it', () => {
    const states = { orders: { failures: { count: 8, at: noon - hour, kind: 'unknown' as const } } };
    const ordered = withRetry(recordWith([openAt(noon)], { states }), noon + 2 * second, order);
    const record = settle(ordered, noon + 2 * second, openAt(noon), ambiguous());
    expect(waitOf(record, 'orders', noon + 2 * second)).toBe(256 * second + 1);
  });

  test('ends what the endpoint said, refusals, the spacing after 401s, and the wait of a renewal', () => {
    const refusal = { count: 1, at: noon, status: 401, name: 'orders', keyId: 'key', instance: 'process' };
    const cases: [Partial<LedgerRecord>, IssuanceReason][] = [
      [{ later: { until: noon + hour, at: noon, kind: 'refused', status: 429 } }, 'cold'],
      [{ refusals: { secret: refusal } }, 'cold'],
      [{ states: { orders: { refusals: { secret: refusal } } } }, 'cold'],
      [{ states: { orders: { rejections: { count: 1, at: noon } } } }, 'rejected'],
      [{ tokens: [tokenWith({ renewAfter: noon + hour })] }, 'refresh'],
    ];
    for (const [fields, reason] of cases) {
      const record = recordWith([], fields);
      expect(waitOf(record, 'orders', noon, reason)).toBeGreaterThan(0);
      expect(waitOf(withRetry(record, noon, order), 'orders', noon, reason)).toBe(0);
    }
  });

  test('ends a pause that begins a moment after it, because outcomes are settled by a clock that may be ahead', () => {
    const pausesAt = (at: number): Partial<LedgerRecord>[] => {
      const refusal = { count: 1, at, status: 401, name: 'orders', keyId: 'key', instance: 'process' };
      const failures = { count: 8, at, kind: 'unknown' as const };
      return [
        { lost: failures },
        { refusals: { secret: refusal } },
        { states: { orders: { failures } } },
        { states: { orders: { refusals: { secret: refusal } } } },
        { states: { orders: { rejections: { count: 1, at } } } },
      ];
    };
    const waitAfter = (fields: Partial<LedgerRecord>) =>
      waitOf(withRetry(recordWith([], fields), noon, order), 'orders', noon, 'rejected');
    expect(pausesAt(noon + second).map(waitAfter)).toEqual([0, 0, 0, 0, 0]);
    for (const fields of pausesAt(noon + second + 1)) expect(waitAfter(fields)).toBeGreaterThan(0);
  });

  test('does not pass over the share of renewals after 401s', () => {
    const renewals = several(40, (index) => issuedAt(noon - 20 * hour + index * minute, { reason: 'rejected' }));
    const ordered = withRetry(recordWith(renewals), noon, order);
    expect(waitOf(ordered, 'orders', noon, 'rejected')).toBeGreaterThan(4 * hour);
  });
});

test('of holds that end at once, the first one decides', () => {
  const one: Hold = { kind: 'limit', until: noon, count: 0 };
  const other: Hold = { kind: 'backoff', until: noon, count: 1 };
  expect([lastOf([one, other]), lastOf([other, one])]).toEqual([one, other]);
});

test('the holds that people see are those of the pace, each once', () => {
  const failed = failures(['orders', 'invoices', 'orders', 'invoices']);
  const { record: before, now } = tried(failed.record, failed.now, { name: 'stock', id: 'refused' }, refused(404));
  const renewAfter = now + hour;
  const record = { ...before, tokens: [tokenWith({ name: 'renewed', renewAfter })] };
  const seen = allHolds(situationOf(record)).filter(({ until }) => until > now);
  expect(seen.map(({ until }) => until)).toEqual(seen.map(({ until }) => until).sort((a, b) => a - b));
  expect(new Set(seen.map((hold) => JSON.stringify(hold))).size).toBe(seen.length);
  for (const name of ['orders', 'invoices', 'stock', 'new']) {
    const mine = seen.filter((hold) => hold.name === undefined || hold.name === name).map(({ until }) => until - now);
    expect(Math.max(0, ...mine)).toBe(waitOf(record, name, now));
  }
  expect(seen).toContainEqual({ kind: 'renewal', until: renewAfter, name: 'renewed', count: 1 });
});

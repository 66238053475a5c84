import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import { leavesAt, roomsIn, tightest } from '../../src/ledger/count.ts';
import { limitsFor } from '../../src/ledger/limits.ts';
import { holdsOf } from '../../src/ledger/pace.ts';
import { united } from '../../src/ledger/present.ts';
import { type IssuanceReason, isOneRequest, type LedgerRecord, type Spent } from '../../src/ledger/record.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import { anyRecord, names } from './support/any-record.ts';
import {
  issuedAt,
  oneWindow,
  openAt,
  recordWith,
  refusedAt,
  seed,
  several,
  situationOf,
  statedBy,
  termOf,
  tokenWith,
  unknownAt,
  used,
  usual,
} from './support/records.ts';

const compacted = (record: LedgerRecord, now = noon) => compact(situationOf(record, now));
const requests = limitsFor([{ tokens: 150, windowMs: day, counts: 'requests' }], undefined, 'durable');
const sumsOf = ({ spent }: LedgerRecord) => spent.filter((one) => !isOneRequest(one));

describe('requests', () => {
  test('of more than 200, the oldest become sums of a quarter of an hour, and 150 stay', () => {
    const rows = several(201, (index) => issuedAt(noon - 10 * hour + index * minute));
    expect(compacted(recordWith(rows.slice(1)))).toEqual(recordWith(rows.slice(1)));
    const { spent } = compacted(recordWith(rows));
    expect(spent.slice(4)).toEqual(rows.slice(51));
    const ends = spent.slice(0, 4).map(({ id, tokens }) => [rows.findIndex((row) => row.id === id), tokens]);
    expect(ends).toEqual([
      [4, 5],
      [20, 16],
      [36, 16],
      [50, 14],
    ]);
    expect(spent[0]).toMatchObject({ at: rows[4]?.at, issuedAt: rows[4]?.at, generation: rows[4]?.generation });
  });

  test('of a long window become sums of its hundredths', () => {
    const rows = several(400, (index) => issuedAt(noon - 20 * day + index * hour));
    const { spent } = compact(situationOf(recordWith(rows), noon, oneWindow(1_000, 30 * day)));
    expect(spent.length).toBeLessThan(150 + 250 / 7 + 2);
    expect(used({ ...recordWith(spent) }, noon, oneWindow(1_000, 30 * day))).toBe(400);
  });

  test('that renew after 401s become sums of their own, because each window has a share for them', () => {
    const rows = several(210, (index) =>
      issuedAt(noon - 10 * hour + index, { reason: index % 2 ? 'rejected' : 'cold' }),
    );
    expect(sumsOf(compacted(recordWith(rows))).map(({ reason, tokens }) => [reason, tokens])).toEqual([
      ['several', 30],
      ['rejected', 30],
    ]);
  });

  test('become sums by what came of them, and no sum changes again', () => {
    const rows = several(210, (index) => {
      const at = noon - 10 * hour + index;
      return [issuedAt, unknownAt, refusedAt][index % 3]?.(at) ?? issuedAt(at);
    });
    const record = compact(situationOf(recordWith(rows), noon, requests));
    expect(sumsOf(record).map(({ tokens }) => tokens)).toEqual([20, 20, 20]);
    expect([used(record, noon, usual), used(record, noon, requests)]).toEqual([140, 210]);
    const more = several(60, (index) => issuedAt(noon + index));
    const next = compact(situationOf({ ...record, spent: [...record.spent, ...more] }, noon + minute, requests));
    expect(sumsOf(next).slice(0, 3)).toEqual(sumsOf(record));
  });

  test('stay one by one from the first one on that is under way', () => {
    const rows = several(300, (index) => issuedAt(noon - 3 * hour + index * second));
    const open = rows.map((one, index) => (index === 20 ? { ...one, until: noon + 1, issuedAt: undefined } : one));
    const { spent } = compacted(recordWith(open));
    expect(spent.filter(({ reason }) => reason === 'cold')).toHaveLength(280);
    const first = [openAt(noon - hour, { until: noon + 1 }), ...rows.slice(0, 299)];
    expect(sumsOf(compacted(recordWith(first.map((one, index) => ({ ...one, generation: index })))))).toEqual([]);
  });

  test('that have left all windows become one sum for each day, and are dropped after eight days', () => {
    const rows = several(30, (index) => issuedAt(noon - 9 * day + index * 7 * hour));
    const record = compacted(recordWith(rows));
    const gone = rows.filter(({ at }) => at <= noon - 8 * day);
    const past = rows.filter(({ at }) => at > noon - 8 * day && Math.floor(at / day + 1) * day + 27 * hour < noon);
    expect(sumsOf(record).reduce((sum, { tokens = 0 }) => sum + tokens, 0)).toBe(past.length);
    expect(sumsOf(record).length).toBe(new Set(past.map(({ at }) => Math.floor(at / day))).size);
    expect(record.completeSince).toBe((gone.at(-1)?.at ?? 0) + 1);
    // They count from when their tokens arrived.
    const late = issuedAt(noon - 8 * day - 1, { issuedAt: noon - 8 * day + 1 });
    expect(sumsOf(compacted(recordWith([late])))).toMatchObject([{ tokens: 1 }]);
  });

  test('that are dropped make a window new that is longer than what was kept', () => {
    expect(compacted(recordWith([issuedAt(noon - 7 * day)])).completeSince).toBe(noon - 30 * day);
    const record = compacted(recordWith([issuedAt(noon - 9 * day)]));
    expect(record.spent).toEqual([]);
    expect(tightest(roomsIn(situationOf(record, noon, oneWindow(150, 20 * day)), 'cold'))).toMatchObject({ room: 28 });
  });

  test('that were refused are dropped, unless requests count', () => {
    const many = several(40, (index) => refusedAt(noon - hour + index));
    expect(compacted(recordWith(many)).spent).toEqual([]);
    expect(compact(situationOf(recordWith(many), noon, requests)).spent).toHaveLength(40);
    const limits = [statedBy('other', { ...termOf(usual), counts: 'requests' }, noon)];
    expect(compacted(recordWith(many, { limits })).spent).toHaveLength(40);
  });

  test('that caused renewals after 401s have their share of the window, though later tokens made them old', () => {
    const limits = oneWindow(300);
    const { rejectedShare } = termOf(limits);
    const renewals = several(rejectedShare, (index) => {
      return issuedAt(noon - 20 * hour + index * minute, { reason: 'rejected' });
    });
    const record = recordWith([...renewals, ...several(150, (index) => issuedAt(noon - hour + index * second))]);
    const next = compact(situationOf(record, noon, limits));
    expect(next.spent.slice(0, -150).map(({ reason }) => reason)).toEqual(several(6, () => 'rejected'));
    const untilIn = (one: LedgerRecord) => {
      const holds = holdsOf({ record: one, limits }, { name: 'orders', keyId: 'key', secretId: 'secret' }, 'rejected');
      return holds.find(({ kind }) => kind === 'rejections')?.until ?? 0;
    };
    expect(untilIn(record)).toBe(leavesAt(renewals[0] as Spent, termOf(limits)));
    expect(untilIn(next) - untilIn(record)).toBeGreaterThanOrEqual(0);
    expect(untilIn(next) - untilIn(record)).toBeLessThan(17 * minute);
  });
});

test('copies of a record that are compacted at different times count each token when they are united', () => {
  const record = recordWith(several(250, (index) => issuedAt(noon - hour - index * 2 * minute, { name: 'stock' })));
  const copies = [compacted(record), compacted(record, noon + 7 * minute), record];
  for (const one of copies) for (const other of copies) expect(used(united(one, other, noon), noon, usual)).toBe(250);
});

describe('what paces', () => {
  const row = (at: number) => ({ count: 1, at });
  const failures = (at: number) => ({ ...row(at), kind: 'unknown' as const });
  const refusals = (at: number) => ({
    secret: { ...row(at), status: 401, name: 'orders', keyId: 'key', instance: 'process' },
  });

  test('is forgotten two days after the last failure', () => {
    const {
      states,
      refusals: ofClient,
      lost,
    } = compacted(
      recordWith([], {
        states: {
          old: { failures: failures(noon - 2 * day - 1), refusals: refusals(noon - 2 * day - 1), rejections: row(1) },
          young: { failures: failures(noon - 2 * day), refusals: refusals(noon - 2 * day), rejections: row(noon) },
        },
        refusals: { ...refusals(noon - 2 * day), another: { ...refusals(1).secret } },
        lost: failures(noon - 2 * day - 1),
      }),
    );
    expect(states).toEqual({
      young: { failures: failures(noon - 2 * day), refusals: refusals(noon - 2 * day), rejections: row(noon) },
    });
    expect(Object.keys(ofClient)).toEqual(['secret']);
    // When a token was lost last goes on sparing the others.
    expect(lost).toEqual({ ...failures(noon - 2 * day - 1), count: 0 });
    expect(compacted(recordWith([], { lost: failures(noon - 2 * day) })).lost).toEqual(failures(noon - 2 * day));
  });

  test('is a time that was told until that has passed', () => {
    const later = { until: noon + 1, at: noon, kind: 'refused' as const };
    expect(compacted(recordWith([], { later })).later).toEqual(later);
    expect(compacted(recordWith([], { later }), noon + 1).later).toBeUndefined();
  });

  test('is a reset until no token of that time can live any more', () => {
    const month = 31 * day;
    const states = { orders: { resetUpTo: noon - month, resetHash: 'hash' }, stock: { resetUpTo: noon - month + 1 } };
    expect(compacted(recordWith([], { states })).states).toEqual({ stock: { resetUpTo: noon - month + 1 } });
  });
});

test('a token is kept until a day after its expiry, and 20 notes of each kind are', () => {
  const tokens = [tokenWith({ expiresAt: noon - day }), tokenWith({ keyId: 'other key', expiresAt: noon - day + 1 })];
  expect(compacted(recordWith([], { tokens })).tokens).toEqual(tokens.slice(1));
  const log = several(50, (index) => ({
    ...{ id: `${index}`, at: noon - 100 + index, by: 'somebody' },
    kind: index % 2 ? ('retry' as const) : ('reset' as const),
  }));
  expect(compacted(recordWith([], { log })).log).toEqual(log.slice(10));
});

test('a term goes that others replaced, when nothing counts in it any more', () => {
  const term = { tokens: 10, windowMs: hour, reserve: 0 };
  const stated = [statedBy('new', term, noon), statedBy('old', { ...term, tokens: 9 }, noon - 2 * hour)];
  expect(compacted(recordWith([], { limits: stated })).limits).toEqual(stated.slice(0, 1));
});

test(`nothing that counts or paces changes (seed ${seed})`, () => {
  const limits = [usual, oneWindow(20), oneWindow(40, hour), requests];
  const reasons: readonly IssuanceReason[] = ['cold', 'refresh', 'rejected', 'reset'];
  const law = fc.property(anyRecord, fc.constantFrom(...limits), (record, agreement) => {
    const next = compact(situationOf(record, noon, agreement));
    for (const at of [noon, noon + hour, noon + day])
      expect(used(next, at, agreement)).toBe(used(record, at, agreement));
    for (const name of [...names, 'new'])
      for (const reason of reasons) {
        const caller = { name, keyId: 'key', secretId: 'secret' };
        const untilIn = (one: LedgerRecord) =>
          Math.max(noon, ...holdsOf({ record: one, limits: agreement }, caller, reason).map(({ until }) => until));
        expect(untilIn(next)).toBe(untilIn(record));
      }
  });
  fc.assert(law, { numRuns: 300 });
});

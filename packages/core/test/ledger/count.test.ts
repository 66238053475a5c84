import { describe, expect, test } from 'vitest';
import { compact } from '../../src/ledger/compact.ts';
import { admission, freeAt, partsOf, rejectedShareAt, spentElsewhere, tightest } from '../../src/ledger/count.ts';
import type { IssuanceReason, LedgerRecord } from '../../src/ledger/journal.ts';
import { limitsFor, termLimits } from '../../src/ledger/limits.ts';
import { merge } from '../../src/ledger/merge.ts';
import { withSpentElsewhere } from '../../src/ledger/orders.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, minute } from '../support/instants.ts';
import { attemptAt, issued, recordWith, unknownAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { used } from './support/records.ts';

const term = termLimits(usual.terms[0] ?? { tokens: 1, windowMs: 1, reserve: 0 }, 'durable');
const roomOf = (record: LedgerRecord, reason: IssuanceReason = 'cold', now = noon) =>
  admission(record, now, usual, reason)[0]?.room;
const issuedAt = (at: number, count: number) => Array.from({ length: count }, (_, index) => attemptAt(at + index));
const bucket = { epoch: 'epoch', slot: 7, unknown: false, last: noon - 10 * hour, count: 40 };

describe('what counts', () => {
  test('is every attempt of unknown outcome for longer than one that was issued', () => {
    const record = recordWith([
      attemptAt(noon - hour),
      attemptAt(noon, { ...unknownAt(noon) }),
      attemptAt(noon + 1, { outcome: undefined }),
    ]);
    expect(used(record, noon + 2, usual)).toBe(3);
    expect(used(record, noon - hour + term.settledMs, usual)).toBe(2);
    expect(used(record, noon + term.settledMs, usual)).toBe(2);
    expect(used(record, noon + 1 + term.pendingMs, usual)).toBe(0);
  });

  test('is no attempt that brought none, no note, and what a probe got', () => {
    const free = ['refused', 'unreached', 'unsent'].map((kind, index) =>
      attemptAt(noon - index, { outcome: { kind, at: noon, charge: 0 } }),
    );
    const probe = attemptAt(noon + 1, { outcome: { kind: 'unsent', at: noon, charge: 1 } });
    const note = attemptAt(noon - hour);
    const record = recordWith([...free, probe, note], { folded: { epoch: noon - hour } });
    expect(used(record, noon, usual)).toBe(1);
  });

  test('is the larger one of two copies of a bucket, until the later instant', () => {
    const copies = [bucket, { ...bucket, count: 41, last: bucket.last - minute }].map((each) =>
      recordWith([], { buckets: [each] }),
    );
    const [one, other] = copies as [LedgerRecord, LedgerRecord];
    for (const record of [merge(one, other), merge(other, one)]) {
      expect(used(record, noon, usual)).toBe(41);
      expect(used(record, bucket.last + term.settledMs - 1, usual)).toBe(41);
      expect(used(record, bucket.last + term.settledMs, usual)).toBe(0);
    }
    const elsewhere = recordWith([], { buckets: [{ ...bucket, epoch: 'other epoch' }] });
    expect(used(merge(one, elsewhere), noon, usual)).toBe(80);
  });

  test('counts once that one copy has in a bucket and another one in detail', () => {
    const detailed = recordWith(issuedAt(noon - 10 * hour, 200));
    const folded = compact(detailed, noon, usual);
    expect([folded.attempts.length, folded.buckets.length]).toEqual([150, 1]);
    expect(used(merge(folded, detailed), noon, usual)).toBe(200);
    expect(used(merge(detailed, folded), noon, usual)).toBe(200);
  });

  test('is what another epoch knows, also of earlier generations than those that are in buckets', () => {
    const folded = compact(recordWith(issuedAt(noon - 10 * hour, 200)), noon, usual);
    const lost = attemptAt(noon - 11 * hour, { epoch: 'other epoch' });
    for (const record of [merge(folded, recordWith([lost])), merge(recordWith([lost]), folded)]) {
      expect(used(record, noon, usual)).toBe(201);
    }
  });

  test('is a token whose outcome was heard of late for no longer than one of unknown outcome', () => {
    const reserved = attemptAt(noon - 12 * hour, { outcome: undefined });
    const late = settle(recordWith([reserved]), noon, reserved, issued(reserved, noon));
    const leaves = (record: LedgerRecord) => partsOf(record, noon, term).map(({ leavesAt }) => leavesAt - reserved.at);
    expect(leaves(late)).toEqual([term.pendingMs]);
    const later = issuedAt(noon - 11 * hour, 150);
    const folded = compact({ ...late, attempts: [...late.attempts, ...later] }, noon, usual);
    expect(folded.buckets).toMatchObject([{ unknown: false, count: 1 }]);
    expect(leaves({ ...folded, attempts: [] })).toEqual([term.pendingMs]);
  });

  test('is what somebody said was spent elsewhere: the largest number, from the latest instant on', () => {
    const said = (id: string, tokens: number) => ({ id, tokens, by: 'provider', reason: 'a count' });
    const once = withSpentElsewhere(recordWith([]), noon, said('one', 40), usual) as LedgerRecord;
    expect(withSpentElsewhere(once, noon, said('less', 30), usual)).toBeUndefined();
    const twice = withSpentElsewhere(once, noon + hour, said('two', 50), usual) as LedgerRecord;
    expect(used(merge(once, twice), noon + hour, usual)).toBe(50);
    expect(used(twice, noon + hour + term.settledMs - 1, usual)).toBe(50);
    expect(used(twice, noon + hour + term.settledMs, usual)).toBe(0);
  });

  test('is, when the largest number that was said leaves, the largest that was said later', () => {
    const saidAt = [3, 20, 10, 1].map((hours) => noon - hours * hour).sort((a, b) => a - b);
    const orders = [10, 4, 8, 6].map((tokens, index) => {
      return { id: `${index}`, at: saidAt[index] ?? 0, kind: 'spent', by: 'provider', tokens };
    });
    const parts = partsOf(recordWith([], { orders }), noon, term);
    const leave = (at: number) => at + term.settledMs;
    expect([11, 10, 8, 6].map((ceiling) => freeAt(parts, noon, term, ceiling))).toEqual([
      noon,
      leave(noon - 20 * hour),
      leave(noon - 3 * hour),
      leave(noon - hour),
    ]);
  });

  test('is not what a later release says was spent in a way that this one cannot read', () => {
    const strange = { id: 'strange', at: noon, kind: 'spent', by: 'provider', more: { about: 40 } };
    const record = recordWith([], { orders: [strange, { ...strange, id: 'other' }] });
    expect(used(record, noon, usual)).toBe(0);
    expect(spentElsewhere(record, noon - hour)?.tokens).toBeUndefined();
    const said = { id: 'said', tokens: 5, by: 'provider', reason: 'a count' };
    const next = withSpentElsewhere(record, noon, said, usual) as LedgerRecord;
    expect(used(next, noon, usual)).toBe(5);
    expect(withSpentElsewhere(next, noon, { ...said, id: 'less', tokens: 4 }, usual)).toBeUndefined();
  });
});

describe('the share of renewals that 401s cause', () => {
  const rejected = (audience: string, count: number) =>
    Array.from({ length: count }, (_, index) =>
      attemptAt(noon - 20 * hour + index, { id: `${audience} ${index}`, audience, reason: 'rejected' }),
    );
  const shareAt = (attempts: LedgerRecord['attempts']) => rejectedShareAt(recordWith(attempts), noon, usual);

  test('is one for all audiences', () => {
    const half = rejected('invoices', term.rejectedShare / 2);
    expect(shareAt([...half, ...rejected('orders', 9)])).toBe(noon);
    expect(shareAt([...half, ...rejected('orders', 10)])).toBe(noon - 20 * hour + term.settledMs);
  });
});

describe('the room', () => {
  test.each<[IssuanceReason, number]>([
    ['cold', 110],
    ['refresh', 84],
    ['reset', 120],
  ])('for %s is %i', (reason, room) => expect(roomOf(recordWith([]), reason)).toBe(room));

  test('of a record that may miss tokens is what the reserve covers, and two of them are for resets', () => {
    const young = recordWith([attemptAt(noon - 2 * hour), attemptAt(noon)], { completeSince: noon - hour });
    expect([roomOf(young), roomOf(young, 'reset')]).toEqual([27, 29]);
    expect(roomOf(young, 'cold', noon - hour + term.pendingMs)).toBe(110);
  });

  test('is needed in every window', () => {
    const limits = limitsFor(
      [
        { tokens: 10, windowMs: hour },
        { tokens: 50, windowMs: day },
      ],
      undefined,
      'durable',
    );
    expect(tightest(admission(recordWith(issuedAt(noon, 8)), noon + 9, limits, 'cold'))).toMatchObject({
      term: { windowMs: hour },
      room: 0,
    });
    expect(tightest(admission(recordWith(issuedAt(noon - 5 * hour, 37)), noon, limits, 'cold'))).toMatchObject({
      term: { windowMs: day },
      room: 0,
    });
  });
});

describe('compaction', () => {
  test('says since when the record knows everything, whatever was dropped last', () => {
    const old = noon - 9 * day;
    const dropped: Partial<LedgerRecord>[] = [
      { attempts: [attemptAt(old)] },
      { buckets: [{ ...bucket, last: old }] },
      { orders: [{ id: 'said', at: old, kind: 'spent', by: 'provider', tokens: 4 }] },
    ];
    for (const fields of dropped) {
      const record = compact(recordWith([], fields), noon, usual);
      expect(record.completeSince).toBe(old + 1);
      expect([record.attempts, record.buckets, record.orders]).toEqual([[], [], []]);
    }
    expect(compact(recordWith([attemptAt(noon - 7 * day)]), noon, usual).completeSince).toBe(noon - 30 * day);
  });

  test('makes a window young that is longer than what was kept', () => {
    const record = compact(recordWith([attemptAt(noon - 9 * day)]), noon, usual);
    const long = limitsFor([{ tokens: 150, windowMs: 20 * day }], undefined, 'durable');
    expect(admission(record, noon, long, 'cold')[0]).toMatchObject({ room: 28 });
  });

  test('keeps what is younger than 70 minutes in detail, and what an outcome is awaited of, with all that came later', () => {
    const young = compact(recordWith(issuedAt(noon - hour, 400)), noon, usual);
    expect(young.attempts).toHaveLength(400);
    const attempts = issuedAt(noon - 3 * hour, 300);
    const open = attempts.map((attempt, index) =>
      index === 20 ? { ...attempt, until: noon + 1, outcome: undefined } : attempt,
    );
    expect(compact(recordWith(open), noon, usual).attempts).toHaveLength(280);
  });

  test('forgets a reset when no token of that time can live any more, and an epoch when nothing of it is left', () => {
    const month = 31 * day;
    const { revoked, folded } = compact(
      recordWith([attemptAt(noon)], {
        revoked: { orders: noon - month, invoices: noon - month + 1 },
        folded: { epoch: noon - hour, gone: noon - 9 * day },
      }),
      noon,
      usual,
    );
    expect([revoked, folded]).toEqual([{ invoices: noon - month + 1 }, { epoch: noon - hour }]);
  });

  test('keeps 20 resets', () => {
    const orders = Array.from({ length: 30 }, (_, index) => ({
      id: `${index}`,
      at: noon - 100 + index,
      kind: 'reset',
      by: 'somebody',
      audience: 'orders',
    }));
    const record = compact(recordWith([], { orders }), noon, usual);
    expect(record.orders.map(({ id }) => id)).toEqual(orders.slice(10).map(({ id }) => id));
  });
});

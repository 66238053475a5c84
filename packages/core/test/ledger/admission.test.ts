import { describe, expect, test } from 'vitest';
import { admission, nextFreeAt, rejectedRoomAt, sparingMs, tightest } from '../../src/ledger/admission.ts';
import { type Limits, limitsFor } from '../../src/ledger/limits.ts';
import type { IssuanceReason, LedgerRecord } from '../../src/ledger/record.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, noon } from '../support/instants.ts';
import {
  declaredBy,
  entriesAt,
  entryAt,
  oneWindow,
  recordWith,
  spentIn,
  termOf,
  usualLimits,
  usualTerm,
} from '../support/records.ts';

const roomIn = (record: LedgerRecord, now: number, reason: IssuanceReason, limits: Limits = usualLimits) => {
  const { room, roomAt } = tightest(admission(record, now, limits, reason)) ?? {};
  return { room, roomAt };
};

describe('what counts', () => {
  test('is every entry in detail and every one in a bucket', () => {
    const entries = [entryAt(noon), entryAt(noon, { pending: true })];
    const condensed = [
      { at: noon, pending: false, count: 5 },
      { at: noon, pending: true, count: 7 },
    ];
    expect(spentIn(recordWith({ entries, condensed }))).toEqual({ used: 14, pending: 8 });
  });

  test('is in each window what has not left that window', () => {
    const limits = limitsFor(
      [
        { tokens: 10, windowMs: hour },
        { tokens: 50, windowMs: day },
      ],
      0,
      'durable',
    );
    const ages = [minute, 62 * minute, 64 * minute, 70 * minute, 26 * hour, 3 * day];
    const entries = ages.map((age) => entryAt(noon - age)).reverse();
    const condensed = ages.map((age) => ({ at: noon - age, pending: true, count: 2 }));
    const rooms = admission(recordWith({ entries, condensed }), noon, limits, 'reset');
    expect(rooms.map(({ used, pending, room, own }) => ({ used, pending, room, own }))).toEqual([
      { used: 8, pending: 6, room: 2, own: true },
      { used: 14, pending: 10, room: 36, own: true },
    ]);
  });

  test('leaves when it has counted for the window and its margin', () => {
    const record = recordWith({ entries: [entryAt(noon - 26 * hour, { pending: true }), entryAt(noon - 25 * hour)] });
    expect(nextFreeAt(record, noon, usualTerm)).toBe(noon + 10 * minute);
    expect(nextFreeAt(recordWith(), noon, usualTerm)).toBeUndefined();
  });
});

describe('the room', () => {
  test.each([
    ['refresh', 84],
    ['cold', 110],
    ['expired', 110],
    ['rejected', 110],
    ['reset', 120],
  ] as const)('for %s lasts until %i tokens are spent', (reason, ceiling) => {
    const room = (count: number) => roomIn(recordWith({ entries: entriesAt(noon, count) }), noon, reason);
    expect(room(ceiling - 1)).toEqual({ room: 1, roomAt: noon });
    expect(room(ceiling)).toEqual({ room: 0, roomAt: noon + usualTerm.settledMs });
    expect(room(ceiling + 9).room).toBe(0);
  });

  test('comes when enough entries have left, whenever they were stamped', () => {
    const limits = oneWindow(2, day, 0);
    const entries = [entryAt(noon - 26 * hour, { pending: true }), entryAt(noon - 25 * hour)];
    for (const order of [entries, entries.toReversed()]) {
      expect(roomIn(recordWith({ entries: order }), noon, 'reset', limits).roomAt).toBe(noon + 10 * minute);
    }
    const bucket = recordWith({ condensed: [{ at: noon, pending: true, count: 9 }] });
    expect(roomIn(bucket, noon, 'reset', limits).roomAt).toBe(noon + usualTerm.pendingMs);
  });

  test('never comes for a ceiling of zero: it is checked again when a window has passed', () => {
    expect(roomIn(recordWith(), noon, 'refresh', oneWindow(1))).toEqual({
      room: 0,
      roomAt: noon + usualTerm.settledMs,
    });
  });

  test('of a new record is for as many as the reserve covers, until what may be unknown has left', () => {
    const completeSince = noon - hour;
    const newRecordOf = (count: number) => recordWith({ completeSince, entries: entriesAt(noon, count) });
    const oldEnough = completeSince + usualTerm.pendingMs;
    expect(roomIn(newRecordOf(29), noon, 'reset')).toEqual({ room: 1, roomAt: noon });
    expect(roomIn(newRecordOf(30), noon, 'reset')).toEqual({ room: 0, roomAt: noon + usualTerm.settledMs });
    expect(roomIn(newRecordOf(30), oldEnough, 'reset')).toEqual({ room: 120, roomAt: oldEnough });
    const pending = { ...newRecordOf(30), entries: entriesAt(noon, 30, { pending: true }) };
    expect(roomIn(pending, noon, 'reset').roomAt).toBe(oldEnough);
  });

  test('of a new record keeps two slots for resets, unless everything is allowed', () => {
    const newRecordOf = (count: number) => recordWith({ completeSince: noon - hour, entries: entriesAt(noon, count) });
    expect(roomIn(newRecordOf(27), noon, 'cold').room).toBe(1);
    expect(roomIn(newRecordOf(28), noon, 'cold').room).toBe(0);
    expect(roomIn(newRecordOf(28), noon, 'reset').room).toBe(2);
    expect(roomIn(newRecordOf(10), noon, 'cold', oneWindow(12, day, 0)).room).toBe(1);
    expect(roomIn(newRecordOf(4), noon, 'cold', oneWindow(25)).room).toBe(1);
  });

  test('of a new record does not shrink by what was put back from memory', () => {
    const restored = entriesAt(noon - 2 * hour, 60);
    const record = recordWith({ completeSince: noon - hour, entries: [...restored, ...entriesAt(noon, 27)] });
    expect(roomIn(record, noon, 'cold').roomAt).toBe(noon);
    const condensed = [{ at: noon, pending: false, count: 1 }];
    expect(roomIn({ ...record, condensed }, noon, 'cold').roomAt).toBeGreaterThan(noon);
  });

  test('counts a token that was issued at the very beginning of a record', () => {
    const record = recordWith({ completeSince: noon, entries: entriesAt(noon, 28) });
    expect(roomIn(record, noon, 'cold').room).toBe(0);
  });

  test('is needed in every window, and the one whose room comes last decides', () => {
    const limits = limitsFor(
      [
        { tokens: 10, windowMs: hour },
        { tokens: 12, windowMs: day },
      ],
      0,
      'durable',
    );
    const record = (count: number) => recordWith({ entries: entriesAt(noon, count) });
    expect(tightest(admission(record(9), noon, limits, 'reset'))).toMatchObject({ term: { windowMs: hour }, room: 1 });
    expect(tightest(admission(record(10), noon, limits, 'reset'))).toMatchObject({ term: { windowMs: hour }, room: 0 });
    expect(tightest(admission(record(12), noon, limits, 'reset'))).toMatchObject({ term: { windowMs: day }, room: 0 });
    expect(tightest([])).toBeUndefined();
  });
});

describe('terms of others', () => {
  const strict = { tokens: 10, windowMs: hour, reserve: 0 };
  const record = (seenAt: number) =>
    recordWith({ terms: [declaredBy('other', strict, seenAt)], entries: entriesAt(noon, 10) });

  test('are kept for an hour after they were declared', () => {
    expect(tightest(admission(record(noon - hour + 1), noon, usualLimits, 'reset'))).toMatchObject({
      own: false,
      room: 0,
      term: strict,
    });
    expect(tightest(admission(record(noon - hour), noon, usualLimits, 'reset'))).toMatchObject({
      own: true,
      room: 110,
    });
  });

  test('refuse nothing for longer than they are kept', () => {
    const seenAt = noon - 20 * minute;
    const endsAt = seenAt + hour;
    expect(tightest(admission(record(seenAt), noon, usualLimits, 'reset'))).toMatchObject({ roomAt: endsAt });
    const rejected = entriesAt(noon, 10).map((entry) => ({ ...entry, reason: 'rejected' as const, audience: 'b' }));
    const afterRejections = { ...record(seenAt), entries: rejected };
    expect(rejectedRoomAt(afterRejections, noon, usualLimits, 'orders')).toBeLessThanOrEqual(endsAt);
    const unknown = { ...record(seenAt), entries: entriesAt(noon, 10).map((entry) => ({ ...entry, pending: true })) };
    expect(sparingMs(unknown, noon, usualLimits)).toBeLessThanOrEqual(endsAt - noon);
  });

  test('do not replace terms of this process that the record does not have', () => {
    const rooms = admission(recordWith({ entries: entriesAt(noon, 120) }), noon, usualLimits, 'reset');
    expect(rooms).toMatchObject([{ own: true, room: 0 }]);
  });

  test('are all that a reader has, however old they are', () => {
    const reader = { ...usualLimits, terms: [] };
    expect(admission(record(noon - 5 * hour), noon, reader, 'cold')).toMatchObject([{ own: false, used: 10 }]);
  });
});

describe('rejectedRoomAt', () => {
  const rejectedAt = (...instants: number[]) => instants.map((at) => entryAt(at, { reason: 'rejected' }));

  test('waits for the spacing of the audience, not for that of others', () => {
    const record = recordWith({ entries: rejectedAt(noon - 2 * minute, noon - minute) });
    expect(rejectedRoomAt(record, noon, usualLimits, 'orders')).toBe(noon + minute);
    expect(rejectedRoomAt(record, noon, usualLimits, 'invoices')).toBe(noon);
    expect(rejectedRoomAt(recordWith(), noon, usualLimits, 'orders')).toBe(noon);
  });

  test('starts the spacing again after an hour in which nobody needed it', () => {
    const afterPause = (pauseMs: number) =>
      rejectedRoomAt(recordWith({ entries: rejectedAt(noon - minute - pauseMs, noon) }), noon, usualLimits, 'orders');
    expect(afterPause(hour)).toBe(noon + 2 * minute);
    expect(afterPause(hour + 1)).toBe(noon + minute);
  });

  test('leaves a part of the share to audiences that have had less, as long as renewals ahead have room', () => {
    const spent = entriesAt(noon - 20 * hour, 20, { reason: 'rejected' });
    const others = (count: number) => entriesAt(noon - 10 * hour, count, { reason: 'rejected', audience: 'invoices' });
    const roomAt = (count: number, more = 0) =>
      rejectedRoomAt(
        recordWith({ entries: [...spent, ...others(count), ...entriesAt(noon, more)] }),
        noon,
        usualLimits,
        'invoices',
      );
    expect([0, 9].map((count) => roomAt(count))).toEqual([noon, noon]);
    expect(roomAt(10)).toBeGreaterThan(noon);
    expect(roomAt(0, 63)).toBe(noon);
    expect(roomAt(0, 64)).toBeGreaterThan(noon);
  });

  test('allows 20 per window, whatever the spacing says', () => {
    const oldest = noon - 20 * hour;
    const renewals = (count: number) => recordWith({ entries: entriesAt(oldest, count, { reason: 'rejected' }) });
    expect(rejectedRoomAt(renewals(19), noon, usualLimits, 'orders')).toBe(noon);
    expect(rejectedRoomAt(renewals(20), noon, usualLimits, 'orders')).toBe(oldest + usualTerm.settledMs);
  });

  test('counts a renewal of unknown outcome for as long as it may count in the window', () => {
    const [unknownAt, next] = [noon - 26 * hour, noon - 25.5 * hour];
    const unknown = entryAt(unknownAt, { reason: 'rejected', pending: true });
    const settled = [next, ...Array.from({ length: 18 }, (_, index) => noon - (20 - index) * hour)];
    const recordOf = (...later: number[]) => recordWith({ entries: [unknown, ...rejectedAt(...settled, ...later)] });
    expect(rejectedRoomAt(recordOf(), noon, usualLimits, 'orders')).toBe(noon);
    expect(rejectedRoomAt(recordOf(noon - 90 * minute), noon, usualLimits, 'orders')).toBe(
      unknownAt + usualTerm.pendingMs,
    );
  });

  test('allows as many as the strictest window does', () => {
    const limits = limitsFor(
      [
        { tokens: 10, windowMs: hour },
        { tokens: 150, windowMs: day },
      ],
      0,
      'durable',
    );
    const record = recordWith({ entries: entriesAt(noon, 1, { reason: 'rejected' }) });
    expect(rejectedRoomAt(record, noon, limits, 'orders')).toBe(noon + hour + hour / 24 + hour / 144);
  });
});

describe('pauses that spare the budget', () => {
  test('are spread over the window once a quarter is of unknown outcome', () => {
    const pending = (count: number) => recordWith({ entries: entriesAt(noon, count, { pending: true }) });
    expect(sparingMs(pending(29), noon, usualLimits)).toBe(0);
    expect(sparingMs(pending(30), noon, usualLimits)).toBe((27 * hour) / 30);
    // A new record may gain 30.
    const newRecordOf = (count: number) => ({ ...pending(count), completeSince: noon - 20 * hour });
    expect([7, 8].map((count) => sparingMs(newRecordOf(count), noon, usualLimits))).toEqual([0, (27 * hour) / 7.5]);
    expect(sparingMs({ ...newRecordOf(8), completeSince: noon - 27 * hour }, noon, usualLimits)).toBe(0);
    // It is new for one more hour.
    expect(sparingMs({ ...newRecordOf(8), completeSince: noon - 26 * hour }, noon, usualLimits, 2)).toBe(hour);
  });

  test('end when enough entries of unknown outcome have left', () => {
    const leaving = entriesAt(noon - 27 * hour + minute, 20, { pending: true });
    const record = recordWith({ entries: [...leaving, ...entriesAt(noon, 11, { pending: true })] });
    expect(sparingMs(record, noon, usualLimits)).toBe(minute);
    expect(sparingMs(record, noon + minute / 4, usualLimits)).toBe((minute * 3) / 4);
  });

  test('are those of the strictest window', () => {
    const both = limitsFor(
      [
        { tokens: 8, windowMs: hour },
        { tokens: 150, windowMs: day },
      ],
      0,
      'durable',
    );
    const record = recordWith({ entries: entriesAt(noon, 2, { pending: true }) });
    expect(sparingMs(record, noon, both)).toBe((2 * (hour + hour / 24 + 7 * minute)) / 4);
    expect(sparingMs(recordWith({ entries: entriesAt(noon, 1, { pending: true }) }), noon, both)).toBe(0);
  });

  test('are never longer than the window, however small the budget', () => {
    const limits = oneWindow(2, day, 0);
    const pending = recordWith({ entries: entriesAt(noon, 2, { pending: true }) });
    expect(sparingMs(pending, noon, limits)).toBe(27 * hour);
  });

  test.each([
    ['durable', 150],
    ['replicated', 150],
    ['durable', 10],
    ['durable', 100_000],
  ] as const)('an outage of any length leaves half of what a %s store may spend of %i', (durability, tokens) => {
    const limits = oneWindow(tokens, day, undefined, durability);
    const { pendingMs, usable } = termOf(limits);
    let leaving: number[] = [];
    let maxSpent = 0;
    let failures: LedgerRecord['failures'];
    for (let now = noon; now < noon + 10 * day; now = failures?.retryAt ?? now) {
      leaving = [...leaving.filter((at) => at > now), now + pendingMs];
      maxSpent = Math.max(maxSpent, leaving.length);
      const entry = entryAt(now, { id: 'mine', pending: true });
      const condensed = [{ at: now, pending: true, count: leaving.length - 1 }];
      const reservation = { entry, keyId: 'key', secretId: 'secret' };
      const record = recordWith({ entries: [entry], condensed, failures });
      failures = settle(record, now, reservation, { kind: 'ambiguous', charge: 1 }, limits).failures;
    }
    expect(maxSpent).toBeLessThanOrEqual(usable / 2);
    expect(maxSpent).toBeGreaterThan(2);
  });
});

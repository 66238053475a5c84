import { describe, expect, test } from 'vitest';
import { decodeRecord, encodeRecord } from '../../src/ledger/codec.ts';
import { withStatement } from '../../src/ledger/limits.ts';
import { withRetry } from '../../src/ledger/orders.ts';
import { present, type Remembered, united } from '../../src/ledger/present.ts';
import { type LedgerRecord, newRecord, type Spent, type StoredToken, tokenOf } from '../../src/ledger/record.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  issuedAt,
  oneWindow,
  openAt,
  recordWith,
  refusedAt,
  seenAt,
  several,
  situationOf,
  statedBy,
  termOf,
  tokenWith,
  unknownAt,
  used,
  usual,
} from './support/records.ts';

const token = tokenWith({ generation: noon - hour, expiresAt: noon + 10 * hour });
const spent = several(100, (index) => issuedAt(noon - 20 * hour + index));
const known = recordWith(spent, { tokens: [token] });
const shown = (loaded: LedgerRecord | undefined, seen?: Remembered, now = noon) =>
  present(loaded, seen, now, 'new record');
const written = (record: LedgerRecord) => ({ ...record, sequence: record.sequence + 1 });

describe('a record that fits what is known', () => {
  test('is taken as it is', () => {
    for (const seen of [undefined, seenAt(known, noon), seenAt({ ...known, sequence: 8 }, noon)]) {
      const { record, ...rest } = shown(known, seen);
      expect(rest).toEqual({ now: noon, isRecordLost: false, restored: 0, clockBackMs: 0, changed: false });
      expect(record).toEqual(known);
    }
  });

  test('is as late as the latest instant that its clock has shown', () => {
    expect(shown(known, undefined, noon + 1)).toMatchObject({
      now: noon + 1,
      changed: false,
      record: { latestAt: noon + 1 },
    });
    expect(shown(known, undefined, noon - minute)).toMatchObject({ now: noon, clockBackMs: 0, changed: false });
  });

  test('that nobody has written yet begins now, and nothing of it needs to be written', () => {
    expect(shown(undefined)).toEqual({
      ...{ now: noon, isRecordLost: false, restored: 0, clockBackMs: 0, changed: false },
      record: newRecord('new record', noon),
    });
  });
});

describe('a request whose process did not report in time', () => {
  const open = openAt(noon, { id: 'open' });

  test('is one of unknown outcome, and a failure from its reservation on', () => {
    const { record, changed } = shown(recordWith([open]), undefined, noon + 40 * second);
    expect(changed).toBe(true);
    expect(record.spent).toEqual([{ ...open, until: undefined }]);
    expect(record.lost).toEqual({ count: 1, at: noon, knownAt: noon + 40 * second, kind: 'died' });
    expect(shown(recordWith([open]), undefined, noon + 40 * second - 1).changed).toBe(false);
  });
});

describe('a record that was lost', () => {
  test('is put back, with its token, and allows few tokens at first', () => {
    const found = shown(undefined, seenAt(known, noon));
    expect(found).toMatchObject({ isRecordLost: true, restored: 100, changed: true });
    expect(found.record).toMatchObject({ id: 'new record', completeSince: noon, sequence: 0, tokens: [token] });
    expect(used(found.record, noon, usual)).toBe(100);
  });

  test('and was begun anew by somebody else is completed once', () => {
    const row = issuedAt(noon - second);
    const begun = recordWith([row], { id: 'other', sequence: 3, completeSince: noon - minute });
    const seen = seenAt(known, noon - 2 * minute, 2 * minute);
    const found = shown(begun, seen);
    expect(found).toMatchObject({ isRecordLost: true, restored: 100, changed: true });
    expect(found.record).toMatchObject({ id: 'other', completeSince: noon - minute });
    expect(used(found.record, noon, usual)).toBe(101);
    const again = shown(written(found.record), seen);
    expect([again.restored, again.changed]).toEqual([0, false]);
  });

  test('and went back to an older state gets another id, and may miss what others wrote', () => {
    const older = recordWith(spent.slice(0, 40), { sequence: 4 });
    const found = shown(older, seenAt(known, noon));
    expect(found).toMatchObject({ isRecordLost: true, restored: 60 });
    expect(found.record).toMatchObject({ id: 'new record', completeSince: noon });
    expect(used(found.record, noon, usual)).toBe(100);
    // So does a copy of it that somebody went on with since.
    const forked = recordWith(spent.slice(0, 40), { id: 'fork', sequence: 12 });
    expect(shown(forked, seenAt(known, noon)).record).toMatchObject({ id: 'new record', completeSince: noon });
  });

  test('when the clock lost five minutes, too, has what was known as if it were younger', () => {
    const { record, isRecordLost } = shown(undefined, seenAt(known, noon), noon - 5 * minute);
    expect(isRecordLost).toBe(true);
    expect(record.spent).toEqual(spent);
    expect(record.tokens[0]?.expiresAt).toBe(token.expiresAt - 5 * minute);
  });

  test('has what a process remembers of it with the age that it has, whatever the clock shows: ten minutes less at most', () => {
    for (const byMs of [-20 * hour, -hour, 0, hour, 20 * hour]) {
      const now = noon + byMs + 3 * hour;
      const { record } = shown(undefined, seenAt(known, noon, 3 * hour), now);
      const missing = record.spent.map(({ at }, index) => noon + 3 * hour - (spent[index]?.at ?? 0) - (now - at));
      expect(new Set(missing)).toEqual(new Set([byMs < 0 ? 10 * minute : 0]));
    }
  });

  test('was not moved by who measured the leap after which it began', () => {
    const { record } = shown(undefined, seenAt(known, noon, second), noon + 26 * hour);
    const again = shown(written(record), seenAt(known, noon, 2 * second), noon + 26 * hour + second);
    expect(again.changed).toBe(false);
  });

  test('stays reset', () => {
    const memory = recordWith([], { states: { orders: { resetUpTo: noon - hour } } });
    const { record } = shown(recordWith([], { id: 'other', tokens: [token] }), seenAt(memory, noon));
    expect(tokenOf(record, 'orders', 'key')).toBeUndefined();
  });

  test('that was begun by others, to whom only tokens count, does not know the requests that count', () => {
    const requests = { ...termOf(oneWindow(150)), counts: 'requests' as const };
    const before = recordWith([issuedAt(noon - 2 * hour)], { limits: [statedBy('any', requests, noon - hour)] });
    const begun = withStatement(situationOf(newRecord('other', noon - minute), noon - minute), 'other');
    const seen = seenAt(before, noon - 2 * minute, 2 * minute);
    expect(shown({ ...begun, sequence: 1 }, seen).record.completeSince).toBe(noon);
  });
});

describe('a clock that leapt forward by 26 hours', () => {
  const [before, after] = [seenAt(known, noon, second), noon + second + 26 * hour];

  test('empties the window for who cannot know', () => {
    expect(used(shown(known, undefined, after).record, after, usual)).toBe(0);
  });

  test('lets everything keep its age for who ran through it', () => {
    const { record, changed } = shown(known, before, after);
    expect([changed, record.movedMs]).toEqual([true, 26 * hour]);
    expect(used(record, after, usual)).toBe(100);
    expect(used(record, after + 5 * hour - 2 * second, usual)).toBe(100);
    expect(used(record, after + 5 * hour + 10 * minute, usual)).toBe(0);
  });

  test('moves a record once, however many processes ran through it', () => {
    const { record } = shown(known, before, after);
    for (const seen of [seenAt(known, noon, 2 * second), seenAt({ ...known, sequence: 2 }, noon - hour, hour)]) {
      const again = shown(written(record), seen, after + second);
      expect([again.changed, again.record.spent]).toEqual([false, record.spent]);
    }
  });

  test('makes a record new that somebody wrote after it who did not know', () => {
    const late = recordWith([...spent, issuedAt(after - minute)], { sequence: 10, latestAt: after - minute });
    const { record } = shown(late, before, after);
    expect(record).toMatchObject({ completeSince: after, movedMs: 26 * hour });
    expect(record.spent).toEqual(late.spent);
  });

  test('takes nothing for older than it is for who missed that the clock was put right meanwhile', () => {
    const right = { ...known, sequence: 5, movedMs: 0 };
    const seen = seenAt({ ...known, movedMs: 26 * hour }, noon + 26 * hour, hour);
    const later = noon + 60 * hour;
    const { record } = shown(right, seen, later);
    expect(record.movedMs).toBe(59 * hour);
    expect(used(record, later + 4 * hour, usual)).toBe(100);
  });

  test('moves a copy of before it, too, to which the store went back', () => {
    const { record: right } = shown(known, before, after);
    const copy = { ...known, sequence: known.sequence - 1 };
    const { record, restored } = shown(copy, seenAt(written(right), after, second), after + second);
    expect([record.movedMs, restored]).toEqual([26 * hour, 0]);
    expect(used(record, after + 5 * hour - 2 * second, usual)).toBe(100);
  });

  test('is none for a process that saw the record while the clock was wrong and finds it right', () => {
    const right = { ...known, sequence: 10, movedMs: -5 * hour };
    expect(shown(right, seenAt(known, noon, second), noon + second).changed).toBe(false);
  });

  test('is none of ten minutes or less', () => {
    const seen = seenAt(known, noon, second);
    expect(shown(known, seen, noon + second + 10 * minute).changed).toBe(false);
    expect(shown(known, seen, noon + second + 10 * minute + 1).changed).toBe(true);
  });

  test('leaves what lies ahead as far away as it was at least, and extends no token', () => {
    const loaded = recordWith([openAt(noon)], {
      tokens: [{ ...token, renewAfter: noon + hour, expiredBy: noon + 11 * hour }],
      later: { until: noon + hour, at: noon, kind: 'refused', status: 429 },
    });
    const { record } = shown(loaded, seenAt(loaded, noon, second, 2 * second), after);
    expect(record.spent[0]?.until).toBe(after + 38 * second);
    expect(record.later).toMatchObject({ until: after + hour - 2 * second, at: after - second });
    expect(record.tokens).toMatchObject([
      {
        expiresAt: after + 10 * hour - 2 * second,
        renewAfter: after + hour - 2 * second,
        expiredBy: after + 11 * hour - 2 * second,
      },
    ]);
  });
});

describe('a clock that was set back by five hours', () => {
  const now = noon - 5 * hour;

  // Ten minutes of it may be gained again.
  const backMs = 5 * hour - 10 * minute;

  test('moves everything back by the latest instant of the record', () => {
    const found = shown(known, undefined, now);
    expect(found).toMatchObject({ now, clockBackMs: 5 * hour, changed: true, isRecordLost: false });
    expect(found.record.spent.map(({ at }) => at)).toEqual(spent.map(({ at }) => at - backMs));
    expect(found.record).toMatchObject({ latestAt: now, completeSince: noon - 30 * day - backMs });
    // Nobody knows how much life the token has left.
    expect(found.record.tokens[0]?.expiresAt).toBe(now);
    const again = shown(written(found.record), undefined, now);
    expect(again).toMatchObject({ changed: false, record: written(found.record) });
  });

  test('moves it by what a process measured, if nobody wrote since', () => {
    const { record } = shown(known, seenAt(known, noon, minute, 2 * minute), now + minute);
    expect(record.spent.map(({ at }) => at)).toEqual(spent.map(({ at }) => at - backMs));
    // Its life was shorter by what may have passed.
    expect(record.tokens[0]?.expiresAt).toBe(token.expiresAt - 5 * hour - minute);
    const unseen = { ...known, sequence: 10 };
    const { clockBackMs } = shown(unseen, seenAt(known, noon, 9 * hour), now + minute);
    expect(clockBackMs).toBe(5 * hour - minute);
  });

  test('is counted once: who measured it, too, finds it done', () => {
    const { record } = shown(known, seenAt(known, noon), now);
    const again = shown(written(record), seenAt(known, noon, second), now + second);
    expect([again.changed, again.record.spent]).toEqual([false, record.spent]);
  });

  test('moves every instant of the record', () => {
    const at = noon - hour;
    const refusal = { count: 1, at, status: 401, name: 'orders', keyId: 'key', instance: 'process' };
    const row = { count: 1, at };
    const failures = { ...row, kind: 'unknown' as const };
    const limits = [statedBy('somebody', { tokens: 10, windowMs: hour, reserve: 0 }, at)];
    const loaded = recordWith([refusedAt(at), unknownAt(at + 1), openAt(noon, { until: noon + second })], {
      ...{ movedMs: 7, limits, lost: failures, refusals: { secret: refusal } },
      states: { orders: { failures, refusals: { secret: refusal }, rejections: row, resetUpTo: 5 }, stock: {} },
      later: { until: noon + hour, at, kind: 'refused' },
      tokens: [{ ...token, renewAfter: noon + hour, expiredBy: noon + day }],
      retries: { ...row, id: 'order' },
      log: [{ id: 'note', at, kind: 'reset', by: 'process' }],
      quota: { askedAt: at, at, figures: [] },
    });
    const { record } = shown(loaded, seenAt(loaded, noon), now);
    // A generation is no instant.
    const moved = JSON.parse(JSON.stringify(loaded), (name, value) => {
      if (typeof value !== 'number' || value <= day || name === 'generation') return value;
      return value < noon ? value - backMs : value - 5 * hour;
    });
    expect(record).toEqual({ ...moved, movedMs: 7 - 5 * hour });
  });

  test('leaves no instant that has happened ahead of now, and none before the beginning of time', () => {
    const ahead = recordWith([issuedAt(noon + hour)], { completeSince: second });
    const { record } = shown(ahead, undefined, now);
    expect([record.spent[0]?.at, record.completeSince]).toEqual([now, 0]);
  });
});

test('a record can be written after every repair, however exactly the time was measured', () => {
  const record = recordWith([issuedAt(noon)], { tokens: [tokenWith({ renewAfter: noon + hour })] });
  const lost = recordWith([], { sequence: 8 });
  for (const elapsedMs of [0.5, minute + 0.25])
    for (const loaded of [record, lost, undefined])
      for (const now of [noon - 5 * hour, noon + 30 * hour]) {
        const { record: ready } = shown(loaded, seenAt(record, noon, elapsedMs), now);
        expect(typeof decodeRecord(encodeRecord(ready))).toBe('object');
      }
});

describe('two copies of a record are united', () => {
  const both = (one: Partial<LedgerRecord>, other: Partial<LedgerRecord>) => {
    return united(recordWith(one.spent ?? [], one), recordWith(other.spent ?? [], other), noon);
  };

  test.each<[string, Spent, Spent]>([
    ['a token that arrived, not one of which nobody knows', issuedAt(noon), unknownAt(noon)],
    ['a token that arrived, not a refusal', issuedAt(noon), refusedAt(noon)],
    ['a refusal, not an unknown outcome', refusedAt(noon), unknownAt(noon)],
    ['an outcome, not a request that is under way', unknownAt(noon), openAt(noon)],
    [
      'the sum with more tokens',
      unknownAt(noon, { reason: 'several', tokens: 5 }),
      unknownAt(noon, { reason: 'several', tokens: 4 }),
    ],
  ])('and have %s', (_, one, other) => {
    expect(both({ spent: [one] }, { spent: [other] }).spent).toEqual([one]);
    expect(both({ spent: [other] }, { spent: [one] }).spent).toEqual([one]);
  });

  test('and have the larger number that was said to be spent elsewhere, from the later instant on', () => {
    const said = (at: number, tokens: number) => issuedAt(at, { id: 'stated', reason: 'stated', tokens });
    for (const [one, other] of [
      [said(noon, 40), said(noon - hour, 50)] as const,
      [said(noon - hour, 40), said(noon, 50)] as const,
    ])
      for (const union of [both({ spent: [one] }, { spent: [other] }), both({ spent: [other] }, { spent: [one] })])
        expect(union.spent).toEqual([said(noon, 50)]);
  });

  test('and have the sums of both, and no request twice that is in one of them', () => {
    const rows = several(6, (index) => issuedAt(noon + index));
    const sum = issuedAt(noon + 3, { name: '', keyId: '', instance: '', reason: 'several', tokens: 4 });
    const summed = { spent: [sum, ...rows.slice(4)] };
    for (const union of [both(summed, { spent: rows }), both({ spent: rows }, summed)])
      expect(union.spent).toEqual(summed.spent);
  });

  test('and have the later one of two tokens, and of two copies of one that with the shorter life', () => {
    const later = { ...token, id: 'later', generation: noon };
    const shorter = { ...token, expiresAt: noon };
    const tokens = (one: StoredToken, other: StoredToken) => both({ tokens: [one] }, { tokens: [other] }).tokens;
    expect([tokens(token, later), tokens(later, token)]).toEqual([[later], [later]]);
    expect([tokens(token, shorter), tokens(shorter, token)]).toEqual([[shorter], [shorter]]);
    const other = { ...token, keyId: 'other key' };
    expect(tokens(token, other)).toEqual([token, other]);
  });

  test('and have the later pauses', () => {
    const row = (at: number, count = 1) => ({ count, at, kind: 'unknown' as const });
    const [older, newer] = [row(noon - hour, 9), row(noon)];
    const fields = (of: typeof older): Partial<LedgerRecord> => ({
      lost: of,
      states: { orders: { failures: of, rejections: of } },
      refusals: { secret: { ...of, status: 401, name: 'orders', keyId: 'key', instance: 'process' } },
      later: { ...of, until: of.at + hour },
      retries: { ...of, id: 'order' },
      quota: { askedAt: of.at, at: of.at, figures: [] },
    });
    for (const union of [both(fields(older), fields(newer)), both(fields(newer), fields(older))])
      expect(union).toMatchObject(fields(newer));
    for (const union of [both(fields(older), {}), both({}, fields(older))]) expect(union).toMatchObject(fields(older));
  });

  test('and have the pauses of all tokens and secrets', () => {
    const refusal = { count: 1, at: noon, status: 403, name: 'orders', keyId: 'key', instance: 'process' };
    const union = both(
      { refusals: { one: refusal }, states: { orders: { refusals: { one: refusal } }, stock: {} } },
      { refusals: { two: refusal }, states: { orders: { refusals: { two: refusal } }, invoices: {} } },
    );
    expect(Object.keys(union.refusals).sort()).toEqual(['one', 'two']);
    expect(Object.keys(union.states).sort()).toEqual(['invoices', 'orders', 'stock']);
    expect(Object.keys(union.states['orders']?.refusals ?? {}).sort()).toEqual(['one', 'two']);
  });

  test('and have the later reset with its hash', () => {
    const [older, newer] = [
      { orders: { resetUpTo: noon - hour, resetHash: 'older' } },
      { orders: { resetUpTo: noon, resetHash: 'newer' } },
    ];
    for (const union of [both({ states: older }, { states: newer }), both({ states: newer }, { states: older })])
      expect(union.states['orders']).toMatchObject({ resetUpTo: noon, resetHash: 'newer' });
  });

  test('and have the notes of both, each once, in order', () => {
    const note = (at: number) => ({ id: `${at}`, at, kind: 'reset' as const, by: 'process' });
    const union = both({ log: [note(1), note(3)] }, { log: [note(2), note(3)] });
    expect(union.log).toEqual([note(1), note(2), note(3)]);
  });

  test('and have both agreements, the one that was stated last first', () => {
    const term = (tokens: number, seenAt: number) => statedBy('process', { tokens, windowMs: day, reserve: 0 }, seenAt);
    const union = both({ limits: [term(3, noon), term(1, noon - hour)] }, { limits: [term(2, noon)] });
    expect(union.limits.map(({ tokens }) => tokens)).toEqual([3, 2, 1]);
  });

  test('and go on with the later generation', () => {
    expect(both({ generation: noon }, { generation: noon + hour }).generation).toBe(noon + hour);
  });
});

test('an order to try again is noticed within a minute from when the clock was put right', () => {
  const now = noon - 5 * hour;
  const { record } = shown(withRetry(recordWith([]), noon, { id: 'order', by: 'somebody' }), undefined, now);
  expect(record.retries?.at).toBe(now);
});

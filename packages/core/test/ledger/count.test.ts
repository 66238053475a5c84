import { describe, expect, test } from 'vitest';
import { costOf, leavesAt, rejectedShareAt, roomsIn, tightest } from '../../src/ledger/count.ts';
import { enforcedTerms, limitsFor } from '../../src/ledger/limits.ts';
import type { IssuanceReason, LedgerRecord, Spent } from '../../src/ledger/record.ts';
import { settle } from '../../src/ledger/settle.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  issued,
  issuedAt,
  oneWindow,
  openAt,
  recordWith,
  refusedAt,
  several,
  situationOf,
  statedBy,
  termOf,
  unknownAt,
  used,
  usual,
} from './support/records.ts';

const term = termOf(usual);
const requests = limitsFor([{ tokens: 150, windowMs: day, counts: 'requests' }], undefined, 'durable');
const roomFor = (record: LedgerRecord, reason: IssuanceReason = 'cold', now = noon) =>
  tightest(roomsIn(situationOf(record, now), reason));
const issuedSince = (at: number, count: number) => several(count, (index) => issuedAt(at + index));

describe('what counts', () => {
  test('is every request of unknown outcome for longer than one that was issued', () => {
    const record = recordWith([issuedAt(noon - hour), unknownAt(noon), openAt(noon + 1)]);
    expect(used(record, noon + 2, usual)).toBe(3);
    expect(used(record, noon - hour + term.settledMs, usual)).toBe(2);
    expect(used(record, noon + term.settledMs, usual)).toBe(2);
    expect(used(record, noon + 1 + term.pendingMs, usual)).toBe(0);
  });

  test('is a refused request where the provider counts requests, for as long as a token', () => {
    const record = recordWith([refusedAt(noon - hour), issuedAt(noon)]);
    expect([used(record, noon, usual), used(record, noon, requests)]).toEqual([1, 2]);
    expect(leavesAt(refusedAt(noon), termOf(requests))).toBe(leavesAt(issuedAt(noon), term));
  });

  test('is each request of a sum', () => {
    const sum = { reason: 'several', tokens: 40 } as const;
    expect([issuedAt, unknownAt, refusedAt].map((at) => costOf(at(noon, sum), term))).toEqual([40, 40, 0]);
    expect(costOf(refusedAt(noon, sum), termOf(requests))).toBe(40);
  });

  test('is a token whose outcome was heard of late for no longer than one of unknown outcome', () => {
    const reserved = openAt(noon - 12 * hour);
    const late = settle(recordWith([reserved]), noon, reserved, issued(reserved, noon));
    const hourly = termOf(oneWindow(10, hour));
    for (const each of [term, hourly])
      expect(late.spent.map((one) => leavesAt(one, each) - reserved.at)).toEqual([each.pendingMs]);
  });
});

describe('the room', () => {
  test.each<[IssuanceReason, number]>([
    ['cold', 110],
    ['refresh', 84],
    ['reset', 120],
  ])('for %s is %i', (reason, room) => expect(roomFor(recordWith([]), reason).room).toBe(room));

  test('comes back as soon as enough tokens have left', () => {
    const { spent } = recordWith(several(112, (index) => issuedAt(noon - hour + index * second)));
    expect(roomFor(recordWith(spent))).toMatchObject({ used: 112, unknown: 0, room: 0 });
    expect(roomFor(recordWith(spent)).roomAt).toBe(leavesAt(spent[2] as Spent, term));
    expect(roomFor(recordWith(spent), 'reset')).toMatchObject({ room: 8, roomAt: noon });
    expect(roomFor(recordWith(spent)).nextFreeAt).toBe(leavesAt(spent[0] as Spent, term));
    expect(roomFor(recordWith([])).nextFreeAt).toBeUndefined();
    // Those that have left do not leave again.
    expect(roomFor(recordWith([issuedAt(noon - 30 * hour), ...spent])).nextFreeAt).toBe(
      leavesAt(spent[0] as Spent, term),
    );
  });

  test('of a record that may miss tokens is what the reserve covers, and two of them are for resets', () => {
    const young = recordWith([issuedAt(noon - 2 * hour), unknownAt(noon)], { completeSince: noon - hour });
    expect([roomFor(young).room, roomFor(young, 'reset').room]).toEqual([27, 29]);
    expect(roomFor(young).unknown).toBe(1);
    const endsAt = noon - hour + term.pendingMs;
    expect(roomFor(young).newRecord).toEqual({ allowed: 28, remaining: 27, endsAt });
    expect(roomFor(young, 'cold', endsAt)).toMatchObject({ room: 109, newRecord: undefined });
  });

  test('of a record that may miss tokens is not less if the limit itself has less', () => {
    const full = recordWith(issuedSince(noon - 2 * hour, 115), { completeSince: noon - hour });
    expect(roomFor(full)).toMatchObject({ room: 0, newRecord: undefined });
    const none = recordWith([], { completeSince: noon });
    expect(tightest(roomsIn(situationOf(none, noon, oneWindow(150, day, 0)), 'cold')).newRecord).toBeUndefined();
  });

  test('of a record that allows fewer tokens at first comes when that rule or its tokens end', () => {
    const few = recordWith(issuedSince(noon, 28), { completeSince: noon });
    expect(roomFor(few)).toMatchObject({ room: 0, roomAt: leavesAt(issuedAt(noon), term) });
    const early = recordWith(
      several(28, () => unknownAt(noon, { id: 'one' })),
      { completeSince: noon - minute },
    );
    expect(roomFor(early)).toMatchObject({ room: 0, roomAt: noon - minute + term.pendingMs });
  });

  test('is needed in every window', () => {
    const windows = [
      { tokens: 10, windowMs: hour },
      { tokens: 50, windowMs: day },
    ];
    const limits = limitsFor(windows, undefined, 'durable');
    const full = (spent: readonly Spent[], now: number) =>
      tightest(roomsIn(situationOf(recordWith(spent), now, limits), 'cold'));
    expect(full(issuedSince(noon, 8), noon + 9)).toMatchObject({ term: { windowMs: hour }, room: 0 });
    expect(full(issuedSince(noon - 5 * hour, 37), noon)).toMatchObject({ term: { windowMs: day }, room: 0 });
    expect(full([], noon)).toMatchObject({ term: { windowMs: hour }, room: 8 });
  });

  test('is needed in the windows of others for as long as these are enforced', () => {
    const other = statedBy('other', { tokens: 10, windowMs: day, reserve: 0 }, noon - hour / 2);
    const record = recordWith(issuedSince(noon - hour, 10), { limits: [other] });
    expect(roomFor(record)).toMatchObject({ own: false, room: 0, roomAt: noon + hour / 2 });
    expect(roomsIn(situationOf(record, noon + hour / 2), 'cold')).toHaveLength(1);
  });

  test('counts where members of a fleet disagree about what counts by both', () => {
    const [ofRequests] = requests.terms;
    const record = recordWith([refusedAt(noon - hour)], { limits: [statedBy('other', ofRequests as never, noon)] });
    const rooms = roomsIn(situationOf(record), 'cold');
    expect(rooms.map(({ used, own }) => [used, own])).toEqual([
      [0, true],
      [1, false],
    ]);
  });
});

describe('the share of renewals that 401s cause', () => {
  const rejected = (name: string, count: number) =>
    several(count, (index) => issuedAt(noon - 20 * hour + index, { id: `${name} ${index}`, name, reason: 'rejected' }));
  const shareAt = (spent: readonly Spent[]) => {
    const record = recordWith(spent);
    return Math.max(...enforcedTerms(situationOf(record)).map((enforced) => rejectedShareAt(record, enforced)));
  };

  test('is one for all tokens', () => {
    const half = rejected('invoices', term.rejectedShare / 2);
    expect(shareAt([...half, ...rejected('orders', 19)])).toBe(0);
    expect(shareAt([...half, ...rejected('orders', 20)])).toBe(noon - 20 * hour + term.settledMs);
  });
});

import { describe, expect, test } from 'vitest';
import { expiringBy } from '../../src/ledger/clock.ts';
import type { LedgerRecord } from '../../src/ledger/journal.ts';
import { reconcile, type Seen } from '../../src/ledger/repair.ts';
import { day, hour, minute, second } from '../support/instants.ts';
import { attemptAt, recordWith, seenAt, unknownAt, usual } from './support/attempts.ts';
import { noon } from './support/history.ts';
import { canonical, used } from './support/records.ts';

const token = {
  audience: 'orders',
  keyId: 'key',
  id: 'token',
  generation: 7,
  expiresAt: noon + 10 * hour,
  aheadMs: 0,
  lifetimeMs: day,
  sealed: 'sealed',
};
const attempts = Array.from({ length: 100 }, (_, index) => attemptAt(noon - 20 * hour + index));
const repaired = (loaded: LedgerRecord | undefined, seen?: Seen, now = noon) =>
  reconcile(loaded, seen, now, 'new epoch', usual);
const known = recordWith(attempts, {
  tokens: [token],
  buckets: [{ epoch: 'epoch', slot: 1, unknown: true, last: noon - 22 * hour, count: 9 }],
});

describe('a record that fits what is known', () => {
  test('is taken as it is', () => {
    for (const seen of [undefined, seenAt(known, noon), seenAt({ ...known, sequence: 8 }, noon)]) {
      const { record, ...rest } = repaired(known, seen);
      expect(rest).toEqual({ now: noon, lost: false, restored: 0, clockBackMs: 0, changed: false });
      expect(used(record, noon, usual)).toBe(109);
    }
  });
});

describe('a record that was lost', () => {
  test('is put back, with its token, and is young', () => {
    const found = repaired(undefined, seenAt(known, noon));
    expect(found).toMatchObject({ lost: true, restored: 109, changed: true });
    expect(found.record).toMatchObject({ epoch: 'new epoch', completeSince: noon, sequence: 9, tokens: [token] });
    expect(used(found.record, noon, usual)).toBe(109);
  });

  test('and was begun anew by somebody else is completed once', () => {
    const begun = recordWith([attemptAt(noon - second, { epoch: 'other' })], {
      epoch: 'other',
      sequence: 3,
      completeSince: noon - minute,
    });
    const found = repaired(begun, seenAt(known, noon));
    expect(found).toMatchObject({ restored: 109, changed: true });
    expect(found.record).toMatchObject({ epoch: 'other', completeSince: noon - minute, sequence: 9 });
    expect(used(found.record, noon, usual)).toBe(110);
    const again = repaired(found.record, seenAt(known, noon));
    expect([again.restored, again.changed]).toEqual([0, false]);
  });

  test('and went back to an older state begins a new epoch, and may miss what others wrote', () => {
    const older = recordWith(attempts.slice(0, 40), { sequence: 4 });
    const found = repaired(older, seenAt(known, noon));
    expect(found.record).toMatchObject({ epoch: 'new epoch', completeSince: noon, sequence: 9 });
    expect(used(found.record, noon, usual)).toBe(109);
  });

  test('has the later one of two tokens', () => {
    const later = { ...token, id: 'later', generation: 8 };
    const other = (of: typeof token) => recordWith([], { epoch: 'other', tokens: [of] });
    expect(repaired(other(later), seenAt(known, noon)).record.tokens).toEqual([later]);
    expect(repaired(other(token), seenAt({ ...known, tokens: [later] }, noon)).record.tokens).toEqual([later]);
  });

  test('when the clock lost five minutes, too, has what was known with the age that it has', () => {
    const { record, lost } = repaired(undefined, seenAt(known, noon), noon - 5 * minute);
    expect(lost).toBe(true);
    expect(record.attempts.map(({ at }) => at)).toEqual(attempts.map(({ at }) => at - 1));
    expect(record.tokens[0]?.expiresAt).toBe(token.expiresAt - 5 * minute);
  });

  test('stays reset', () => {
    const memory = recordWith([], { revoked: { orders: noon - hour } });
    expect(repaired(recordWith([], { epoch: 'other', tokens: [token] }), seenAt(memory, noon)).record.revoked).toEqual({
      orders: noon - hour,
    });
  });
});

describe('a clock that leapt forward by 26 hours', () => {
  const [before, after] = [seenAt(known, noon, second), noon + second + 26 * hour];

  test('empties the window for who cannot know', () => {
    expect(used(repaired(known, undefined, after).record, after, usual)).toBe(0);
  });

  test('lets everything keep its age for who ran through it', () => {
    const { record, changed } = repaired(known, before, after);
    expect(changed).toBe(true);
    expect(used(record, after, usual)).toBe(109);
    expect(used(record, after + 5 * hour - 2 * second, usual)).toBe(109);
    expect(used(record, after + 5 * hour + 10 * minute, usual)).toBe(0);
  });

  test('moves a record once, however many processes ran through it', () => {
    const once = repaired(known, before, after).record;
    for (const sequence of [9, 10]) {
      const again = repaired({ ...once, sequence }, seenAt(known, noon, 2 * second), after + second);
      expect([again.changed, canonical(again.record.attempts)]).toEqual([false, canonical(once.attempts)]);
    }
  });

  test('moves what somebody wrote after it, too, who did not know', () => {
    const late = attemptAt(after - minute);
    const written = { ...known, sequence: 10, highWaterAt: after - minute, attempts: [...known.attempts, late] };
    const { record } = repaired(written, before, after);
    expect(used(record, after, usual)).toBe(110);
    expect(record.attempts.at(-1)?.at).toBe(after);
  });

  test('is none of ten minutes or less', () => {
    expect(repaired(known, seenAt(known, noon, second), noon + second + 10 * minute).changed).toBe(false);
    expect(repaired(known, seenAt(known, noon, second), noon + second + 10 * minute + 1).changed).toBe(true);
  });

  test('keeps the distance of what lies ahead, and extends no token', () => {
    const told = attemptAt(noon, {
      outcome: { kind: 'refused', at: noon, charge: 0, toldUntil: noon + hour, holdUntil: noon + minute },
    });
    const loaded = recordWith([told, attemptAt(noon + 1, { outcome: undefined, until: noon + 40 * second })], {
      tokens: [token],
    });
    const { record } = repaired(loaded, seenAt(loaded, noon, second), after);
    expect(
      record.attempts.map(({ until, outcome }) => [until - after, outcome && (outcome.toldUntil ?? 0) - after]),
    ).toEqual([
      [39 * second, hour - second],
      [39 * second, undefined],
    ]);
    expect(record.tokens).toEqual([token]);
  });
});

describe('a clock that was set back by five hours', () => {
  const now = noon - 5 * hour;

  test('leaves an attempt its age for who measured it, and makes it no later than now otherwise', () => {
    const unseen = { ...known, sequence: 10, attempts: [...known.attempts, attemptAt(noon - second)] };
    const { record, clockBackMs } = repaired(unseen, seenAt(known, noon, second), now + second);
    expect(clockBackMs).toBeGreaterThan(4 * hour);
    // Ten minutes of the step may be gained again.
    expect(record.attempts[0]?.at).toBe(noon - 25 * hour + 10 * minute);
    expect(record.attempts.at(-1)?.at).toBe(now + second);
    expect(used(record, now, usual)).toBe(110);
    const blind = repaired(known, undefined, now).record;
    expect(blind.attempts.map(({ at }) => at)).toEqual(known.attempts.map(({ at }) => Math.min(at, now)));
    expect([blind.era, blind.highWaterAt]).toEqual([1, now]);
  });

  test('is counted once: who measured it too finds it done', () => {
    const once = { ...repaired(known, seenAt(known, noon), now).record, sequence: 10 };
    const again = repaired(once, seenAt(known, noon, second), now + second);
    expect(canonical(again.record.attempts)).toBe(canonical(once.attempts));
    expect(again.record.era).toBe(1);
  });

  test('leaves what lies ahead an hour at most', () => {
    const loaded = recordWith([
      attemptAt(noon - minute, {
        ...unknownAt(noon - minute, { toldUntil: noon + 9 * hour, holdUntil: noon + minute }),
        until: noon + second,
      }),
    ]);
    const { record } = repaired(loaded, undefined, now);
    const [attempt] = record.attempts;
    expect(
      [attempt?.outcome?.toldUntil, attempt?.outcome?.holdUntil, attempt?.until].map((at) => (at ?? 0) - now),
    ).toEqual([hour, minute, second]);
  });

  test('leaves a token the life that was measured, and ends one whose life was not', () => {
    const measured = repaired(known, seenAt(known, noon, minute), now + minute).record.tokens;
    expect(measured).toEqual([expiringBy(token, now + minute + 10 * hour - minute)]);
    expect(measured[0]?.aheadMs).toBe(5 * hour);
    expect(repaired(known, undefined, now).record.tokens[0]?.expiresAt).toBe(now);
  });

  test('is none of a minute or less: the time of the ledger stands still', () => {
    expect(repaired(known, seenAt(known, noon), noon - minute)).toMatchObject({
      now: noon,
      changed: false,
      clockBackMs: 0,
    });
  });

  test('does not make what is dropped known again', () => {
    expect(repaired(recordWith([], { completeSince: noon - second }), undefined, now).record.completeSince).toBe(now);
  });
});

test('what a process remembers of a lost record keeps its age, whatever the clock of the store says', () => {
  for (const byMs of [-20 * hour, -hour, 0, hour, 20 * hour]) {
    const now = noon + byMs + 3 * hour;
    const { record } = repaired(undefined, seenAt(known, noon, 3 * hour), now);
    const ages = record.attempts.map(({ at }) => now - at);
    for (const [index, age] of ages.entries()) {
      const truth = noon + 3 * hour - (known.attempts[index]?.at ?? 0);
      expect(age).toBeLessThanOrEqual(truth);
      expect(age).toBeGreaterThanOrEqual(truth - 10 * minute);
    }
  }
});

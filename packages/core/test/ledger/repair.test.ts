import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { denialOf } from '../../src/ledger/decide.ts';
import { type AudienceState, audienceStateOf, type LedgerRecord } from '../../src/ledger/record.ts';
import { reconcile, type Seen } from '../../src/ledger/repair.ts';
import { day, hour, minute, noon, second } from '../support/instants.ts';
import {
  audienceWith,
  declaredBy,
  entriesAt,
  entryAt,
  failuresWith,
  recordWith,
  seed,
  spentIn,
  tokenAt,
  usualLimits,
  usualTerm,
} from '../support/records.ts';

const seenAt = (record: LedgerRecord, now = noon, elapsedMs = 0, maxElapsedMs = elapsedMs): Seen => {
  const { epoch, sequence } = record;
  return { epoch, sequence, record, now, ledgerNow: Math.max(now, record.highWaterAt), elapsedMs, maxElapsedMs };
};
const who = { audience: 'orders', keyId: 'key', secretId: 'secret' };
const repaired = (loaded: LedgerRecord | undefined, seen?: Seen, now = noon) =>
  reconcile(loaded, seen, now, 'new epoch', usualLimits);

describe('a record that fits what is known', () => {
  const record = recordWith({ entries: [entryAt(noon - hour)] });

  test('is taken as it is', () => {
    for (const seen of [undefined, seenAt(record), seenAt({ ...record, sequence: 8 })]) {
      const found = repaired(record, seen);
      expect(found).toEqual({ record, now: noon, lost: false, restored: 0, clockBackMs: 0, changed: false });
    }
  });

  test('is a new one when there has never been one', () => {
    const { record: fresh, lost, changed } = repaired(undefined);
    expect(fresh).toMatchObject({
      epoch: 'new epoch',
      sequence: 0,
      completeSince: noon,
      highWaterAt: noon,
      entries: [],
    });
    expect([lost, changed]).toEqual([false, false]);
  });
});

describe('tokens that somebody said were issued elsewhere', () => {
  const said = (count: number, at: number) => ({ spentElsewhere: { at, count, instance: 'ops', reason: `${count}` } });
  const known = seenAt(recordWith(said(40, noon - hour)));
  const found = (count: number) => recordWith({ epoch: 'other epoch', ...said(count, noon - minute) });

  test.each([10, 60])(
    'are the larger number, from the later instant on, when the new record has %i and memory 40',
    (count) => {
      expect(repaired(found(count), known).record).toMatchObject(said(Math.max(40, count), noon - minute));
    },
  );
});

describe('deaths in a row', () => {
  const deaths = (count: number) => ({ count, retryAt: noon + count * minute, countedUntil: noon });
  const known = seenAt(recordWith({ deaths: deaths(4) }));
  const found = (count: number) => recordWith({ epoch: 'other epoch', deaths: deaths(count) });

  test('are put back from memory when the record lost them', () => {
    expect(repaired(found(0), known).record.deaths).toEqual(deaths(4));
  });

  test('are those of the record when it has some', () => {
    expect(repaired(found(3), known).record.deaths).toEqual(deaths(3));
  });
});

describe('a record that was lost', () => {
  const token = tokenAt(7, noon + hour);
  const known = recordWith({
    entries: [entryAt(noon - 2 * hour), entryAt(noon - hour, { pending: true })],
    condensed: [{ at: noon - 3 * hour, pending: false, count: 40 }],
    audiences: [audienceWith({ token })],
    failures: failuresWith({ count: 1, retryAt: noon + minute, ambiguous: true }),
    rateLimit: { count: 2, retryAt: noon + hour },
  });

  test('is put back with the token, in a new epoch', () => {
    const found = repaired(undefined, seenAt(known));
    expect(found).toMatchObject({ lost: true, restored: 42, changed: true });
    const { entries, audiences, failures, rateLimit } = known;
    expect(found.record).toMatchObject({ epoch: 'new epoch', completeSince: noon, sequence: 9, entries, audiences });
    expect(found.record).toMatchObject({ failures, rateLimit });
    expect(spentIn(found.record)).toEqual(spentIn(known));
  });

  test('is put back with what is left of the pauses, when the clock was set back', () => {
    const pausedBy = (now: number, elapsedMs: number) => {
      const { failures, rateLimit } = repaired(undefined, seenAt(known, noon, elapsedMs), now).record;
      return [failures, rateLimit].map((pause) => (pause?.retryAt ?? Number.NaN) - now);
    };
    expect(pausedBy(noon, 0)).toEqual([minute, hour]);
    expect(pausedBy(noon - minute, 0)).toEqual([2 * minute, hour + minute]);
    expect(pausedBy(noon - minute - 1, 0)).toEqual([minute, hour]);
    expect(pausedBy(noon - 9 * hour, 40 * second)).toEqual([20 * second, hour - 40 * second]);
  });

  test('is completed when somebody else began it anew, and keeps what has happened there', () => {
    const begun = recordWith({
      epoch: 'other',
      sequence: 3,
      completeSince: noon - minute,
      entries: [entryAt(noon - second)],
      failures: failuresWith({ count: 9, retryAt: noon, ambiguous: false }),
    });
    const found = repaired(begun, seenAt(known));
    expect(found).toMatchObject({ lost: true, restored: 2, changed: true });
    expect(found.record).toMatchObject({
      epoch: 'other',
      completeSince: begun.completeSince,
      sequence: 9,
    });
    expect(found.record.failures).toEqual(begun.failures);
    expect(found.record.entries.map(({ id }) => id)).toEqual([...known.entries, ...begun.entries].map(({ id }) => id));
  });

  test('is written anew even if there was nothing in it', () => {
    expect(repaired(undefined, seenAt(recordWith({ sequence: 1 })))).toMatchObject({ restored: 0, changed: true });
  });

  test('is written again when one entry was missing, and nothing else', () => {
    const begun = { ...known, epoch: 'other', sequence: 10, entries: known.entries.slice(1) };
    expect(repaired({ ...begun, condensed: [] }, seenAt(known))).toMatchObject({ restored: 1, changed: true });
  });

  test('needs no writing when somebody else has restored all of it', () => {
    const restored = { ...known, epoch: 'other', sequence: 10 };
    expect(repaired(restored, seenAt(known))).toMatchObject({ lost: true, restored: 0, changed: false });
  });

  test('is written again when somebody else restored all but the sequence, so that it is not taken for older for ever', () => {
    const restored = { ...known, epoch: 'other', sequence: 5 };
    const found = repaired(restored, seenAt(known));
    expect(found).toMatchObject({ restored: 0, changed: true });
    expect(repaired({ ...found.record, sequence: 10 }, seenAt(found.record)).lost).toBe(false);
  });
});

describe('a record that went back to an older state', () => {
  const before = recordWith({
    sequence: 5,
    entries: [entryAt(noon - 2 * hour)],
    condensed: [{ at: noon - hour, pending: true, count: 3 }],
  });
  const added = entryAt(noon - hour);
  const known = { ...before, sequence: 6, entries: [...before.entries, added] };

  test('begins anew with what memory adds', () => {
    const found = repaired(before, seenAt(known));
    expect(found).toMatchObject({ lost: true, restored: 1, changed: true });
    expect(found.record).toMatchObject({
      epoch: 'new epoch',
      completeSince: noon,
      sequence: 6,
      entries: known.entries,
    });
    expect(spentIn(found.record).used).toBe(5);
  });

  test('counts a bucket once that both have, as large as it became, and counts twice what it cannot tell apart', () => {
    const restored = (at: number, pending: boolean, count: number) =>
      repaired(before, seenAt({ ...known, condensed: [{ at, pending, count }] })).restored - 1;
    expect(restored(noon - hour, true, 7)).toBe(4);
    expect(restored(noon - hour, true, 2)).toBe(0);
    expect(restored(noon - hour, false, 3)).toBe(3);
    expect(restored(noon - hour + 1, true, 3)).toBe(3);
  });

  test('allows only as many as the reserve covers before the window has passed', () => {
    const { record } = repaired(before, seenAt(known));
    const gained = (count: number) => ({ ...record, entries: [...record.entries, ...entriesAt(noon, count)] });
    expect(denialOf(gained(27), noon, who, 'cold', usualLimits)).toBeUndefined();
    expect(denialOf(gained(28), noon, who, 'cold', usualLimits)?.retryAt).toBe(noon + usualTerm.settledMs);
  });
});

describe('slots on both sides', () => {
  const loadedWith = (fields: object) =>
    recordWith({ epoch: 'other', sequence: 20, audiences: [audienceWith(fields)] });
  const merged = (store: object, memory: object) => {
    const { record, changed } = repaired(loadedWith(store), seenAt(recordWith({ audiences: [audienceWith(memory)] })));
    return { ...record.audiences[0], changed };
  };
  const first = tokenAt(noon - 2, noon + hour);
  const later = tokenAt(noon - 1, noon + hour);

  test('the token of the later reservation wins', () => {
    expect(merged({ token: first }, { token: later })).toMatchObject({ token: later, changed: true });
    expect(merged({ token: later }, { token: first })).toMatchObject({ token: later, changed: false });
  });

  test('what was reset on either side stays reset', () => {
    const inMemory = merged({ token: first }, { revoked: noon - 2 });
    expect(inMemory).toMatchObject({ revoked: noon - 2, changed: true });
    expect(inMemory.token).toBeUndefined();
    const inStore = merged({ revoked: noon - 1 }, { token: later });
    expect(inStore).toMatchObject({ revoked: noon - 1, changed: false });
    expect(inStore.token).toBeUndefined();
    expect(merged({ token: later }, { revoked: noon - 2 })).toMatchObject({
      token: later,
      revoked: noon - 2,
      changed: true,
    });
  });

  test('what was reset under any key stays reset', () => {
    const token = tokenAt(noon - 2, noon + hour);
    const reset = audienceWith({ keyId: 'other', revoked: noon - 1 });
    const found = (store: AudienceState, memory: AudienceState) =>
      repaired(recordWith({ epoch: 'other', audiences: [store] }), seenAt(recordWith({ audiences: [memory] }))).record;
    for (const record of [found(reset, audienceWith({ token })), found(audienceWith({ token }), reset)]) {
      expect(audienceStateOf(record, 'orders', 'key')).toMatchObject({ revoked: noon - 1, token: undefined });
      expect(record.audiences.some((state) => state.token)).toBe(false);
    }
  });

  test('of two tokens of one reservation that of the record wins', () => {
    const [mine, theirs] = ['mine', 'theirs'].map((id) => audienceWith({ token: tokenAt(5, noon + hour, { id }) }));
    const seen = recordWith({ audiences: [mine ?? audienceWith()] });
    const found = repaired(recordWith({ epoch: 'other', audiences: [theirs ?? audienceWith()] }), seenAt(seen));
    expect(found.record.audiences[0]?.token?.id).toBe('theirs');
  });

  test('a slot without a token is kept for what was reset in it', () => {
    const state = audienceWith({ revoked: noon - day });
    const found = repaired(recordWith({ epoch: 'other' }), seenAt(recordWith({ audiences: [state] })));
    expect(found.record.audiences).toEqual([{ ...state, token: undefined }]);
  });

  test('the fingerprints of both sides are kept, and the generation of a token that both have is that in memory', () => {
    const of = (hash: string, generation: number) => ({ hash, generation, until: noon + day });
    const older = audienceWith({ revoked: noon - 4, fingerprints: [of('a', noon - 6), of('b', noon - 5)] });
    const loaded = audienceWith({ fingerprints: [of('b', noon - 3), of('c', noon - 2)] });
    const found = repaired(
      recordWith({ epoch: 'other', audiences: [loaded] }),
      seenAt(recordWith({ audiences: [older] })),
    );
    expect(found.record.audiences[0]?.fingerprints).toEqual([of('a', noon - 6), of('b', noon - 5), of('c', noon - 2)]);
  });

  test('a fingerprint that only memory has is put back, also if nothing else differs', () => {
    const of = (hash: string) => ({ hash, generation: noon - 6, until: noon + day });
    const stateOf = (...hashes: string[]) => audienceWith({ revoked: noon - 4, fingerprints: hashes.map(of) });
    const found = (loaded: AudienceState, memory: AudienceState) =>
      repaired(recordWith({ epoch: 'other', audiences: [loaded] }), seenAt(recordWith({ audiences: [memory] })));
    const { record, changed } = found(stateOf('a', 'c'), stateOf('a', 'b'));
    expect([record.audiences, changed]).toEqual([[stateOf('a', 'b', 'c')], true]);
    expect(found({ ...stateOf(), fingerprints: undefined }, stateOf('a'))).toMatchObject({
      record: { audiences: [stateOf('a')] },
      changed: true,
    });
    expect(found(stateOf('a', 'b'), stateOf('a')).changed).toBe(false);
  });

  test('a slot that only one side knows is kept', () => {
    const others = [
      audienceWith({ keyId: 'other', token: first }),
      audienceWith({ audience: 'invoices', token: first }),
    ];
    const { record } = repaired(loadedWith({ token: later }), seenAt(recordWith({ audiences: others })));
    expect(record.audiences).toEqual([audienceWith({ token: later }), ...others]);
  });
});

describe('clocks', () => {
  test('the time of the ledger stands still while the clock is up to a minute behind', () => {
    const record = recordWith({ highWaterAt: noon + minute });
    expect(repaired(record)).toMatchObject({ now: noon + minute, clockBackMs: 0, changed: false });
    expect(repaired(record, undefined, noon + 2 * hour)).toMatchObject({
      now: noon + 2 * hour,
      record: { highWaterAt: noon + 2 * hour },
    });
  });

  describe('that were set back', () => {
    const before = noon + 9 * hour;
    const token = tokenAt(before, before + day);
    const known = recordWith({
      completeSince: before - hour,
      highWaterAt: before,
      entries: [entryAt(noon - hour), entryAt(before)],
      condensed: [{ at: before, pending: true, count: 5 }],
      audiences: [
        audienceWith({
          token,
          lease: { id: 'x', generation: before + 1, until: before + minute },
          renewAfter: before + 2 * minute,
          unreadableUntil: before + 3 * minute,
          credentialsBackoff: { secretId: 'secret', count: 2, retryAt: before + 4 * minute, status: 401 },
        }),
      ],
      failures: failuresWith({ count: 3, retryAt: before + 5 * minute, ambiguous: true }),
      rateLimit: { count: 4, retryAt: before + 25 * hour },
    });

    test('make the ledger start again: entries count in full, pauses have left what they had', () => {
      const found = repaired(known);
      expect(found).toMatchObject({ now: noon, clockBackMs: 9 * hour, changed: true, lost: false });
      expect(found.record).toMatchObject({ epoch: 'epoch', sequence: 9, completeSince: noon, highWaterAt: noon });
      expect(found.record.entries.map(({ at }) => at)).toEqual([noon - hour, noon]);
      expect(spentIn(found.record)).toEqual({ used: 7, pending: 5 });
      const { audiences, failures, rateLimit } = found.record;
      expect(audiences).toMatchObject([
        {
          lease: { id: 'x', generation: before + 1, until: noon + minute },
          renewAfter: noon + 2 * minute,
          unreadableUntil: noon + 3 * minute,
          credentialsBackoff: { count: 2, retryAt: noon + 4 * minute },
        },
      ]);
      expect(failures).toMatchObject({ count: 3, retryAt: noon + 5 * minute });
      expect(rateLimit).toEqual({ count: 4, retryAt: noon + hour });
    });

    test('end a token whose life was not measured, and keep its generation', () => {
      const [state] = repaired(known).record.audiences;
      expect(state?.token).toEqual({ ...token, expiresAt: noon, aheadMs: 9 * hour + day });
    });

    test('leave a token the life that this process measured, whoever wrote the record since', () => {
      const left = (sequence: number, now: number) => {
        const seen = seenAt({ ...known, sequence }, before, 10 * second, 20 * second);
        return (repaired(known, seen, now).record.audiences[0]?.token?.expiresAt ?? 0) - now;
      };
      expect(left(9, noon)).toBe(day - 20 * second);
      expect(left(8, noon)).toBe(day - 20 * second);
      // A record of another epoch does not tell when this one was written.
      const foreign = seenAt({ ...known, epoch: 'other', audiences: [] }, before);
      expect(repaired(known, foreign, noon).record.audiences[0]?.token?.expiresAt).toBe(noon);
    });

    test('end a token that this process sees for the first time: its writer may have stood still between its read and its write', () => {
      const seen = seenAt({ ...known, sequence: 8, audiences: [] }, before, 10 * second);
      expect(repaired(known, seen, noon).record.audiences[0]?.token?.expiresAt).toBe(noon);
    });

    test('are noticed by who measured it, though the clock has passed the latest instant of the record since', () => {
      const seen = seenAt(known, before, 10 * hour);
      const now = before + hour;
      const found = repaired(known, seen, now);
      expect(found).toMatchObject({ now, clockBackMs: 9 * hour, changed: true });
      expect(found.record.audiences[0]?.token?.expiresAt).toBe(now + 14 * hour);
      expect(found.record.rateLimit?.retryAt).toBe(now + hour);
    });

    test('shorten the life of a token that this process saw before, though another one wrote the record since', () => {
      const seen = seenAt(known, before, 10 * hour);
      const now = before + hour;
      const found = repaired({ ...known, sequence: 10 }, seen, now);
      expect(found).toMatchObject({ clockBackMs: 0, changed: true, record: { rateLimit: known.rateLimit } });
      expect(found.record.audiences[0]?.token?.expiresAt).toBe(now + 14 * hour);
      const later = { ...known, sequence: 10, audiences: [audienceWith({ token: tokenAt(before + 1, before + day) })] };
      expect(repaired(later, seen, now)).toMatchObject({ changed: false, record: { audiences: later.audiences } });
    });

    test('twice take away from the life of a token what passed, once', () => {
      const first = repaired(known, seenAt(known, before, 0)).record;
      const again = repaired({ ...first, highWaterAt: noon }, seenAt(first, noon, minute), noon - hour).record;
      expect(again.audiences[0]?.token).toEqual({
        ...token,
        expiresAt: noon - hour + day - minute,
        aheadMs: 10 * hour + minute,
      });
    });

    test('are not noticed where a machine slept and its clocks did not tell', () => {
      expect(repaired({ ...known, highWaterAt: noon }, seenAt(known, before, 0, 0), before)).toMatchObject({
        clockBackMs: 0,
      });
    });
  });

  describe('of a clock that leapt forward', () => {
    const leap = 26 * hour;
    const young = { ...usualTerm, tokens: 10 };
    const known = recordWith({
      completeSince: noon - 3 * hour,
      highWaterAt: noon,
      terms: [declaredBy('other', young, noon - minute)],
      entries: [entryAt(noon - 2 * hour), entryAt(noon - hour)],
      condensed: [{ at: noon - 3 * hour, pending: true, count: 5 }],
    });
    const now = noon + leap + minute;
    const agesOf = ({ entries, condensed, terms, completeSince }: LedgerRecord) =>
      [...entries, ...condensed, { at: terms[0]?.seenAt ?? 0 }, { at: completeSince }].map(({ at }) => now - at);
    const ages = [2 * hour, hour, 3 * hour, minute, 3 * hour].map((age) => age + minute);

    test('keep their age if this process ran through the leap', () => {
      const found = repaired(known, seenAt(known, noon, minute), now);
      expect(found).toMatchObject({ now, changed: true, lost: false, clockBackMs: 0 });
      expect(agesOf(found.record)).toEqual(ages);
      expect(spentIn(found.record, now)).toEqual(spentIn(known));
    });

    test('keep their age also if another process wrote them before the leap, and this one did not see it', () => {
      const before = recordWith({ ...known, sequence: 8, entries: [], condensed: [], terms: [], completeSince: 0 });
      const found = repaired(known, seenAt(before, noon - 5 * minute, 6 * minute), now);
      expect(agesOf(found.record)).toEqual(ages);
    });

    test('keep the age that another process gave them', () => {
      const first = repaired(known, seenAt(known, noon, minute), now).record;
      const again = repaired({ ...first, sequence: 10 }, seenAt(known, noon, 2 * minute), now + minute);
      expect(again.record.entries).toEqual(first.entries);
      expect(again.record.condensed).toEqual(first.condensed);
    });

    test('keep their age if this process saw them, and a process that did not know wrote the record meanwhile', () => {
      const later = entryAt(now - second);
      const written = { ...known, sequence: 10, highWaterAt: now - second, entries: [...known.entries, later] };
      const found = repaired(written, seenAt(known, noon, minute), now);
      expect(agesOf(found.record)).toEqual([ages[0], ages[1], second, ...ages.slice(2)]);
    });

    test('are left as they are if a late write, older than what this process saw, seems to come from a clock that leapt', () => {
      const late = { ...known, sequence: 10, highWaterAt: noon - hour };
      const found = repaired(late, seenAt(known, noon, 50 * hour), noon + 50 * hour);
      expect(found).toMatchObject({ changed: false, record: { entries: known.entries } });
    });

    test('are left as they are if it was ten minutes or less', () => {
      const found = repaired(known, seenAt(known, noon, minute), noon + 11 * minute);
      expect(found).toMatchObject({ changed: false, record: { entries: known.entries } });
    });
  });

  test('a clock that goes to and fro, with that of the machine, lets no entry age by more than it lost', () => {
    // A clock that is set forward together with that of the machine looks like a machine that slept.
    let record = recordWith({ highWaterAt: noon, entries: [entryAt(noon - hour)] });
    for (let round = 0; round < 4; round++) {
      record = repaired(record, seenAt(record, noon, 0), noon - 9 * hour).record;
      record = repaired(record, seenAt(record, noon - 9 * hour, 0, 9 * hour), noon).record;
    }
    expect(record.entries.map(({ at }) => noon - at)).toEqual([9 * hour]);
  });

  test('a clock that was set back makes what was dropped in the meantime unknown again', () => {
    // While the clock was ahead, everything up to this instant was dropped.
    const completeSince = noon - 2 * hour;
    const ahead = 9 * day;
    const record = recordWith({ completeSince, highWaterAt: noon + ahead, entries: entriesAt(noon + ahead, 28) });
    const found = repaired(record);
    expect(found).toMatchObject({ now: noon, clockBackMs: ahead, changed: true, record: { completeSince } });
    expect(found.record.entries.every(({ at }) => at === noon)).toBe(true);
    expect(denialOf(found.record, noon, who, 'cold', usualLimits)).toMatchObject({ cause: 'limit' });
    expect(denialOf(record, noon + ahead, who, 'cold', usualLimits)).toBeUndefined();
  });

  test('a clock that was set back makes declarations no later than now', () => {
    const term = { tokens: 10, windowMs: hour, reserve: 0 };
    const terms = [declaredBy('other', term, noon + 9 * hour)];
    expect(repaired(recordWith({ highWaterAt: noon + 9 * hour, terms })).record.terms).toEqual([
      declaredBy('other', term, noon),
    ]);
  });

  test(`what is put back is never older than it truly is, whatever the two stores' clocks say (seed ${seed})`, () => {
    const scenario = fc.record({
      ages: fc.array(fc.integer({ min: 0, max: 25 * hour }), { maxLength: 20 }),
      // `passedMs` is the true time since the record was seen. `noticed` is the share of it that this process noticed.
      passedMs: fc.integer({ min: 0, max: 20 * hour }),
      noticed: fc.double({ min: 0, max: 1, noNaN: true }),
      clockOffsetMs: fc.integer({ min: -3 * hour, max: 300 * day }),
    });
    fc.assert(
      fc.property(scenario, ({ ages, passedMs, noticed, clockOffsetMs }) => {
        const known = recordWith({ entries: ages.map((age) => entryAt(noon - age)), highWaterAt: noon });
        const newClock = noon + passedMs + clockOffsetMs;
        const found = repaired(undefined, seenAt(known, noon, passedMs * noticed), newClock);
        for (const entry of found.record.entries) {
          const before = known.entries.find(({ id }) => id === entry.id);
          const trueAge = noon + passedMs - (before?.at ?? 0);
          expect(found.now - entry.at).toBeLessThanOrEqual(trueAge);
        }
        const mustCount = ages.filter((age) => age + passedMs < usualTerm.settledMs).length;
        expect(found.record.entries.length).toBeGreaterThanOrEqual(mustCount);
      }),
    );
  });

  test.each([
    ['gained', 20 * minute, 20 * minute],
    ['lost less than ten minutes', -9 * minute, 0],
    ['lost more than ten minutes', -25 * minute, -15 * minute],
  ])('a clock that %s while the store was lost', (_, gainedMs, shiftMs) => {
    const known = recordWith({ entries: [entryAt(noon)] });
    const { record } = repaired(undefined, seenAt(known, noon, hour), noon + hour + gainedMs);
    expect(record.entries.map(({ at }) => at)).toEqual([noon + shiftMs]);
  });

  test('what is put back into a store whose clock is behind its own beginning stays a valid instant', () => {
    const known = recordWith({ entries: [entryAt(noon)] });
    expect(repaired(undefined, seenAt(known, noon, hour), 0).record.entries[0]?.at).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { createAccessToken } from '../src/contract/access-token.ts';
import type { Instant } from '../src/platform/instant.ts';
import { type CachedToken, cachedToken, type UsableToken } from '../src/token/cached-token.ts';
import {
  type Attempt,
  accepted,
  after,
  attemptOf,
  due,
  emptyMemory,
  type Memory,
  need,
  rejected,
  resetBegun,
  resetDone,
  retried,
  revalidated,
  servableForMs,
  servesRejected,
  unusable,
} from '../src/token/memory.ts';
import { hour, minute, second } from './support/bed.ts';

const lifetimeMs = 24 * hour;
const wallAhead = 1_780_000_000_000;

/** A moment of a machine that never slept. */
const at = (monotonic: number): Instant => ({ monotonic, wall: wallAhead + monotonic });
/** A moment of a machine that has slept for so long. */
const sleptBy = (monotonic: number, machineSleepMs: number): Instant => ({
  monotonic,
  wall: wallAhead + monotonic + machineSleepMs,
});

const begun = 100 * second;

function usable(id: string, more: Partial<UsableToken> = {}): UsableToken {
  return {
    token: createAccessToken(id, `value of ${id}`, wallAhead, wallAhead + lifetimeMs),
    generation: 5,
    adopted: false,
    lifetimeMs,
    countedFrom: at(begun),
    usableUntil: begun + lifetimeMs - minute,
    ...more,
  };
}

const first: CachedToken = cachedToken(usable('first'), 0.5);
const fresh: Memory = {
  ...emptyMemory,
  cached: first,
  lastReadAt: at(begun),
  readDueAt: begun + 25 * second,
};
const attempt = (memory: Memory, reason: Attempt['reason'], now = at(begun)) => attemptOf(memory, reason, now);

describe('the need of a process before it serves a token', () => {
  test('is nothing with a fresh token', () => {
    expect(need(fresh, at(begun))).toBe('serve');
  });

  test('is a token without one, after a 401, and at the end of its life', () => {
    expect(need(emptyMemory, at(begun))).toBe('cold');
    expect(need({ ...fresh, mustReplace: 'rejected' as const }, at(begun))).toBe('rejected');
    expect(need({ ...fresh, mustReplace: 'rejected' as const }, at(first.usableUntil))).toBe('rejected');
    expect(need(fresh, at(first.usableUntil))).toBe('expired');
  });

  test('is a revalidation when the last one is more than 28 seconds ago by either clock', () => {
    expect(need(fresh, at(begun + 28 * second))).toBe('serve');
    expect(need(fresh, at(begun + 28 * second + 1))).toBe('revalidate');
    expect(need(fresh, sleptBy(begun, 28 * second + 1))).toBe('revalidate');
    expect(need({ ...emptyMemory, cached: first }, at(begun))).toBe('revalidate');
  });
});

describe('the work that is due while the token is served', () => {
  test('is nothing at first, and the memory stays the same', () => {
    expect(due(fresh, at(begun + 25 * second - 1))).toEqual({ memory: fresh, renew: false, revalidate: false });
    expect(due(fresh, at(begun)).memory).toBe(fresh);
  });

  test('is a revalidation after 25 seconds, and another one 5 seconds later if it failed', () => {
    const now = begun + 25 * second;
    const looking = due(fresh, at(now));
    expect(looking).toEqual({ memory: { ...fresh, readDueAt: now + 5 * second }, renew: false, revalidate: true });
    expect(due(looking.memory, at(now + 5 * second - 1)).revalidate).toBe(false);
    expect(due(looking.memory, at(now + 5 * second)).revalidate).toBe(true);
  });

  test('is a renewal in its time, and again 5 seconds later if nothing came of it', () => {
    const read = { ...fresh, readDueAt: lifetimeMs };
    expect(due(read, at(first.renewAt - 1)).renew).toBe(false);
    const renewing = due(read, at(first.renewAt));
    const renewRetryAt = first.renewAt + 5 * second;
    expect(renewing).toEqual({ memory: { ...read, renewRetryAt }, renew: true, revalidate: false });
    expect(due(renewing.memory, at(renewRetryAt - 1)).renew).toBe(false);
    expect(due(renewing.memory, at(renewRetryAt)).renew).toBe(true);
  });

  test('is never a renewal without a token', () => {
    expect(due(emptyMemory, at(2 * lifetimeMs)).renew).toBe(false);
  });

  test('can be both at once', () => {
    const both = due(fresh, at(first.renewAt));
    const retryAt = first.renewAt + 5 * second;
    expect(both.memory).toEqual({ ...fresh, renewRetryAt: retryAt, readDueAt: retryAt });
  });
});

describe('the time in which a token is served without a revalidation', () => {
  test('is a second at most', () => {
    expect(servableForMs(fresh, at(begun))).toBe(second);
  });

  test('ends with the next revalidation, the renewal and the life of the token', () => {
    expect(servableForMs(fresh, at(begun + 24.5 * second))).toBe(0.5 * second);
    const read = { ...fresh, readDueAt: 2 * lifetimeMs };
    expect(servableForMs(read, at(first.renewAt - 10))).toBe(10);
    const renewing = { ...read, renewRetryAt: 2 * lifetimeMs };
    expect(servableForMs(renewing, at(first.usableUntil - 10))).toBe(10);
    expect(servableForMs(renewing, sleptBy(first.usableUntil - hour - 10, hour))).toBe(10);
    expect(servableForMs({ ...read, renewRetryAt: first.renewAt + 300 }, at(first.renewAt))).toBe(300);
  });

  test('is none without a token', () => {
    expect(servableForMs({ ...emptyMemory, readDueAt: lifetimeMs }, at(begun))).toBe(0);
  });
});

describe('an attempt', () => {
  test('remembers the token with which it began, and for how long the machine had slept', () => {
    expect(attemptOf(fresh, 'refresh', sleptBy(begun, hour))).toEqual({
      ...{ reason: 'refresh', died: false, cached: first, machineSleepMs: hour },
    });
    expect(attemptOf(emptyMemory, 'revalidate', at(begun))).toEqual({
      ...{ reason: 'revalidate', died: false, cached: undefined, machineSleepMs: 0 },
    });
  });

  test('must not bring the token that reset() ended', () => {
    expect(unusable({ ...fresh, resetTokenId: 'old' }, attempt(fresh, 'refresh'), true)).toEqual(['old', undefined]);
  });

  test('must not bring the rejected token', () => {
    expect(unusable(fresh, attempt(fresh, 'rejected'), false)).toEqual([undefined, 'first']);
    expect(unusable(emptyMemory, attempt(emptyMemory, 'rejected'), false)).toEqual([undefined, undefined]);
  });

  test('must not bring the same token after sleep if the store slept as well', () => {
    const slept = attempt(fresh, 'refresh', sleptBy(begun, hour));
    expect(unusable(fresh, slept, true)).toEqual([undefined, 'first']);
    expect(unusable(fresh, slept, false)).toEqual([undefined, undefined]);
    expect(unusable(fresh, attempt(fresh, 'refresh'), true)).toEqual([undefined, undefined]);
  });

  test('says when the record was read, unless another token came meanwhile', () => {
    const now = at(begun + hour);
    const read = revalidated(fresh, attempt(fresh, 'refresh'), now);
    expect(read).toEqual({ ...fresh, lastReadAt: now, readDueAt: begun + hour + 25 * second });
    expect(revalidated(fresh, attempt(emptyMemory, 'cold'), now)).toBe(fresh);
  });
});

describe('an attempt that brought a token', () => {
  const bring = (memory: Memory, token: UsableToken, now: Instant = at(begun), random = 0.5) =>
    after(memory, attempt(memory, 'refresh'), { kind: 'token', usable: token, before: true }, now, random);

  test('has it cached', () => {
    expect(bring(emptyMemory, usable('first'))).toEqual({ ...emptyMemory, cached: first });
    expect(bring(emptyMemory, usable('first'), at(begun), 0).cached).toEqual(cachedToken(usable('first'), 0));
  });

  test('is a revalidation if another process had the token issued', () => {
    const adopted = usable('first', { adopted: true });
    expect(bring(emptyMemory, adopted)).toEqual({ ...fresh, cached: cachedToken(adopted, 0.5) });
  });

  test('replaces a token and forgets its rejection', () => {
    const second = usable('second', { generation: 6 });
    const next = bring({ ...fresh, mustReplace: 'rejected' as const }, second);
    expect(next).toEqual({ ...fresh, cached: cachedToken(second, 0.5), mustReplace: false });
  });

  test('changes nothing if the token was reset on its way, here or in the fleet', () => {
    const ended = { ...emptyMemory, resetTokenId: 'first' };
    expect(bring(ended, usable('first'))).toBe(ended);
    const resetUpTo = { ...emptyMemory, resetUpTo: 5 };
    expect(bring(resetUpTo, usable('first'))).toBe(resetUpTo);
    expect(bring({ ...emptyMemory, resetUpTo: 4 }, usable('first')).cached).toEqual(first);
  });

  test('changes nothing if it is the token in memory, rejected or not', () => {
    expect(bring(fresh, usable('first', { adopted: true }), at(begun + hour))).toBe(fresh);
    const rejected = { ...fresh, mustReplace: 'rejected' as const };
    expect(bring(rejected, usable('first', { adopted: true }), at(begun + hour))).toBe(rejected);
    const earlier = usable('first', { adopted: true, usableUntil: first.usableUntil - hour });
    expect(bring(rejected, earlier, sleptBy(begun + hour, hour))).toBe(rejected);
  });

  test('changes nothing if it is older than the token in memory, unless that one is over', () => {
    const older = usable('older', { generation: 4, adopted: true });
    expect(bring(fresh, older)).toBe(fresh);
    expect(bring({ ...fresh, mustReplace: 'rejected' as const }, older)).toEqual({
      ...fresh,
      mustReplace: 'rejected' as const,
    });
    expect(bring(fresh, older, at(first.usableUntil)).cached?.token.id).toBe('older');
    expect(bring(fresh, usable('as old', { adopted: true })).cached?.token.id).toBe('as old');
  });

  test('has its life counted anew after sleep', () => {
    const now = sleptBy(begun + hour, hour);
    const counted = usable('first', { adopted: true, countedFrom: now, usableUntil: first.usableUntil - hour });
    const cached = { ...first, countedFrom: now, usableUntil: first.usableUntil - hour, renewAt: first.renewAt - hour };
    expect(bring(fresh, counted, now)).toEqual({ ...fresh, cached });
    const hardlyEarlier = usable('first', { adopted: true, countedFrom: now, usableUntil: first.usableUntil - 1 });
    expect(bring(fresh, hardlyEarlier, now).cached?.usableUntil).toBe(first.usableUntil - 1);
  });

  test('has its life counted anew when the record says that it ends more than a minute earlier', () => {
    const ends = (usableUntil: number) =>
      bring(fresh, usable('first', { adopted: true, usableUntil })).cached?.usableUntil;
    expect(ends(first.usableUntil - minute)).toBe(first.usableUntil);
    expect(ends(first.usableUntil - minute - 1)).toBe(first.usableUntil - minute - 1);
  });

  test('caches the same token again if the one in memory was over', () => {
    const now = at(first.usableUntil);
    const longer = usable('first', { adopted: true, countedFrom: now, usableUntil: first.usableUntil + hour });
    expect(bring(fresh, longer, now).cached).toEqual(cachedToken(longer, 0.5));
  });
});

describe('an attempt that brought none', () => {
  const now = at(begun + hour);
  const retryAt = begun + 2 * hour;
  const other = { ...fresh, cached: cachedToken(usable('second'), 0.5) };

  test('drops a token that was reset, unless another one came meanwhile', () => {
    const drop = { kind: 'drop' } as const;
    const rejected = { ...fresh, mustReplace: 'rejected' as const };
    expect(after(rejected, attempt(fresh, 'refresh'), drop, now, 0)).toEqual({ ...fresh, cached: undefined });
    expect(after(other, attempt(fresh, 'refresh'), drop, now, 0)).toBe(other);
  });

  test('waits with the next renewal as long as it was told, and 5 seconds at least', () => {
    const kept = (ms: number) => after(fresh, attempt(fresh, 'refresh'), { kind: 'keep', retryAt: ms }, now, 0);
    expect(kept(retryAt)).toEqual({ ...fresh, renewRetryAt: retryAt });
    expect(kept(now.monotonic)).toEqual({ ...fresh, renewRetryAt: now.monotonic + 5 * second });
  });

  test('changes nothing if it only revalidated', () => {
    expect(after(fresh, attempt(fresh, 'revalidate'), { kind: 'keep', retryAt }, now, 0)).toBe(fresh);
  });

  test('serves the rejected token again, and ignores further 401s for as long as it was told', () => {
    const rejected = { ...fresh, mustReplace: 'rejected' as const };
    const kept = after(rejected, attempt(rejected, 'rejected'), { kind: 'keep', retryAt }, now, 0);
    expect(kept).toEqual({ ...fresh, rejectionRetryAt: retryAt, renewRetryAt: retryAt });
  });

  test('leaves another token rejected that came meanwhile', () => {
    const rejected = { ...other, mustReplace: 'rejected' as const };
    const kept = after(rejected, attempt(fresh, 'rejected'), { kind: 'keep', retryAt }, now, 0);
    expect(kept).toEqual({ ...rejected, rejectionRetryAt: retryAt, renewRetryAt: retryAt });
  });
});

describe('an attempt that failed', () => {
  const now = at(begun + hour);
  const retryAt = now.monotonic + 5 * second;
  const fail = (memory: Memory, of: Attempt) => after(memory, of, { kind: 'failed' }, now, 0);

  test('counts as a revalidation, because a failing store must not stop a good token, and is repeated after 5 seconds', () => {
    expect(fail(fresh, attempt(fresh, 'revalidate'))).toEqual({
      ...fresh,
      lastReadAt: now,
      readDueAt: retryAt,
    });
  });

  test('makes a renewal wait as well', () => {
    const failed = { ...fresh, lastReadAt: now, readDueAt: retryAt, renewRetryAt: retryAt };
    expect(fail(fresh, attempt(fresh, 'refresh'))).toEqual(failed);
  });

  test('does not revalidate a token that arrived meanwhile', () => {
    const failed = fail(fresh, attempt(emptyMemory, 'cold'));
    expect(failed).toEqual({ ...fresh, readDueAt: retryAt, renewRetryAt: retryAt });
  });

  test('serves the rejected token again while it lives', () => {
    const rejected = { ...fresh, mustReplace: 'rejected' as const };
    const failed = fail(rejected, attempt(rejected, 'rejected'));
    expect(failed).toMatchObject({ mustReplace: false, rejectionRetryAt: retryAt });
    expect(servesRejected(attempt(rejected, 'rejected'), now)).toBe(true);
  });

  test('is a failure for the caller without a token that lives, and for any other reason', () => {
    const over = at(first.usableUntil);
    expect(servesRejected(attempt(fresh, 'rejected'), over)).toBe(false);
    expect(servesRejected(attempt(emptyMemory, 'rejected'), now)).toBe(false);
    expect(servesRejected(attempt(fresh, 'refresh'), now)).toBe(false);
    const rejected = { ...fresh, mustReplace: 'rejected' as const };
    expect(after(rejected, attempt(rejected, 'rejected'), { kind: 'failed' }, over, 0)).toMatchObject({
      ...{ mustReplace: 'rejected' as const, rejectionRetryAt: 0 },
    });
  });
});

describe('a 401 of the API', () => {
  const { authorization } = first.token;
  const now = at(begun);

  test('makes the next caller ask for another token', () => {
    expect(rejected(fresh, authorization, now)).toEqual({
      memory: { ...fresh, mustReplace: 'rejected' },
      outcome: 'renew',
    });
  });

  test('changes nothing before its time has come', () => {
    const kept = { ...fresh, rejectionRetryAt: begun + 1 };
    expect(rejected(kept, authorization, now)).toEqual({ memory: kept, outcome: 'kept' });
    expect(rejected(kept, authorization, at(begun + 1)).outcome).toBe('renew');
  });

  test('of the token before delays nothing for a new token', () => {
    const kept = { ...fresh, rejectionRetryAt: begun + hour };
    const next = { ...first, token: { ...first.token, id: 'next' }, generation: 6 };
    const memory = after(kept, attempt(kept, 'revalidate'), { kind: 'token', usable: next, before: true }, now, 0);
    expect(rejected(memory, next.token.authorization, at(begun + minute)).outcome).toBe('renew');
  });

  test('changes nothing for a token that is not in memory', () => {
    expect(rejected(fresh, 'Bearer other', now)).toEqual({ memory: fresh, outcome: 'replaced' });
    expect(rejected(emptyMemory, authorization, now)).toEqual({ memory: emptyMemory, outcome: 'replaced' });
  });

  test('is a death if the API had accepted the token, and the token is five minutes old', () => {
    const known = accepted(fresh, 'first');
    expect(known.acceptedId).toBe('first');
    expect(accepted(known, 'first')).toBe(known);
    expect(accepted(fresh, 'another')).toBe(fresh);
    const died = rejected(known, authorization, at(begun + 5 * minute)).memory;
    expect(died).toMatchObject({ mustReplace: 'died', acceptedId: undefined });
    expect(attempt(died, 'rejected').died).toBe(true);
    expect(attempt(died, 'refresh').died).toBe(false);
    expect(rejected(known, authorization, at(begun + 5 * minute - 1)).memory.mustReplace).toBe('rejected');
    expect(rejected(fresh, authorization, at(begun + hour)).memory.mustReplace).toBe('rejected');
    // The 401s of requests that were under way at the same time do not undo it.
    expect(rejected(died, authorization, at(begun + 5 * minute)).memory.mustReplace).toBe('died');
  });

  test('to a token that is seconds old makes the process use the one before, if that was not rejected', () => {
    const next = usable('next', { generation: 6, countedFrom: at(begun + hour) });
    const renewed = after(
      fresh,
      attempt(fresh, 'refresh'),
      { kind: 'token', usable: next, before: true },
      at(begun + hour),
      0,
    );
    const [soon, later] = [at(begun + hour + 9 * second), at(begun + hour + 10 * second)];
    const again = rejected(renewed, next.token.authorization, soon);
    expect(again.outcome).toBe('replaced');
    expect(again.memory).toMatchObject({ cached: { token: { id: 'first' } }, mustReplace: false });
    expect(again.memory.renewRetryAt).toBe(soon.monotonic + 5 * second);
    expect(rejected(again.memory, authorization, soon).outcome).toBe('renew');
    expect(rejected(renewed, next.token.authorization, later).outcome).toBe('renew');
    const replaced = { ...fresh, mustReplace: 'rejected' as const };
    const other = after(
      replaced,
      attempt(replaced, 'rejected'),
      { kind: 'token', usable: next, before: true },
      at(begun + hour),
      0,
    );
    expect(rejected(other, next.token.authorization, soon).outcome).toBe('renew');
  });
});

describe('a reset', () => {
  test('drops the token at once, and remembers its id and that older ones are no good either', () => {
    const dropped = { ...fresh, cached: undefined, resetTokenId: 'first', resetUpTo: 5 };
    expect(resetBegun({ ...fresh, mustReplace: 'rejected' as const })).toEqual(dropped);
    expect(resetBegun(dropped)).toEqual(dropped);
  });

  test('drops what came meanwhile, if it is as old as what was reset', () => {
    expect(resetDone(fresh, 5)).toEqual({ ...fresh, cached: undefined, resetUpTo: 5 });
    expect(resetDone(fresh, 4)).toEqual({ ...fresh, resetUpTo: 4 });
    expect(resetDone(emptyMemory, 4)).toEqual({ ...emptyMemory, resetUpTo: 4 });
  });

  test('never forgets a later one', () => {
    expect(resetDone({ ...emptyMemory, resetUpTo: 9 }, 5).resetUpTo).toBe(9);
    expect(resetDone({ ...fresh, resetUpTo: 9 }, 4)).toEqual({ ...fresh, cached: undefined, resetUpTo: 9 });
  });
});

describe('a provider who lets the fleet try again', () => {
  test('ends the waits before a renewal and before a replacement, and changes nothing else', () => {
    const waiting = {
      ...fresh,
      mustReplace: 'rejected' as const,
      renewRetryAt: begun + hour,
      rejectionRetryAt: begun + minute,
    };
    expect(retried(waiting)).toEqual({ ...waiting, renewRetryAt: 0, rejectionRetryAt: 0 });
  });
});

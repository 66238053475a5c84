import { minute, second } from '../ledger/units.ts';
import { type Instant, maxElapsedMs, sleptSince } from '../platform/instant.ts';
import {
  ageMs,
  type CachedToken,
  cachedToken,
  isAlive,
  machineSleepMs,
  recounted,
  servableLifeMs,
  type UsableToken,
} from './cached-token.ts';

// The memory of one process about its token, and the decisions that need nothing else. These
// functions are pure: callers pass time and randomness. A number that is an instant counts
// monotonic milliseconds of this machine.

// A process reads the record again after this time. Callers do not wait for that.
const revalidateAfterMs = 25 * second;
// After this time a process reads the record before it serves the token. So a reset reaches, within
// 30 s, every process that can read the store.
const mustRevalidateAfterMs = 28 * second;
const retryMs = 5 * second;
// An API learns of a new token within this time.
const knownWithinMs = 10 * second;
// If an API accepted a token, and rejects it later than this after it was issued, the token died.
// Earlier, parts of the API may not know the token yet.
const diesAfterMs = 5 * minute;

/** The memory of a process. */
export interface Memory {
  readonly cached: CachedToken | undefined;
  /**
   * The token that the cached one replaced ahead of its expiry, for the seconds in which the API
   * may not know the cached one.
   */
  readonly before: { readonly cached: CachedToken; readonly until: number } | undefined;
  /**
   * Set if the API answered 401 to the cached token, and this process has not tried to replace the
   * token yet. `died`: the API had accepted the token before.
   */
  readonly mustReplace: false | 'rejected' | 'died';
  /** The id of the token that the API accepted, and has not answered 401 to since. */
  readonly acceptedId: string | undefined;
  /** When the record was last read, or when a read of it last failed: a failed read counts too. */
  readonly lastReadAt: Instant;
  /** When the record is due to be read again. */
  readonly readDueAt: number;
  /**
   * No renewal ahead of expiry begins before this instant, unless a caller asks for a longer life.
   */
  readonly renewRetryAt: number;
  /**
   * Until this instant no replacement is available for the rejected token, and further 401s change
   * nothing.
   */
  readonly rejectionRetryAt: number;
  /**
   * The id of the token that `reset()` ended in this process. A later record can't bring it back.
   */
  readonly resetTokenId: string | undefined;
  /** `reset()` ended all tokens up to this generation. */
  readonly resetUpTo: number;
}

/**
 * The work that must be done before a token is served: none, reading the record, or getting a token
 * for one of three reasons.
 */
export type Need = 'serve' | 'revalidate' | 'cold' | 'rejected' | 'expired';

/** The memory of a process that has just started. */
export const emptyMemory: Memory = {
  cached: undefined,
  before: undefined,
  mustReplace: false,
  acceptedId: undefined,
  lastReadAt: { monotonic: 0, wall: 0 },
  readDueAt: 0,
  renewRetryAt: 0,
  rejectionRetryAt: 0,
  resetTokenId: undefined,
  resetUpTo: 0,
};

/** Decides what must be done before the cached token is served. */
export function need({ cached, mustReplace, lastReadAt }: Memory, now: Instant): Need {
  if (!cached) return 'cold';
  if (mustReplace) return 'rejected';
  if (!isAlive(cached, now)) return 'expired';
  return maxElapsedMs(lastReadAt, now) > mustRevalidateAfterMs ? 'revalidate' : 'serve';
}

/** Decides what work is due while the cached token is served. */
export function due(
  memory: Memory,
  { monotonic }: Instant,
): { readonly memory: Memory; readonly renew: boolean; readonly revalidate: boolean } {
  const renew = monotonic >= renewalDueAt(memory);
  const revalidate = monotonic >= memory.readDueAt;
  const retryAt = monotonic + retryMs;
  // Mark the work as started: otherwise, where attempts are not shared, every call would start one.
  const marked = { ...memory, ...(renew && { renewRetryAt: retryAt }), ...(revalidate && { readDueAt: retryAt }) };
  return { memory: renew || revalidate ? marked : memory, renew, revalidate };
}

function renewalDueAt({ cached, renewRetryAt }: Memory): number {
  return Math.max(cached?.renewAt ?? Number.POSITIVE_INFINITY, renewRetryAt);
}

/**
 * Returns the milliseconds for which the cached token can be served without another decision:
 * 1,000 at most.
 */
export function servableForMs(memory: Memory, now: Instant): number {
  const { cached, readDueAt } = memory;
  if (!cached) return 0;
  return Math.min(second, servableLifeMs(cached, now), Math.min(readDueAt, renewalDueAt(memory)) - now.monotonic);
}

/** Describes an attempt that begins now. */
export function attemptOf({ cached, mustReplace }: Memory, reason: Attempt['reason'], now: Instant): Attempt {
  const died = reason === 'rejected' && mustReplace === 'died';
  return { reason, died, cached, machineSleepMs: cached ? machineSleepMs(cached, now) : 0 };
}

/**
 * Returns the ids of the tokens that the attempt must not return. `storeSleepsToo`: the store lies
 * in this process. Its clock stood still during sleep, too, so the store does not know that the
 * token expired. `mustNotKeep`: the caller needs another token than the cached one.
 */
export function unusable(
  { resetTokenId }: Memory,
  attempt: Attempt,
  storeSleepsToo: boolean,
  mustNotKeep?: boolean,
): (string | undefined)[] {
  const { cached, reason, machineSleepMs } = attempt;
  const isUnfit = mustNotKeep || reason === 'rejected' || (storeSleepsToo && machineSleepMs > 0);
  return [resetTokenId, isUnfit ? cached?.token.id : undefined];
}

/**
 * Remembers that the attempt read the record at `at`. Ignores this read if the cached token changed
 * while it ran: the record may be older than that token.
 */
export function revalidated(memory: Memory, attempt: Attempt, at: Instant): Memory {
  return memory.cached === attempt.cached ? withReadAt(memory, at) : memory;
}

function withReadAt(memory: Memory, at: Instant): Memory {
  return { ...memory, lastReadAt: at, readDueAt: at.monotonic + revalidateAfterMs };
}

/** Returns the memory after an attempt. `random`: 0 to 1, drawn for this call. */
export function after(
  memory: Memory,
  attempt: Attempt,
  result: AttemptResult | { readonly kind: 'failed' },
  now: Instant,
  random: number,
): Memory {
  const isSame = memory.cached === attempt.cached;
  switch (result.kind) {
    case 'token':
      return withToken(memory, result, now, random);
    case 'drop':
      return isSame ? withoutToken(memory) : memory;
    case 'keep': {
      const kept = attempt.reason === 'rejected' ? keepRejected(memory, attempt, result.retryAt) : memory;
      if (attempt.reason === 'revalidate') return kept;
      return { ...kept, renewRetryAt: Math.max(result.retryAt, now.monotonic + retryMs) };
    }
    case 'failed': {
      const retryAt = now.monotonic + retryMs;
      const read = { ...revalidated(memory, attempt, now), readDueAt: retryAt };
      const failed = attempt.reason === 'revalidate' ? read : { ...read, renewRetryAt: retryAt };
      return servesRejected(attempt, now) ? keepRejected(failed, attempt, retryAt) : failed;
    }
  }
}

/**
 * Returns whether a caller is served although the attempt failed: with the rejected token, which
 * the API may accept again.
 */
export function servesRejected({ reason, cached }: Attempt, now: Instant): boolean {
  return reason === 'rejected' && cached !== undefined && isAlive(cached, now);
}

function withToken(
  memory: Memory,
  { usable, before: isGood }: Extract<AttemptResult, { kind: 'token' }>,
  now: Instant,
  random: number,
): Memory {
  const { token, generation, adopted, countedFrom } = usable;
  // The token was reset before it arrived.
  if (token.id === memory.resetTokenId || generation <= memory.resetUpTo) return memory;
  const { cached } = memory;
  const isSame = cached?.token.id === token.id;
  // The API rejected this token while the record was read, which the record does not say.
  if (isSame && memory.mustReplace) return memory;
  if (cached && isAlive(cached, now)) {
    // Count the token's life anew in two cases. A clock of the machine made a step: a later sleep
    // must show. Or the record has a much earlier expiry, because the store's clock was ahead
    // before.
    const isRecounted =
      Math.abs(sleptSince(cached.countedFrom, now)) > minute || usable.usableUntil < cached.usableUntil - minute;
    if (isSame) return isRecounted ? { ...memory, cached: recounted(cached, usable) } : memory;
    // A slow read can return an older token.
    if (generation < cached.generation) return memory;
  }
  const isBefore = isGood && cached && !memory.mustReplace && isAlive(cached, now);
  const before = isBefore ? { cached, until: now.monotonic + knownWithinMs } : undefined;
  const fresh = { cached: cachedToken(usable, random), before, mustReplace: false, rejectionRetryAt: 0 } as const;
  const next = { ...memory, ...fresh };
  // An adopted token is counted from the read of the record that found it.
  return adopted ? withReadAt(next, countedFrom) : next;
}

function withoutToken(memory: Memory): Memory {
  return { ...memory, cached: undefined, before: undefined, mustReplace: false };
}

/**
 * No replacement is available: keep serving the rejected token and ignore further 401s until
 * `retryAt`.
 */
function keepRejected(memory: Memory, attempt: Attempt, retryAt: number): Memory {
  const mustReplace = memory.cached === attempt.cached ? false : memory.mustReplace;
  return { ...memory, mustReplace, rejectionRetryAt: retryAt };
}

/**
 * Remembers that the API answered 401 to the token with this `Authorization`. `outcome`: the one
 * that the event `token_rejected` reports.
 */
export function rejected(
  memory: Memory,
  authorization: string,
  now: Instant,
): { readonly memory: Memory; readonly outcome: 'renew' | 'replaced' | 'kept' } {
  const { cached, before, acceptedId, rejectionRetryAt, mustReplace } = memory;
  const { monotonic } = now;
  if (cached?.token.authorization !== authorization) return { memory, outcome: 'replaced' };
  if (monotonic < rejectionRetryAt) return { memory, outcome: 'kept' };
  if (before && monotonic < before.until && isAlive(before.cached, now)) {
    // The record still has the new token, and this process takes it from there again.
    const again = {
      cached: before.cached,
      before: undefined,
      renewRetryAt: monotonic + retryMs,
      readDueAt: monotonic + retryMs,
    };
    return { memory: { ...memory, ...again }, outcome: 'replaced' };
  }
  const isDeath = cached.token.id === acceptedId && ageMs(cached, now) >= diesAfterMs;
  const next = mustReplace || (isDeath ? 'died' : 'rejected');
  return { memory: { ...memory, mustReplace: next, acceptedId: undefined }, outcome: 'renew' };
}

/** Remembers that the API accepted a token. */
export function accepted(memory: Memory, tokenId: string): Memory {
  const isNews = memory.cached?.token.id === tokenId && memory.acceptedId !== tokenId;
  return isNews ? { ...memory, acceptedId: tokenId } : memory;
}

/**
 * Begins a reset, before the record is written: this process drops its token and accepts neither it
 * nor an older one again.
 */
export function resetBegun(memory: Memory): Memory {
  const { cached } = memory;
  if (!cached) return memory;
  return resetDone({ ...memory, resetTokenId: cached.token.id }, cached.generation);
}

/** Lets this process try to replace its token at once. */
export function retried(memory: Memory): Memory {
  return { ...memory, renewRetryAt: 0, rejectionRetryAt: 0 };
}

/**
 * Completes a reset: the record says that all tokens up to this generation were reset. Such a token
 * may have arrived meanwhile.
 */
export function resetDone(memory: Memory, upTo: number): Memory {
  const resetUpTo = Math.max(memory.resetUpTo, upTo);
  const next = { ...memory, resetUpTo };
  return memory.cached && memory.cached.generation <= resetUpTo ? withoutToken(next) : next;
}

/**
 * One attempt to get a token. With the reason `revalidate` it requests none, and only reads whether
 * the fleet has a newer one.
 */
export interface Attempt {
  readonly reason: 'cold' | 'refresh' | 'rejected' | 'expired' | 'revalidate';
  /** With `rejected`: true if the API had accepted the token before, so that the token died. */
  readonly died: boolean;
  /** The token in memory when the attempt began. */
  readonly cached: CachedToken | undefined;
  /** The time for which the machine had slept when the attempt began. */
  readonly machineSleepMs: number;
}

/**
 * The result of an attempt. `before`: the token in memory was not reset, and may be used again if
 * the API does not know the new one yet. `keep`: keep the cached token; another one is possible
 * after `retryAt`, a monotonic instant. `drop`: the cached token was reset.
 */
export type AttemptResult =
  | { readonly kind: 'token'; readonly usable: UsableToken; readonly before: boolean }
  | { readonly kind: 'keep'; readonly retryAt: number }
  | { readonly kind: 'drop' };

import { type CachedToken, cachedToken, isAlive, recounted, sleptMs, type UsableToken } from './cached-token.ts';
import { type Instant, maxElapsedMs } from './instant.ts';

// What one process remembers of its token, and what it decides by that alone. Pure: no clock, no store, no randomness of its own.
// Instants are monotonic milliseconds of this machine, unless they are an `Instant`.

const second = 1_000;
const minute = 60 * second;
/** A process reads the record again this long after it read it last. Callers do not wait for it. */
const revalidateAfterMs = 25 * second;
/** A process that has not read the record for so long reads it before it hands out the token: a reset reaches the whole fleet within 30 s. */
const mustRevalidateAfterMs = 28 * second;
const retryMs = 5 * second;

/** What a process remembers. */
export interface Memory {
  readonly cached: CachedToken | undefined;
  /** The API answered 401 to the cached token, and this process has not looked for another one yet. */
  readonly rejected: boolean;
  /** When the record was read last. */
  readonly revalidatedAt: Instant;
  /** When it is to be read again. */
  readonly revalidateAt: number;
  /** No renewal begins before this. */
  readonly renewRetryAt: number;
  /** Until then no replacement is available for the rejected token, and further 401s change nothing. */
  readonly rejectionRetryAt: number;
  /** The id of the token that `reset()` ended here, whatever the store says later. */
  readonly compromised: string | undefined;
  /** `reset()` ended all tokens up to this generation. */
  readonly revoked: number;
}

/** What has to happen before a token can be handed out: nothing, a look at the record, or a token for one of three reasons. */
export type Need = 'serve' | 'revalidate' | 'cold' | 'rejected' | 'expired';

/** One attempt to get a token, or to read whether the fleet has a newer one. */
export interface Attempt {
  readonly reason: 'cold' | 'refresh' | 'rejected' | 'expired';
  /** False: the attempt only reads the record. */
  readonly mayIssue: boolean;
  /** The token in memory when the attempt began. */
  readonly cached: CachedToken | undefined;
  /** How long the machine had slept by then. */
  readonly sleptMs: number;
}

/** How an attempt ended. `keep`: no other token before `retryAt`. `drop`: the cached token was reset. */
export type AttemptResult =
  | { readonly kind: 'token'; readonly usable: UsableToken }
  | { readonly kind: 'keep'; readonly retryAt: number }
  | { readonly kind: 'drop' }
  | { readonly kind: 'failed' };

/** The memory of a process that has just begun. */
export const emptyMemory: Memory = {
  cached: undefined,
  rejected: false,
  revalidatedAt: { monotonic: 0, wall: 0 },
  revalidateAt: 0,
  renewRetryAt: 0,
  rejectionRetryAt: 0,
  compromised: undefined,
  revoked: 0,
};

/** What has to happen before the cached token can be handed out. */
export function need({ cached, rejected, revalidatedAt }: Memory, now: Instant): Need {
  if (!cached) return 'cold';
  if (rejected) return 'rejected';
  if (!isAlive(cached, now)) return 'expired';
  return maxElapsedMs(revalidatedAt, now) > mustRevalidateAfterMs ? 'revalidate' : 'serve';
}

/** What is due while the cached token is handed out on. The returned memory has it marked as started: where flights are not shared, every call would start it. */
export function due(
  memory: Memory,
  { monotonic }: Instant,
): { readonly memory: Memory; readonly renew: boolean; readonly revalidate: boolean } {
  const renew = monotonic >= renewalDueAt(memory);
  const revalidate = monotonic >= memory.revalidateAt;
  if (!renew && !revalidate) return { memory, renew, revalidate };
  const retryAt = monotonic + retryMs;
  const marks = { ...(renew && { renewRetryAt: retryAt }), ...(revalidate && { revalidateAt: retryAt }) };
  return { memory: { ...memory, ...marks }, renew, revalidate };
}

function renewalDueAt({ cached, renewRetryAt }: Memory): number {
  return Math.max(cached?.renewAt ?? Number.POSITIVE_INFINITY, renewRetryAt);
}

/** For how long the cached token can be handed out without a second look: a second at most. */
export function servableForMs(memory: Memory, now: Instant): number {
  const { cached, revalidateAt } = memory;
  if (!cached) return 0;
  const until = Math.min(revalidateAt, cached.usableUntil - sleptMs(cached, now), renewalDueAt(memory));
  return Math.min(second, until - now.monotonic);
}

/** Begins an attempt. */
export function attemptOf({ cached }: Memory, reason: Attempt['reason'], mayIssue: boolean, now: Instant): Attempt {
  return { reason, mayIssue, cached, sleptMs: cached ? sleptMs(cached, now) : 0 };
}

/**
 * Ids of the tokens that the attempt must not bring. `storeSleepsToo`: the store lies in this process, so its clock stood still as well and
 * it cannot tell that the token expired during sleep.
 */
export function unusable({ compromised }: Memory, attempt: Attempt, storeSleepsToo: boolean): (string | undefined)[] {
  const { cached, reason, sleptMs } = attempt;
  const isUnfit = reason === 'rejected' || (storeSleepsToo && sleptMs > 0);
  return [compromised, isUnfit ? cached?.token.id : undefined];
}

/** The attempt read the record at `at`. Ignore this read if the cached token changed while it ran: the record may be older. */
export function revalidated(memory: Memory, attempt: Attempt, at: Instant): Memory {
  return memory.cached === attempt.cached ? readAt(memory, at) : memory;
}

function readAt(memory: Memory, at: Instant): Memory {
  return { ...memory, revalidatedAt: at, revalidateAt: at.monotonic + revalidateAfterMs };
}

/** The memory after an attempt. `random`: 0 to 1, drawn for this call. */
export function after(memory: Memory, attempt: Attempt, result: AttemptResult, now: Instant, random: number): Memory {
  const isSame = memory.cached === attempt.cached;
  switch (result.kind) {
    case 'token':
      return withToken(memory, result.usable, now, random);
    case 'drop':
      return isSame ? withoutToken(memory) : memory;
    case 'keep': {
      const kept = attempt.reason === 'rejected' ? keepRejected(memory, attempt, result.retryAt) : memory;
      if (!attempt.mayIssue) return kept;
      return { ...kept, renewRetryAt: Math.max(result.retryAt, now.monotonic + retryMs) };
    }
    case 'failed': {
      const retryAt = now.monotonic + retryMs;
      const read = { ...revalidated(memory, attempt, now), revalidateAt: retryAt };
      const failed = attempt.mayIssue ? { ...read, renewRetryAt: retryAt } : read;
      return outlivesFailure(attempt, now) ? keepRejected(failed, attempt, retryAt) : failed;
    }
  }
}

/** Whether the caller is served all the same when the attempt fails: by the rejected token, which the API may accept again. */
export function outlivesFailure({ reason, cached }: Attempt, now: Instant): boolean {
  return reason === 'rejected' && cached !== undefined && isAlive(cached, now);
}

function withToken(memory: Memory, usable: UsableToken, now: Instant, random: number): Memory {
  const { token, generation, adopted, countedFrom } = usable;
  // It was reset on its way.
  if (token.id === memory.compromised || generation <= memory.revoked) return memory;
  const { cached } = memory;
  const isSame = cached?.token.id === token.id;
  // The API rejected it while the record was read, which does not know of that.
  if (isSame && memory.rejected) return memory;
  if (cached && isAlive(cached, now)) {
    // The expiry in the record counts after sleep, or what looks like it, and when it is earlier: the store's clock had been ahead.
    const isRecounted = sleptMs(cached, now) > 0 || usable.usableUntil < cached.usableUntil - minute;
    if (isSame) return isRecounted ? { ...memory, cached: recounted(cached, usable) } : memory;
    // A slow read brings an older token.
    if (generation < cached.generation) return memory;
  }
  const next = { ...memory, cached: cachedToken(usable, random), rejected: false };
  return adopted ? readAt(next, countedFrom) : next;
}

function withoutToken(memory: Memory): Memory {
  return { ...memory, cached: undefined, rejected: false };
}

/** No replacement is available: keep serving the rejected token and ignore further 401s until `retryAt`. */
function keepRejected(memory: Memory, attempt: Attempt, retryAt: number): Memory {
  const rejected = memory.cached === attempt.cached ? false : memory.rejected;
  return { ...memory, rejected, rejectionRetryAt: retryAt };
}

/** The API answered 401 to the token with this `Authorization`. `outcome`: what the event `token_rejected` says. */
export function rejected(
  memory: Memory,
  authorization: string,
  now: number,
): { readonly memory: Memory; readonly outcome: 'renew' | 'replaced' | 'kept' } {
  if (memory.cached?.token.authorization !== authorization) return { memory, outcome: 'replaced' };
  if (now < memory.rejectionRetryAt) return { memory, outcome: 'kept' };
  return { memory: { ...memory, rejected: true }, outcome: 'renew' };
}

/** First half of a reset, before the fleet is told: this process drops its token, and takes back neither it nor an older one. */
export function compromised(memory: Memory): Memory {
  const { cached } = memory;
  if (!cached) return memory;
  return reset({ ...memory, compromised: cached.token.id }, cached.generation);
}

/** Second half of a reset: the fleet was told that all tokens up to this generation are compromised. One of them may have arrived meanwhile. */
export function reset(memory: Memory, upTo: number): Memory {
  const revoked = Math.max(memory.revoked, upTo);
  const next = { ...memory, revoked };
  return memory.cached && memory.cached.generation <= revoked ? withoutToken(next) : next;
}

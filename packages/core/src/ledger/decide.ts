import { isIssued, isOpen } from './attempt.ts';
import { hasRoom, roomExpectedAt } from './bound.ts';
import { admission, type TermRoom, tightest } from './count.ts';
import type { Caller, Hold } from './holds.ts';
import {
  type Attempt,
  type IssuanceReason,
  type LedgerRecord,
  latestGeneration,
  maxLifetimeMs,
  type StoredToken,
} from './journal.ts';
import type { Limits } from './limits.ts';
import { type Pace, pace } from './pace.ts';
import { settle } from './settle.ts';
import { isRemembered, marginOf, revoke, revokedOf, tokenOf } from './tokens.ts';

/** The question of a process to the ledger: what may I do to get a token? */
export interface Query extends Caller {
  /** Why a token would be issued. With `refresh` and `rejected` the process can keep its cached token. With `revalidate` none would be issued. The process only asks whether the record has a newer one. */
  readonly reason: IssuanceReason | 'revalidate';
  /** The token in the memory of this process. */
  readonly cached?: { readonly id: string; readonly generation: number } | undefined;
  /** Ids of tokens that must not be used. For example, the API rejected them, they were reset, or they cannot be opened. */
  readonly unusable: readonly (string | undefined)[];
  /** This process reset the tokens up to this generation. The record may not say so, if the store went back to an older record. */
  readonly resetUpTo: number;
  /** The id of the attempt and of its token. It is used once. */
  readonly id: string;
  readonly instance: string;
  /** The time for which the other processes wait for the outcome. */
  readonly leaseMs: number;
}

/** Why no token is issued now. `full`: the record has no space for the token of one more audience. */
export interface Denial {
  readonly cause: Hold['kind'] | 'limit' | 'full';
  readonly retryAt: number;
  /** The attempt whose outcome is the cause, if one is. */
  readonly attempt?: Attempt | undefined;
  /** With the cause `limit`: the term that has no room. If several have none, the one whose room comes last. */
  readonly room?: TermRoom | undefined;
}

/**
 * The next step of the process. `use`: use this token of the record. `keep`: keep the cached token. `drop`: the cached token was reset, or has expired. `wait`: another
 * process requests a token. `write`: decide again on this record. The store must confirm it before the process acts. `admitted`: the record has the attempt
 * of this process, so send the request. `lapsed`: the attempt was too slow to be sent. Write this record,
 * and ask with another id. `deny`: no token can be issued now.
 */
export type Decision =
  | { readonly kind: 'use'; readonly token: StoredToken }
  | { readonly kind: 'keep'; readonly retryAt: number; readonly denial?: Denial }
  | { readonly kind: 'drop' }
  | { readonly kind: 'wait'; readonly until: number }
  | { readonly kind: 'admitted'; readonly attempt: Attempt }
  | { readonly kind: 'lapsed'; readonly record: LedgerRecord }
  | { readonly kind: 'deny'; readonly reason: IssuanceReason; readonly denial: Denial }
  | { readonly kind: 'write'; readonly record: LedgerRecord };

/** Decides what the record allows one process to do. The record must be reconciled. `now` is the ledger's time. */
export function decide(record: LedgerRecord, now: number, query: Query, limits: Limits): Decision {
  const { audience, keyId, id } = query;
  const revoked = revokedOf(record, audience);
  if (revoked < query.resetUpTo && isRemembered(query.resetUpTo, now))
    return { kind: 'write', record: revoke(record, audience, query.resetUpTo) };
  const underWay = record.attempts.findLast(
    (attempt) => isOpen(attempt, now) && attempt.audience === audience && attempt.keyId === keyId,
  );
  const open = underWay && underWay.generation > revoked ? underWay : undefined;
  if (open?.id === id) return { kind: 'admitted', attempt: open };
  const lapsed = record.attempts.find((attempt) => attempt.id === id && !attempt.outcome);
  if (lapsed) return { kind: 'lapsed', record: settle(record, now, lapsed, { kind: 'unsent' }) };

  // No token lives for longer than a month, and a generation is at least the instant of its reservation. So an older token has expired, even if the clocks of
  // its process did not count the time in which the machine slept.
  const oldest = now - maxLifetimeMs;
  const cached = query.cached && query.cached.generation > Math.max(revoked, oldest) ? query.cached : undefined;
  const stored = tokenOf(record, audience, keyId);
  const isRenewal = query.reason === 'refresh' && stored?.id === cached?.id;
  const fresh = stored && !query.unusable.includes(stored.id) && now < stored.expiresAt - marginOf(stored.lifetimeMs);
  // An expired cached token does not count, even with a higher generation: it may have been issued under another key.
  const cachedIsNewer = stored && cached && query.reason !== 'expired' && cached.generation > stored.generation;
  if (fresh && !isRenewal && !cachedIsNewer) return { kind: 'use', token: stored };
  // This check comes before `keep`: a process must not keep a token that was reset.
  if (query.cached && !cached) return { kind: 'drop' };
  if (query.reason === 'revalidate') return { kind: 'keep', retryAt: now };
  const isPatient = cached !== undefined && query.reason === 'refresh';
  const waitUntil = (until: number): Decision => {
    return isPatient ? { kind: 'keep', retryAt: until } : { kind: 'wait', until };
  };
  if (open) return waitUntil(open.until);

  const reason = replacesReset(record, query) ? 'reset' : query.reason;
  const asked = pace(record, now, query, reason, limits);
  let denial = denialOf(record, now, asked, reason, limits);
  if (!denial) {
    if (asked.waitsUntil > now) return waitUntil(asked.waitsUntil);
    const next = withAttempt(record, now, query, reason, asked);
    if (hasRoomForNext(record, query, reason, next, now, limits)) return { kind: 'write', record: next };
    denial = { cause: 'full', retryAt: roomExpectedAt(record, now) };
  }
  return cached && (reason === 'refresh' || reason === 'rejected')
    ? { kind: 'keep', retryAt: denial.retryAt, denial }
    : { kind: 'deny', reason, denial };
}

/** Returns whether the record does not contradict the cached token: the fleet neither reset nor replaced it. Also true if there is none, and none is used. */
export function confirms(decision: Decision, cached: Query['cached']): boolean {
  return decision.kind === 'use' ? decision.token.id === cached?.id : decision.kind !== 'drop';
}

/** Returns whether the last token was reset, and none replaced it since. The one that does may spend more of the limit. */
function replacesReset(record: LedgerRecord, { audience, keyId }: Caller): boolean {
  const revoked = revokedOf(record, audience);
  if (revoked === 0 || tokenOf(record, audience, keyId)) return false;
  return !record.attempts.some(
    (attempt) => isIssued(attempt) && attempt.audience === audience && attempt.generation > revoked,
  );
}

/** Returns why a caller gets no token now: of all holds and the limit, the one that ends last. Undefined: nothing but what is under way. */
export function denialOf(
  record: LedgerRecord,
  now: number,
  { holds }: Pace,
  reason: IssuanceReason,
  limits: Limits,
): Denial | undefined {
  const room = tightest(admission(record, now, limits, reason));
  const denials: readonly Denial[] = [
    ...holds.map(({ kind, until, attempt }) => ({ cause: kind, retryAt: until, attempt })),
    { cause: 'limit', retryAt: room.roomAt, room },
  ];
  const retryAt = Math.max(...denials.map((denial) => denial.retryAt));
  return retryAt > now ? denials.find((denial) => denial.retryAt === retryAt) : undefined;
}

/** Returns whether there is room for the token of an audience. `next`: the record with the attempt for it. */
export function hasRoomForNext(
  record: LedgerRecord,
  { audience, keyId }: Caller,
  reason: IssuanceReason,
  next: LedgerRecord,
  now: number,
  limits: Limits,
): boolean {
  // The next token of an audience takes the place of the one before, even if that one was reset.
  const replaces = record.tokens.some((token) => token.audience === audience && token.keyId === keyId);
  return replaces || reason === 'reset' || hasRoom(next, now, limits);
}

/** Returns the record with the attempt of a process. The others wait for its outcome. */
export function withAttempt(
  record: LedgerRecord,
  now: number,
  query: Query,
  reason: IssuanceReason,
  { carried }: Pace,
): LedgerRecord {
  const { id, instance, audience, keyId, secretId } = query;
  const who = { audience, keyId, secretId, instance };
  const when = {
    epoch: record.epoch,
    generation: latestGeneration(record, now) + 1,
    at: now,
    until: now + query.leaseMs,
  };
  return { ...record, attempts: [...record.attempts, { id, ...who, ...when, reason, ...carried }] };
}

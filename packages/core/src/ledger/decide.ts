import { hasRoom, roomExpectedAt } from './compact.ts';
import type { Situation } from './limits.ts';
import { type Asker, type Hold, holdsOf, lastOf, unenforcedHold, waitedFor } from './pace.ts';
import {
  type IssuanceReason,
  isOpen,
  isRemembered,
  type LedgerRecord,
  marginOf,
  maxLifetimeMs,
  resetUpTo,
  type Spent,
  type StoredToken,
  tokenOf,
  withState,
} from './record.ts';
import { settle } from './settle.ts';

/** The question of a process to the ledger: what may I do to get a token? */
export interface Query extends Asker {
  /**
   * Why a token would be issued. With `refresh` and `rejected` the process can keep its cached
   * token. With `revalidate` none would be issued. The process only asks whether the record has a
   * newer one.
   */
  readonly reason: IssuanceReason | 'revalidate';
  /** The token in the memory of this process. */
  readonly cached?: { readonly id: string; readonly generation: number } | undefined;
  /**
   * Ids of tokens that must not be used. For example, the API rejected them, they were reset, or
   * they cannot be opened.
   */
  readonly unusable: readonly (string | undefined)[];
  /**
   * This process reset the tokens up to this generation. The record may not say so, if the store
   * went back to an older record.
   */
  readonly resetUpTo: number;
  /** The id of the request and of its token. It is used once. */
  readonly id: string;
  readonly instance: string;
  /** The time for which the other processes wait for the outcome. */
  readonly leaseMs: number;
}

/** Why no token is issued now. `full`: the record has no space for the token of one more name. */
export interface Denial extends Omit<Hold, 'kind' | 'until'> {
  readonly cause: Hold['kind'] | 'full';
  readonly retryAt: number;
  readonly reason: IssuanceReason;
}

/**
 * The next step of the process. `use`: use this token of the record. `keep`: keep the cached token.
 * `drop`: the cached token was reset, or has expired. `wait`: other processes request tokens.
 * `reserve`: write this record; when the store has confirmed it, send the request of `reserved`.
 * `late`: the reservation lapsed before the request was sent; write this record, and ask with
 * another id. `deny`: no token can be issued now.
 */
export type Decision =
  | { readonly kind: 'use'; readonly token: StoredToken }
  | { readonly kind: 'keep'; readonly retryAt: number; readonly denial?: Denial }
  | { readonly kind: 'drop' }
  | { readonly kind: 'wait'; readonly until: number }
  | {
      readonly kind: 'reserve';
      readonly record: LedgerRecord;
      readonly reserved: Spent;
      /** The denial by a window that is not enforced. */
      readonly overLimit?: Denial | undefined;
    }
  | { readonly kind: 'late'; readonly record: LedgerRecord }
  | { readonly kind: 'deny'; readonly denial: Denial };

/**
 * Decides what the record allows one process to do. The record must be as `present()` returns it.
 */
export function decide(situation: Situation, query: Query): Decision {
  const { record, now } = situation;
  const { name, keyId, id } = query;
  const written = record.spent.find((one) => one.id === id);
  if (written && isOpen(written, now)) return { kind: 'reserve', record, reserved: written };
  if (written) return { kind: 'late', record: settle(record, now, written, { kind: 'unsent' }) };

  const upTo = Math.max(resetUpTo(record, name), isRemembered(query.resetUpTo, now) ? query.resetUpTo : 0);
  // No token lives for longer than a month, and a generation is at least the instant of its
  // reservation. So an older token has expired, whatever the clocks of its process say.
  const oldest = now - maxLifetimeMs;
  const cached = query.cached && query.cached.generation > Math.max(upTo, oldest) ? query.cached : undefined;
  const found = tokenOf(record, name, keyId);
  const stored = found && found.generation > upTo ? found : undefined;
  const isRenewal = query.reason === 'refresh' && stored?.id === cached?.id;
  const isFresh = stored && !query.unusable.includes(stored.id) && now < stored.expiresAt - marginOf(stored.lifetimeMs);
  // An expired cached token does not count, even with a higher generation: it may have been issued
  // under another key.
  const cachedIsNewer = stored && cached && query.reason !== 'expired' && cached.generation > stored.generation;
  if (isFresh && !isRenewal && !cachedIsNewer) return { kind: 'use', token: stored };
  // This check comes before `keep`: a process must not keep a token that was reset.
  if (query.cached && !cached) return { kind: 'drop' };
  if (query.reason === 'revalidate') return { kind: 'keep', retryAt: now };
  const isPatient = cached !== undefined && query.reason === 'refresh';
  const waitUntil = (until: number): Decision => {
    return isPatient ? { kind: 'keep', retryAt: until } : { kind: 'wait', until };
  };
  const isOurs = (one: Spent) => one.name === name && one.keyId === keyId && one.generation > upTo;
  const ours = record.spent.findLast((one) => isOurs(one) && isOpen(one, now));
  if (ours) return waitUntil(ours.until as number);

  const reason = replacesReset(record, query, upTo) ? 'reset' : query.reason;
  const hold = lastOf(holdsOf(situation, query, reason));
  let denial = hold.until > now ? denialOf(hold, reason) : undefined;
  if (!denial) {
    const others = waitedFor(situation, query);
    if (others.length > 0) return waitUntil(Math.min(...others.map(({ until }) => until as number)));
    const over = unenforcedHold(situation, reason);
    const next = withReservation(record, now, query, reason, over !== undefined);
    if (fits({ ...situation, ...next }, reason))
      return { kind: 'reserve', ...next, ...(over && { overLimit: denialOf(over, reason) }) };
    denial = { cause: 'full', retryAt: roomExpectedAt(record, now), reason, count: 0 };
  }
  return cached && (reason === 'refresh' || reason === 'rejected')
    ? { kind: 'keep', retryAt: denial.retryAt, denial }
    : { kind: 'deny', denial };
}

function denialOf({ kind: cause, until: retryAt, ...hold }: Hold, reason: IssuanceReason): Denial {
  return { ...hold, cause, retryAt, reason };
}

/**
 * Returns whether the record does not contradict the cached token: the fleet neither reset nor
 * replaced it. Also true if there is none, and none is used.
 */
export function confirms(decision: Decision, cached: Query['cached']): boolean {
  return decision.kind === 'use' ? decision.token.id === cached?.id : decision.kind !== 'drop';
}

/**
 * Returns whether the last token was reset and has not been replaced. The request that replaces it
 * may spend more of the limit.
 */
function replacesReset(record: LedgerRecord, { name, keyId }: Asker, upTo: number): boolean {
  if (upTo === 0 || (tokenOf(record, name, keyId)?.generation ?? 0) > upTo) return false;
  return !record.spent.some((one) => one.issuedAt !== undefined && one.name === name && one.generation > upTo);
}

/** A record with the reservation of a process. The others wait for its outcome. */
export interface Reservation {
  readonly record: LedgerRecord;
  readonly reserved: Spent;
}

/**
 * Returns whether the store can keep the token of a reservation: it replaces another one, or there
 * is room.
 */
export function fits({ reserved, ...situation }: Situation & Reservation, reason: IssuanceReason): boolean {
  const replaces = ({ name, keyId }: StoredToken) => name === reserved.name && keyId === reserved.keyId;
  return reason === 'reset' || situation.record.tokens.some(replaces) || hasRoom(situation);
}

/** Reserves a request for a process. */
export function withReservation(
  record: LedgerRecord,
  now: number,
  query: Query,
  reason: IssuanceReason,
  isOverLimit = false,
): Reservation {
  const { id, name, keyId, instance, leaseMs } = query;
  const died = reason === 'rejected' && query.died ? true : undefined;
  const generation = Math.max(record.generation, now, query.resetUpTo, resetUpTo(record, name)) + 1;
  const overLimit = isOverLimit ? true : undefined;
  const until = now + leaseMs;
  const reserved: Spent = { id, at: now, generation, name, keyId, instance, reason, died, overLimit, until };
  const reset = withReset(record, name, isRemembered(query.resetUpTo, now) ? query.resetUpTo : 0);
  return { record: { ...reset, generation, spent: [...record.spent, reserved] }, reserved };
}

/**
 * Returns the record in which the tokens of a name are reset up to a generation. Tokens whose
 * requests are under way are reset, too.
 */
export function withReset(record: LedgerRecord, name: string, upTo: number): LedgerRecord {
  if (upTo <= resetUpTo(record, name)) return record;
  const ended = record.tokens.filter((token) => token.name === name && token.generation <= upTo);
  const [latest] = ended.sort((a, b) => b.generation - a.generation);
  return withState(record, name, { resetUpTo: upTo, ...(latest?.hash && { resetHash: latest.hash }) });
}

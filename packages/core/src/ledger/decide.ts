import { admission, type TermRoom, tightest } from './admission.ts';
import { type Fit, fitOf, roomExpectedAt } from './bound.ts';
import { withDeaths } from './deaths.ts';
import { isRemembered, latestGeneration, revoke } from './generations.ts';
import { binds, type Caller, type HoldKind, holdsOf } from './holds.ts';
import type { Limits } from './limits.ts';
import { underWayUntil } from './pauses.ts';
import {
  type AudienceState,
  audienceStateOf,
  type IssuanceReason,
  type LedgerEntry,
  type LedgerRecord,
  maxLifetimeMs,
  mayProbe,
  type StoredToken,
  withAudienceState,
} from './record.ts';
import { clientRefusalsOf } from './refusals.ts';
import { isRetryOpen, withRetryTaken } from './retry.ts';

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
  /** One of the unusable tokens cannot be opened. Somebody may be damaging the record, so replacements are spaced. */
  readonly unreadable: boolean;
  /** The id of the reservation and of its token. */
  readonly id: string;
  readonly instance: string;
  /** The time for which the other processes wait for the outcome. */
  readonly leaseMs: number;
}

/** Why no token is issued now. `full`: the record has no space for the token of one more audience. */
export interface Denial {
  readonly cause: HoldKind | 'limit' | 'full';
  readonly retryAt: number;
  /** With the cause `limit`: the term that has no room. If several have none, the one whose room comes last. */
  readonly room?: TermRoom | undefined;
  /** With the cause `backoff`: a request is under way, and its token would end the back-off. */
  readonly mayEnd?: boolean;
}

/**
 * The next step of the process. `use`: use this token of the record. `keep`: keep the cached token. `drop`: the cached token was reset, or has expired. `wait`: another
 * process requests a token. `write`: decide again on this record. The store must confirm it before the process acts. `admitted`: the record has the reservation
 * of this process, so send the request; with `probesFirst`, only if the endpoint answers a probe. `deny`: no token can be issued now.
 */
export type Decision =
  | { readonly kind: 'use'; readonly token: StoredToken }
  | { readonly kind: 'keep'; readonly retryAt: number; readonly denial?: Denial }
  | { readonly kind: 'drop' }
  | { readonly kind: 'wait'; readonly until: number }
  | {
      readonly kind: 'admitted';
      readonly entry: LedgerEntry;
      readonly generation: number;
      readonly probesFirst: boolean;
    }
  | { readonly kind: 'deny'; readonly reason: IssuanceReason; readonly denial: Denial }
  | { readonly kind: 'write'; readonly record: LedgerRecord };

const minute = 60_000;
/** At most this many token requests of a fleet may be under way. */
const maxLeases = 512;

/** Returns the margin: a token is served only while it has more life left than this. */
export function marginOf(lifetimeMs: number): number {
  return Math.min(minute, lifetimeMs / 10);
}

/** Decides what the record allows one process to do. The record must be reconciled. `now` is the ledger's time. */
export function decide(record: LedgerRecord, now: number, query: Query, limits: Limits): Decision {
  const state = audienceStateOf(record, query.audience, query.keyId);
  if (state.revoked < query.resetUpTo && isRemembered(query.resetUpTo, now))
    return { kind: 'write', record: revoke(record, query.audience, query.keyId, query.resetUpTo) };
  const own = state.lease?.id === query.id ? state.lease : undefined;
  const entry = own && record.entries.find(({ id }) => id === query.id);
  if (entry) {
    // A request that is sent in spite of a back-off must not cost a token while the endpoint is down.
    const isAhead = record.failures?.probeAt !== undefined || record.retry?.id === query.id;
    const probesFirst = isAhead && mayProbe(record) && now < (record.failures?.retryAt ?? 0);
    return { kind: 'admitted', entry, generation: own.generation, probesFirst };
  }

  // No token lives for longer than a month, and a generation is at least the instant of its reservation. So an older token has expired, even if the clocks of
  // its process did not count the time in which the machine slept.
  const oldest = now - maxLifetimeMs;
  const cached = query.cached && query.cached.generation > Math.max(state.revoked, oldest) ? query.cached : undefined;
  const stored = state.token;
  const isRenewal = query.reason === 'refresh' && stored?.id === cached?.id;
  const fresh = stored && !query.unusable.includes(stored.id) && now < stored.expiresAt - marginOf(stored.lifetimeMs);
  // An expired cached token does not count, even with a higher generation: it may have been issued under another key.
  const cachedIsNewer = stored && cached && query.reason !== 'expired' && cached.generation > stored.generation;
  if (fresh && !isRenewal && !cachedIsNewer) return { kind: 'use', token: stored };
  // This check comes before `keep`: a process must not keep a token that was reset.
  if (query.cached && !cached) return { kind: 'drop' };
  if (query.reason === 'revalidate') return { kind: 'keep', retryAt: now };

  if (state.lease && state.lease.until > now) {
    const { until } = state.lease;
    return cached && query.reason === 'refresh' ? { kind: 'keep', retryAt: until } : { kind: 'wait', until };
  }
  const leases = record.audiences.flatMap(({ lease }) => (lease && lease.until > now ? [lease.until] : []));
  if (leases.length >= maxLeases) return { kind: 'wait', until: Math.min(...leases) };
  // The last token was reset. The one that replaces it may spend more of the limit. One that was issued just before the reset may seem to be milliseconds
  // younger, because processes estimate the time of the store.
  const isReplaced = record.entries.some(
    ({ reason, pending, audience, at }) =>
      reason === 'reset' && !pending && audience === query.audience && at > state.revoked + 20 && at <= now,
  );
  const reason = state.revoked > 0 && !state.token && !isReplaced ? 'reset' : query.reason;
  let denial = denialOf(record, now, query, reason, limits);
  if (denial?.mayEnd && !(cached && reason === 'refresh')) return { kind: 'wait', until: denial.retryAt };
  if (!denial) {
    const next = withReservation(record, now, query, reason, limits);
    const fit = fitOfNext(state, reason, next, now, limits);
    if (fit === 'fits') return { kind: 'write', record: next };
    if (fit === 'later') return { kind: 'wait', until: Math.min(...leases) };
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

/**
 * Returns why a caller gets no token for this reason now: of all holds and the limit, the one that ends last. Undefined: it gets one. `now` is the
 * ledger's time.
 */
export function denialOf(
  known: LedgerRecord,
  now: number,
  caller: Caller,
  reason: IssuanceReason,
  limits: Limits,
): Denial | undefined {
  const record = withDeaths(known, now, limits);
  const state = audienceStateOf(record, caller.audience, caller.keyId);
  const holds = holdsOf(record, [state], now, limits).filter((hold) => binds(hold, caller, reason));
  const room = tightest(admission(record, now, limits, reason));
  const denials: readonly Denial[] = [
    ...holds.map(({ kind, until }) => ({ cause: kind, retryAt: until })),
    ...refusalsOf(record, now, caller),
    { cause: 'backoff', retryAt: underWayUntil(record, now, caller.audience), mayEnd: true },
    { cause: 'limit', retryAt: room?.roomAt ?? 0, room },
  ];
  const retryAt = Math.max(...denials.map((denial) => denial.retryAt));
  return retryAt > now ? denials.find((denial) => denial.retryAt === retryAt) : undefined;
}

/**
 * Returns the denials that follow from refusals of the client: all its tokens wait, and when the wait is over, the first request has to show that the client is
 * accepted again. Some operators lock a client after a few failed logins.
 */
function refusalsOf(record: LedgerRecord, now: number, { secretId }: Caller): readonly Denial[] {
  const refusals = isRetryOpen(record, now) ? [] : clientRefusalsOf(record, secretId);
  if (refusals.length === 0) return [];
  const retryAt = Math.max(...refusals.map((refusal) => refusal.retryAt));
  const underWay = Math.max(...record.audiences.map(({ lease }) => lease?.until ?? 0));
  return [
    { cause: 'credentials', retryAt },
    // A record keeps a refusal for an hour after its end.
    { cause: 'backoff', retryAt: Math.min(underWay, retryAt + 60 * minute), mayEnd: true },
  ];
}

/** Returns whether there is room for the token of an audience. `next`: the record with the reservation for it. */
export function fitOfNext(
  { token }: AudienceState,
  reason: IssuanceReason,
  next: LedgerRecord,
  now: number,
  limits: Limits,
): Fit {
  // The next token of an audience takes the place of the one before, even if that one was reset.
  return token || reason === 'reset' ? 'fits' : fitOf(next, now, limits);
}

/** Returns the record with the reservation of a process, and with the lease that makes the others wait for its outcome. */
export function withReservation(
  known: LedgerRecord,
  now: number,
  query: Query,
  reason: IssuanceReason,
  limits: Limits,
): LedgerRecord {
  const record = withDeaths(known, now, limits);
  const { id, instance, audience } = query;
  const state = audienceStateOf(record, audience, query.keyId);
  const entry: LedgerEntry = { id, at: now, pending: true, reason, instance, audience };
  const next = withAudienceState(record, {
    ...state,
    lease: { id, generation: latestGeneration(record, audience, now) + 1, until: now + query.leaseMs },
    unreadableUntil: query.unreadable ? now + 15 * minute : state.unreadableUntil,
  });
  return {
    ...withRetryTaken(next, now, id),
    // An earlier reservation of this query lost its lease before its request was sent. The new one replaces it.
    entries: [...next.entries.filter((other) => other.id !== id), entry],
  };
}

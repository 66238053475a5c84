import { withDeaths } from './deaths.ts';
import { isRemembered, latestGeneration, revoke } from './generations.ts';
import { hold, type Limits, rejectedRoomAt, roomAt } from './limits.ts';
import {
  type IssuanceReason,
  type LedgerEntry,
  type LedgerRecord,
  type Slot,
  type StoredToken,
  slotOf,
  withSlot,
} from './record.ts';

/** What a process asks the ledger for. */
export interface Ask {
  readonly audience: string;
  readonly keyId: string;
  readonly secretId: string;
  /** Why a token would be issued. With `refresh` and `rejected` the caller can go on with the token it holds. */
  readonly reason: IssuanceReason;
  /** The token in this process's memory. */
  readonly held?: { readonly id: string; readonly generation: number } | undefined;
  /** Tokens that must not be used whatever the record says: rejected by the API, reset, or not to be opened. */
  readonly unusable: readonly (string | undefined)[];
  /** Tokens up to this generation were reset by this process, whatever the record says: a store that went back forgot it. */
  readonly revoked: number;
  /** One of them cannot be opened: somebody may be damaging the record, so replacements are spaced. */
  readonly unreadable: boolean;
  /** False: only look whether the record has something newer. */
  readonly mayIssue: boolean;
  /** Id of the reservation, and of the token that comes of it. */
  readonly id: string;
  readonly instance: string;
  /** How long others wait for the outcome. */
  readonly leaseMs: number;
}

/** Why no token is issued now. */
export interface Refused {
  readonly cause: 'limit' | 'spacing' | 'deaths' | 'backoff' | 'rate_limited' | 'credentials';
  readonly retryAt: number;
}

/**
 * What to do next. `keep`: go on with the token in memory; `drop`: it was reset; `write`: swap in this record and decide again;
 * `admitted`: the record has this ask's reservation, send the request; with `probesFirst` only if a probe is answered.
 */
export type Decision =
  | { readonly kind: 'use'; readonly token: StoredToken }
  | { readonly kind: 'keep'; readonly retryAt: number; readonly refused?: Refused }
  | { readonly kind: 'drop' }
  | { readonly kind: 'wait'; readonly until: number }
  | {
      readonly kind: 'admitted';
      readonly entry: LedgerEntry;
      readonly generation: number;
      readonly probesFirst: boolean;
    }
  | { readonly kind: 'refuse'; readonly reason: IssuanceReason; readonly refused: Refused }
  | { readonly kind: 'write'; readonly record: LedgerRecord };

const minute = 60_000;

/** A token is handed out with this much life left at least. */
export function marginOf(lifetimeMs: number): number {
  return Math.min(minute, lifetimeMs / 10);
}

/** Decides for one process what the record allows it. Expects a reconciled record; `now` is the ledger's time. */
export function decide(record: LedgerRecord, now: number, ask: Ask, limits: Limits): Decision {
  const slot = slotOf(record, ask.audience, ask.keyId);
  if (slot.revoked < ask.revoked && isRemembered(ask.revoked, now))
    return { kind: 'write', record: revoke(record, ask.audience, ask.keyId, ask.revoked) };
  const entry = record.entries.find(({ id }) => id === ask.id);
  if (entry && slot.lease?.id === ask.id) {
    const probesFirst = record.failures?.probeAt !== undefined && now < record.failures.retryAt;
    return { kind: 'admitted', entry, generation: slot.lease.generation, probesFirst };
  }

  const held = ask.held && ask.held.generation > slot.revoked ? ask.held : undefined;
  const stored = slot.token;
  const due = ask.mayIssue && ask.reason === 'refresh' && stored?.id === held?.id;
  const fresh = stored && !ask.unusable.includes(stored.id) && now < stored.expiresAt - marginOf(stored.lifetimeMs);
  // An expired one is no reason to disregard what another key's holders share.
  const superseded = stored && held && ask.reason !== 'expired' && held.generation > stored.generation;
  if (fresh && !due && !superseded) return { kind: 'use', token: stored };
  // Before anything is refused: whoever goes on with what it holds must not go on with this.
  if (ask.held && !held) return { kind: 'drop' };
  if (!ask.mayIssue) return { kind: 'keep', retryAt: now };

  if (slot.lease && slot.lease.until > now) {
    const { until } = slot.lease;
    return held && ask.reason === 'refresh' ? { kind: 'keep', retryAt: until } : { kind: 'wait', until };
  }
  const reason = slot.revoked > 0 && !slot.token ? 'reset' : ask.reason;
  const counted = withDeaths(record, now, limits);
  const refused = refusal(counted, slot, now, ask, reason, limits);
  if (!refused) return { kind: 'write', record: reserve(counted, slot, now, ask, reason) };
  return held && (reason === 'refresh' || reason === 'rejected')
    ? { kind: 'keep', retryAt: refused.retryAt, refused }
    : { kind: 'refuse', reason, refused };
}

/** Whether the record shows that the held token is still good: the fleet neither reset nor replaced it. */
export function confirms(decision: Decision, held: Ask['held']): boolean {
  return decision.kind === 'use' ? decision.token.id === held?.id : decision.kind !== 'drop';
}

function refusal(
  record: LedgerRecord,
  slot: Slot,
  now: number,
  ask: Ask,
  reason: IssuanceReason,
  limits: Limits,
): Refused | undefined {
  const backoffs = [
    record.failures?.probeAt ?? record.failures?.retryAt ?? 0,
    reason === 'refresh' ? slot.renewAfter : 0,
    ask.unreadable ? slot.unreadableUntil : 0,
  ];
  const causes: Refused[] = [
    { cause: 'credentials', retryAt: slot.refused?.secretId === ask.secretId ? slot.refused.retryAt : 0 },
    { cause: 'rate_limited', retryAt: record.rateLimit?.retryAt ?? 0 },
    { cause: 'backoff', retryAt: Math.max(...backoffs) },
    { cause: 'deaths', retryAt: record.deaths.retryAt },
    { cause: 'spacing', retryAt: reason === 'rejected' ? rejectedRoomAt(record, now, limits) : 0 },
    { cause: 'limit', retryAt: roomAt(record, now, limits, reason) },
  ];
  return causes.find((cause) => cause.retryAt > now);
}

function reserve(record: LedgerRecord, slot: Slot, now: number, ask: Ask, reason: IssuanceReason): LedgerRecord {
  const { id, instance, audience } = ask;
  const { rejections } = record;
  // An hour in which a renewal was allowed and nobody asked for one: what is rejected now is another matter.
  const recent = now > rejections.retryAt + 60 * minute ? undefined : rejections;
  const entry: LedgerEntry = { id, at: now, pending: true, reason, instance, audience };
  const next = withSlot(record, {
    ...slot,
    lease: { id, generation: latestGeneration(record, audience, now) + 1, until: now + ask.leaseMs },
    unreadableUntil: ask.unreadable ? now + 15 * minute : slot.unreadableUntil,
  });
  return {
    ...next,
    // Reserved before, but the lease was lost before anything was sent: the new reservation replaces it.
    entries: [...next.entries.filter((other) => other.id !== id), entry],
    rejections: reason === 'rejected' ? hold(recent, now, minute, 60 * minute) : rejections,
  };
}

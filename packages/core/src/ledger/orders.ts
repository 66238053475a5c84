import { chargeOf } from './attempt.ts';
import { type LedgerRecord, latestGeneration, type Order } from './journal.ts';
import type { Limits } from './limits.ts';
import { spacingAfter } from './spacing.ts';
import type { Mark } from './streaks.ts';
import { keptTerms } from './terms.ts';
import { revoke, revokedOf, tokenOf } from './tokens.ts';

const minute = 60_000;
/** Every process that needs a token reads the record more often than this. */
const noticedWithinMs = minute;

/** Returns the instant from which the fleet may be told to try again, `now` at the earliest. Such orders are 1, 2, 4 … 60 minutes apart. */
export function retryRoomAt(record: LedgerRecord, now: number): number {
  return Math.max(now, spacingAfter(retriesOf(record).map(({ at }) => at)).until);
}

/** Returns whether somebody ordered so recently to try again that a process may not have noticed. */
export function isJustOrdered(record: LedgerRecord, now: number): boolean {
  return now < orderedAt(record).at + noticedWithinMs;
}

/** Returns when somebody ordered last to try again. Pauses that began before this moment are over. */
export function orderedAt(record: LedgerRecord): Mark {
  const { at = 0, generation = 0 } = retriesOf(record).at(-1) ?? {};
  return { at, generation };
}

function retriesOf({ orders }: LedgerRecord): readonly Order[] {
  return orders.filter(({ kind }) => kind === 'retry');
}

/** Returns the record with one more order. An order that is written twice is there once. */
function withOrder(record: LedgerRecord, order: Order): LedgerRecord {
  if (record.orders.some(({ id }) => id === order.id)) return record;
  return { ...record, orders: [...record.orders, order].sort(byInstant) };
}

export function byInstant(a: Order, b: Order): number {
  return a.at - b.at || (a.id < b.id ? -1 : 1);
}

/** Returns the record in which all pauses have ended. What fails again goes on with the pause that it had. The limit, and its share for 401s, still decide. */
export function withRetry(record: LedgerRecord, now: number, { id, by }: Pick<Order, 'id' | 'by'>): LedgerRecord {
  return withOrder(record, { id, at: now, kind: 'retry', by, generation: latestGeneration(record, now) });
}

/** A process reports that the tokens of an audience are compromised. */
export interface Reset {
  /** Identifies the reset. A reset that is written twice is listed once. */
  readonly id: string;
  readonly audience: string;
  readonly keyId: string;
  readonly instance: string;
  readonly reason?: string | undefined;
  /** The token in the memory of this process. `isServed`: its callers were served this token until now, so it is the token that the process reports. */
  readonly cached?: { readonly id: string; readonly generation: number; readonly isServed: boolean } | undefined;
}

/**
 * Returns the record in which all tokens of an audience are reset, and in which the reset is listed. If the token that the process reports was reset before,
 * its replacement is not. Nothing changes if the record knows no token of this audience, because its name is probably wrong. A record that nobody has
 * written yet knows nothing: it may follow one that was lost.
 */
export function withReset(record: LedgerRecord, now: number, reset: Reset): LedgerRecord {
  const { id, audience, keyId, instance: by, reason, cached } = reset;
  const revoked = revokedOf(record, audience);
  const charged = record.attempts.filter((attempt) => chargeOf(attempt) > 0);
  const known = [...charged, ...record.tokens].filter((part) => part.audience === audience);
  if (known.length === 0 && revoked === 0 && !cached && record.sequence > 0) return record;
  const generation = cached?.generation ?? 0;
  // Many processes may report one token for one alarm.
  const isReset = cached?.isServed && generation <= revoked;
  const upTo = isReset ? revoked : Math.max(latestGeneration(record, now), generation);
  const other = record.tokens.find((token) => token.audience === audience && token.generation > revoked);
  const tokenId = (cached ?? tokenOf(record, audience, keyId) ?? other)?.id;
  return withOrder(revoke(record, audience, upTo), { id, at: now, kind: 'reset', by, audience, tokenId, reason });
}

/** What somebody says of the tokens that a record has not seen. */
export type Spent = Pick<Order, 'id' | 'by'> & { readonly reason: string; readonly tokens: number };

/**
 * Returns the record in which at most so many tokens count that it has not seen, whenever they were issued in the last window. It knows all others then, so
 * it is not new any more. Undefined: the record knows that there were more of them, or it has seen all tokens and none is added.
 */
export function withSpentElsewhere(
  record: LedgerRecord,
  now: number,
  said: Spent,
  limits: Limits,
): LedgerRecord | undefined {
  const windowAt = Math.max(0, now - Math.max(...keptTerms(record, limits).map(({ pendingMs }) => pendingMs)));
  const before = record.orders.filter(({ kind, at }) => kind === 'spent' && at > windowAt);
  const known = Math.max(0, ...before.map(({ tokens }) => tokens ?? 0));
  if (said.tokens < known || (said.tokens === 0 && record.completeSince <= windowAt)) return undefined;
  const completeSince = Math.min(record.completeSince, windowAt);
  return withOrder({ ...record, completeSince }, { ...said, at: now, kind: 'spent' });
}

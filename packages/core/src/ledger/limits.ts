import type { Backoff, IssuanceReason, LedgerRecord } from './record.ts';

const minute = 60_000;
const hour = 60 * minute;

/** The failure that an acknowledged `swap` of a store survives. See `Store.durability`. */
export type StoreDurability = 'process' | 'durable' | 'replicated';

/** The numbers that follow from the agreement with the operator. */
export interface Limits {
  readonly limit: number;
  /** The limit less the reserve. */
  readonly usable: number;
  readonly windowMs: number;
  /** A settled entry counts for this long: 25 hours and 10 minutes if the window is a day, because a calendar day can have 25 hours. */
  readonly settledMs: number;
  /** A pending entry counts for this long. It is longer than `settledMs`, because the request may have arrived late. */
  readonly pendingMs: number;
  /** A new record may spend this many tokens in its first `pendingMs`. It may replace a lost record, whose entries are unknown. */
  readonly coldStart: number;
  /** A token for this reason may be issued while fewer tokens than this are spent. */
  readonly ceilings: Readonly<Record<IssuanceReason, number>>;
  /** This many tokens of a window may be renewals that 401s of the API cause. */
  readonly rejectedShare: number;
}

/** Computes the limits. `reserve`: the tokens that no process plans with; undefined takes the default of the store's durability. */
export function limitsFor(
  tokens: number,
  windowMs: number,
  reserve: number | undefined,
  durability: StoreDurability,
): Limits {
  const kept = reserve ?? Math.min(tokens - 1, Math.ceil(tokens / (durability === 'replicated' ? 2 : 5)));
  const usable = tokens - kept;
  const window = windowMs + Math.min(hour, windowMs / 24);
  // The reserve covers one loss of a durable store, or three losses of a replicated one. With fewer than three tokens nothing works.
  const insured = Math.max(3, durability === 'replicated' ? Math.floor(kept / 3) : kept);
  const withoutReset = usable - Math.min(10, Math.floor(usable / 12));
  return {
    limit: tokens,
    usable,
    windowMs,
    settledMs: window + Math.min(10 * minute, windowMs / 144),
    pendingMs: window + Math.min(2 * hour, Math.max(2 * minute, windowMs / 12)),
    coldStart: durability === 'process' || kept === 0 ? usable : Math.min(usable, insured),
    ceilings: {
      refresh: Math.floor(usable * 0.7),
      cold: withoutReset,
      expired: withoutReset,
      rejected: withoutReset,
      reset: usable,
    },
    rejectedShare: Math.min(20, Math.max(1, Math.floor(usable / 6))),
  };
}

/** Returns the instant at which an entry stops counting. */
export function leavesAt(entry: { at: number; pending: boolean }, limits: Limits): number {
  return entry.at + (entry.pending ? limits.pendingMs : limits.settledMs);
}

/** Counts the spent tokens, and how many of them are pending. Expects a record that `reconcile()` or `compact()` returned. */
export function spent(record: LedgerRecord): { used: number; pending: number } {
  let used = record.entries.length;
  let pending = record.entries.filter((entry) => entry.pending).length;
  for (const bucket of record.condensed) {
    used += bucket.count;
    if (bucket.pending) pending += bucket.count;
  }
  return { used, pending };
}

/** Returns the instant from which fewer than `ceiling` tokens are spent, `now` at the earliest. Expects a record that `reconcile()` or `compact()` returned. */
export function freeAt(record: LedgerRecord, now: number, limits: Limits, ceiling: number): number {
  const leaving = [...record.entries.map((entry) => ({ ...entry, count: 1 })), ...record.condensed]
    .map((part) => ({ at: leavesAt(part, limits), count: part.count }))
    .sort((a, b) => a.at - b.at);
  let used = leaving.reduce((sum, part) => sum + part.count, 0);
  let at = now;
  for (const part of leaving) {
    if (used < ceiling) return at;
    used -= part.count;
    at = part.at;
  }
  // A ceiling of 0 never has room. Ask again when the window has passed.
  return used < ceiling ? at : now + limits.settledMs;
}

/** Returns the instant from which a token may be issued for this reason, `now` at the earliest. Expects a record that `reconcile()` or `compact()` returned. */
export function roomAt(record: LedgerRecord, now: number, limits: Limits, reason: IssuanceReason): number {
  const isGain = (part: { at: number }) => part.at >= record.bornAt;
  const gains = { ...record, entries: record.entries.filter(isGain), condensed: record.condensed.filter(isGain) };
  const insuredAt = Math.min(record.bornAt + limits.pendingMs, freeAt(gains, now, limits, limits.coldStart));
  return Math.max(freeAt(record, now, limits, limits.ceilings[reason]), insuredAt);
}

/** Returns the instant from which a 401 of the API may cause a renewal. The fleet spaces such renewals 1, 2, 4 … 60 minutes apart. */
export function rejectedRoomAt(record: LedgerRecord, now: number, limits: Limits): number {
  const renewals = record.entries.filter((entry) => entry.reason === 'rejected');
  const oldest = renewals[renewals.length - limits.rejectedShare];
  return Math.max(now, record.rejections.retryAt, oldest ? leavesAt(oldest, limits) : 0);
}

/** Returns the back-off after one more failure: `firstMs`, doubled with each failure, from `minMs` to `maxMs`. `minMs` wins over `maxMs`. */
export function nextBackoff(
  before: Backoff | undefined,
  failedAt: number,
  firstMs: number,
  maxMs: number,
  minMs = 0,
): Backoff {
  const count = before?.count ?? 0;
  const pauseMs = Math.max(minMs, Math.min(maxMs, firstMs * 2 ** Math.min(count, 30)));
  return { count: count + 1, retryAt: Math.max(before?.retryAt ?? 0, Math.ceil(failedAt + pauseMs)) };
}

/** Returns the least back-off after an outcome that may have issued a token. An outage of any length leaves half of the budget unspent. */
export function sparingMs(record: LedgerRecord, now: number, limits: Limits): number {
  // A new record may gain less than what is usable: an outage of its first day must not take all of that.
  const half = (now < record.bornAt + limits.pendingMs ? limits.coldStart : limits.usable) / 2;
  const isPending = ({ pending }: { pending: boolean }) => pending;
  const unknown = {
    ...record,
    entries: record.entries.filter(isPending),
    condensed: record.condensed.filter(isPending),
  };
  // A quarter is spent freely. The next quarter is spread until enough entries of the first one stop counting.
  return Math.min((2 * limits.pendingMs) / half, freeAt(unknown, now, limits, Math.max(2, half / 2)) - now);
}

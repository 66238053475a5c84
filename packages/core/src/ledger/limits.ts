import type { Backoff, IssuanceReason, LedgerRecord } from './record.ts';

const minute = 60_000;
const hour = 60 * minute;

/** What an acknowledged `swap` of a store survives. */
export type StoreDurability = 'process' | 'durable' | 'replicated';

/** What the agreement with the operator allows, worked out once. */
export interface Limits {
  readonly limit: number;
  /** The limit less the reserve. */
  readonly usable: number;
  readonly windowMs: number;
  /** How long an entry counts once its outcome is known: an hour and ten minutes beyond a day, so that 25-hour calendar days fit. */
  readonly settledMs: number;
  /** How long an entry counts whose outcome is unknown: longer by what its request may have taken to arrive. */
  readonly pendingMs: number;
  /** What a record may gain in its first `pendingMs`: it may follow one that was lost, whose entries nobody remembers. */
  readonly coldStart: number;
  /** Up to how many spent tokens each purpose may still have one issued. */
  readonly ceilings: Readonly<Record<IssuanceReason, number>>;
  /** How many of the window's tokens may be renewals caused by API 401s. */
  readonly rejectedShare: number;
}

/** Works out the tiers. `reserve` undefined: by the store's durability. */
export function limitsFor(
  tokens: number,
  windowMs: number,
  reserve: number | undefined,
  durability: StoreDurability,
): Limits {
  const kept = reserve ?? Math.min(tokens - 1, Math.ceil(tokens / (durability === 'replicated' ? 2 : 5)));
  const usable = tokens - kept;
  const window = windowMs + Math.min(hour, windowMs / 24);
  // One total loss of a durable store, three of a replicated one, fit into the reserve. Three tokens at least: below that nothing works.
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

/** When an entry stamped `at` stops counting. */
export function leavesAt(entry: { at: number; pending: boolean }, limits: Limits): number {
  return entry.at + (entry.pending ? limits.pendingMs : limits.settledMs);
}

/** How many tokens are spent, and how many of these are pending. Expects a pruned record. */
export function spent(record: LedgerRecord): { used: number; pending: number } {
  let used = record.entries.length;
  let pending = record.entries.filter((entry) => entry.pending).length;
  for (const bucket of record.condensed) {
    used += bucket.count;
    if (bucket.pending) pending += bucket.count;
  }
  return { used, pending };
}

/** When fewer than `ceiling` tokens will be spent: `now` if that is so already. Expects a pruned record. */
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
  // A ceiling of nothing never has room; look again when the window has passed.
  return used < ceiling ? at : now + limits.settledMs;
}

/** When the budget has room for one more token of this purpose: `now` if it has. Expects a pruned record. */
export function roomAt(record: LedgerRecord, now: number, limits: Limits, reason: IssuanceReason): number {
  const isGain = (part: { at: number }) => part.at >= record.bornAt;
  const gains = { ...record, entries: record.entries.filter(isGain), condensed: record.condensed.filter(isGain) };
  const insuredAt = Math.min(record.bornAt + limits.pendingMs, freeAt(gains, now, limits, limits.coldStart));
  return Math.max(freeAt(record, now, limits, limits.ceilings[reason]), insuredAt);
}

/** When a renewal caused by an API 401 is due: they are few, and spaced 1, 2, 4 … 60 minutes apart in the whole fleet. */
export function rejectedRoomAt(record: LedgerRecord, now: number, limits: Limits): number {
  const renewals = record.entries.filter((entry) => entry.reason === 'rejected');
  const oldest = renewals[renewals.length - limits.rejectedShare];
  return Math.max(now, record.rejections.retryAt, oldest ? leavesAt(oldest, limits) : 0);
}

/** One more failure in a row: hold off for `firstMs`, doubled with every failure, at most `longestMs`, and `leastMs` in any case. */
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

/** How long to hold off at least after an outcome that may have issued a token: so that an outage of any length leaves half of the budget. */
export function sparingMs(record: LedgerRecord, now: number, limits: Limits): number {
  // A new record may gain less than what is usable: an outage of its first day must not take all of that.
  const half = (now < record.bornAt + limits.pendingMs ? limits.coldStart : limits.usable) / 2;
  // A quarter may go within hours; another one has to last until the first ones leave.
  const scarce = spent(record).pending >= Math.max(2, half / 2);
  return scarce ? Math.min(limits.pendingMs, (2 * limits.pendingMs) / half) : 0;
}

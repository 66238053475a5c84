import { freeAt, leavesAt } from './count.ts';
import type { TermLimits } from './limits.ts';
import { isUnknown, type LedgerRecord, type Spent, type Streak } from './record.ts';
import { hour, minute, second } from './units.ts';

/** A row of failures or refusals ends after so long without another one. */
const streakEndsMs = 48 * hour;

/** Returns a row with one more. Requests that were under way at the same time count once. */
export function oneMore(before: Streak | undefined, reservedAt: number, at: number, knownAt?: number): Streak {
  if (before === undefined || hasEnded(before, at)) return { count: 1, at, knownAt };
  const isAtOnce = reservedAt < (before.knownAt ?? before.at);
  return { count: Math.max(1, before.count + (isAtOnce ? 0 : 1)), at: Math.max(at, before.at), knownAt };
}

/** Returns whether a row is so old that the next failure begins another one. */
export function hasEnded({ at }: Streak, now: number): boolean {
  return now > at + streakEndsMs;
}

/** Returns until when the next one of a spaced row waits. They are 1, 2, 4 … 60 minutes apart. */
export function spacedUntil({ count, at }: Streak): number {
  return at + Math.min(60, 2 ** (count - 1)) * minute;
}

/** Returns a spaced row with one more. An hour without one begins another row. */
export function oneMoreSpaced(before: Streak | undefined, at: number): Streak {
  if (!before || at > spacedUntil(before) + hour) return { count: 1, at };
  return { count: before.count + 1, at: Math.max(at, before.at) };
}

/** Returns until when a refused request waits: 5, 10, then 15 minutes. */
export function refusedUntil({ count, at }: Streak): number {
  return at + Math.min(15, 5 * 2 ** (count - 1)) * minute;
}

/**
 * Returns how many tokens may be lost before requests become rare: an eighth of the usable ones,
 * but at least 3.
 */
function freelyLost(usable: number): number {
  return Math.max(3, Math.floor(usable / 8));
}

/**
 * Returns the pause after so many failures in a row. It doubles, or grows faster, so that what may
 * be lost freely lasts a quarter of an hour.
 */
export function pauseAfter(count: number, usable: number): number {
  const growth = Math.max(2, 900 ** (1 / (freelyLost(usable) - 1)));
  return Math.min(15 * minute, second * growth ** Math.min(count - 1, 30));
}

/**
 * Returns when a token may be requested that failed so often in a row, so that an outage leaves
 * about half of the usable tokens. 0: at any time. It depends on the record alone.
 *
 * An eighth of the usable tokens may be lost freely. After that, the requests for tokens that
 * failed are the farther apart the more is lost. Other tokens may be requested while less than half
 * is lost. Three quarters never are.
 */
export function sparedUntil(record: LedgerRecord, term: TermLimits, failures: number, retriedAt: number): number {
  const { usable, newRecordCeiling, pendingMs } = term;
  const unknown = record.spent.filter(isUnknown);
  const usual = spared(record, term, unknown, failures, retriedAt, usable, freelyLost(usable));
  if (newRecordCeiling === usable) return usual;
  // While earlier tokens are unknown, less may be had than is usable. An outage must not take all
  // of that.
  const freely = Math.max(3, Math.floor(newRecordCeiling / 2));
  const young = spared(record, term, unknown, failures, retriedAt, newRecordCeiling, freely, 2 * hour);
  return Math.max(usual, Math.min(young, record.completeSince + pendingMs));
}

function spared(
  { lost }: LedgerRecord,
  term: TermLimits,
  unknown: readonly Spent[],
  failures: number,
  retriedAt: number,
  budget: number,
  freely: number,
  mostApartMs: number = Number.POSITIVE_INFINITY,
): number {
  const never = freeAt(unknown, term, Math.max(7, Math.ceil(budget * 0.75)));
  if (!lost || lost.at <= retriedAt) return never;
  const most = failures > 0 ? freely : Math.max(freely, Math.floor(budget / 2) - 1);
  const before = unknown.filter((one) => leavesAt(one, term) > lost.at);
  const known = before.reduce((sum, { tokens = 1 }) => sum + tokens, 0);
  const evenlyMs = term.pendingMs / (3 * Math.max(0.43 * budget - known, 0.075 * budget));
  const apartMs = Math.min(mostApartMs, minute * 2 ** Math.min(30, Math.max(failures, lost.count)), evenlyMs);
  // So a token that is always refused can't starve the others.
  const turn = 1 + Math.min(10, Math.max(0, failures - 1)) / 30;
  return Math.ceil(Math.max(never, Math.min(freeAt(unknown, term, most), lost.at + apartMs * turn)));
}

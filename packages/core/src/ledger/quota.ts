import { costOf, countsFrom, leavesAt } from './count.ts';
import { termLimits } from './limits.ts';
import type { LedgerRecord, Quota } from './record.ts';

/**
 * A figure of the provider about a window that has not ended, and the instant at which it was
 * known. `foreign`: the least number of tokens in the window that the record does not know.
 */
export interface Figure {
  readonly quota: Quota;
  readonly at: number;
  readonly endsAt: number;
  readonly foreign: number;
}

/** Returns the provider's last figures about windows that have not ended. */
export function figuresOf(record: LedgerRecord, now: number): readonly Figure[] {
  if (!record.quota) return [];
  const { askedAt, at, figures } = record.quota;
  return figures
    .map((quota) => ({ quota, at, endsAt: askedAt + quota.endsInMs, foreign: foreignIn(record, quota, askedAt, at) }))
    .filter(({ endsAt }) => endsAt > now);
}

/**
 * Returns how many tokens of a provider's window the record does not know. Tokens that may have
 * been issued before the window began, or after the provider counted, count as the fleet's own, so
 * that no other program is suspected without need. The provider counted between `askedAt` and
 * `knownAt`. Tokens that were stated since explain a part of its count.
 */
export function foreignIn(
  record: LedgerRecord,
  { windowMs, tokens, remaining, endsInMs }: Quota,
  askedAt: number,
  knownAt: number,
): number {
  const term = termLimits({ tokens, windowMs, reserve: 0 }, 'durable');
  const beganAt = askedAt + endsInMs - windowMs - 1_000;
  const known = record.spent.filter((one) => {
    const isOfThen = one.reason === 'stated' || Math.min(one.at, countsFrom(one)) <= knownAt;
    return isOfThen && leavesAt(one, term) > beganAt + term.settledMs;
  });
  const count = known.reduce((sum, one) => sum + costOf(one, term), 0);
  return Math.max(0, tokens - remaining - count);
}

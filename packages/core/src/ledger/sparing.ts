import { isOpen } from './attempt.ts';
import { countOf, freeAt, mayMissTokens, type Part, partsOf } from './count.ts';
import type { LedgerRecord } from './journal.ts';
import type { Limits, TermLimits } from './limits.ts';
import { isAfter, lastOf, type Mark, type Streak } from './streaks.ts';
import { enforcedTerms } from './terms.ts';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Returns how many of the usable tokens may be lost before requests become rare: an eighth, but at least 3. */
function freelyLost(usable: number): number {
  return Math.max(3, Math.floor(usable / 8));
}

/** Rule 1 of `pace`: the pause after so many failures in a row. It doubles, or grows faster, so that what may be lost freely lasts a quarter of an hour. */
export function pauseAfter(count: number, leastUsable: number): number {
  const growth = Math.max(2, 900 ** (1 / (freelyLost(leastUsable) - 1)));
  return Math.min(15 * minute, second * growth ** Math.min(count - 1, 30));
}

/**
 * Rule 2 of `pace`: returns when an audience may ask that failed so often in a row, so that about half of the usable tokens is left after a long outage. 0: at once.
 * Of several terms the strictest decides. `lost`: the requests of unknown outcome. Pauses that began before `endedAt` are over.
 */
export function sparing(
  record: LedgerRecord,
  now: number,
  limits: Limits,
  lost: Streak,
  endedAt: Mark,
): (failures: number) => number {
  // Who is held up waits for what is under way.
  const goesOn = isAfter(lastOf(lost), endedAt);
  const known = { ...record, attempts: record.attempts.filter((attempt) => !isOpen(attempt, now)) };
  const terms = enforcedTerms(record, now, limits).map(({ term, enforcedUntil }) => {
    const { usable, newRecordCeiling, pendingMs } = term;
    const unknown = partsOf(known, now, term).filter((part) => part.unknown);
    const before = countOf(partsOf(known, lost.last, term).filter((part) => part.unknown && part.at <= lost.last));
    const untilOf = (budget: number, freely: number, mostApartMs: number) => (failures: number) =>
      sparedUntil(term, now, unknown, { budget, freely, mostApartMs, before, lost, goesOn }, failures);
    const usual = untilOf(usable, freelyLost(usable), Number.POSITIVE_INFINITY);
    // While earlier tokens are unknown, less may be gained than is usable. An outage must not take all of that.
    const isYoung = newRecordCeiling < usable && mayMissTokens(record, now, term);
    const young = isYoung
      ? untilOf(newRecordCeiling, Math.max(3, Math.floor(newRecordCeiling / 2)), 2 * hour)
      : () => 0;
    return (failures: number) => {
      const youngUntil = Math.min(young(failures), record.completeSince + pendingMs);
      return Math.min(enforcedUntil, Math.max(usual(failures), youngUntil));
    };
  });
  return (failures) => Math.ceil(Math.max(0, ...terms.map((untilOf) => untilOf(failures))));
}

interface Budget {
  readonly budget: number;
  /** An audience that failed may ask as it likes while fewer than these are lost. */
  readonly freely: number;
  readonly mostApartMs: number;
  /** The lost ones of this term when the last one was known. */
  readonly before: number;
  readonly lost: Streak;
  /** Nobody has ordered to try again since. */
  readonly goesOn: boolean;
}

function sparedUntil(
  term: TermLimits,
  now: number,
  unknown: readonly Part[],
  { budget, freely, mostApartMs, before, lost, goesOn }: Budget,
  failures: number,
): number {
  const belowAt = (ceiling: number) => {
    const at = freeAt(unknown, now, term, ceiling);
    return at > now ? at : 0;
  };
  const most = failures > 0 ? freely : Math.max(freely, Math.floor(budget / 2) - 1);
  const row = Math.min(30, Math.max(failures, lost.count));
  const evenlyMs = term.pendingMs / (3 * Math.max(0.43 * budget - before, 0.075 * budget));
  const apartMs = Math.min(mostApartMs, minute * 2 ** row, evenlyMs);
  // So an audience that always fails cannot starve the others.
  const turn = 1 + Math.min(10, Math.max(0, failures - 1)) / 30;
  const pausedUntil = goesOn ? Math.min(belowAt(most), lost.last + apartMs * turn) : 0;
  return Math.max(pausedUntil, belowAt(Math.max(7, Math.ceil(budget * 0.75))));
}

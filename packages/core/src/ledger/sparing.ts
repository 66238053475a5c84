import { isOpen } from './attempt.ts';
import { countOf, freeAt, mayMissTokens, type Part, partsOf } from './count.ts';
import type { LedgerRecord } from './journal.ts';
import type { Limits, TermLimits } from './limits.ts';
import { enforcedTerms } from './terms.ts';

const minute = 60_000;

/** What spares the budget in an outage. */
export interface Spared {
  /** One more token may be spent on an unknown outcome then. 0: a quarter is not spent yet. */
  readonly until: number;
  /** The same for an audience that waits for its turn for so long. */
  untilTurn(turnMs: number): number;
  /** From then on less than three eighths is of unknown outcome, so an audience that has not failed may ask. */
  readonly othersAt: number;
}

/** Says when one more token may be spent on an unknown outcome. Of several terms the strictest decides. `lastAt`: the last one was spent then. */
export function sparedBy(record: LedgerRecord, now: number, limits: Limits, lastAt: number): Spared {
  // Who is held up waits for what is under way.
  const known = { ...record, attempts: record.attempts.filter((attempt) => !isOpen(attempt, now)) };
  const terms = enforcedTerms(record, now, limits).map(({ term, enforcedUntil }) => {
    const unknown = partsOf(known, now, term).filter((part) => part.unknown);
    const before = partsOf(known, lastAt, term).filter((part) => part.unknown && part.at <= lastAt);
    const usual = sparingOf(term, now, unknown, term.usable, countOf(before), lastAt);
    // While earlier tokens are unknown, less may be gained than is usable. An outage must not take all of that.
    const young = mayMissTokens(record, now, term)
      ? sparingOf(term, now, unknown, term.newRecordCeiling, countOf(before), lastAt)
      : usual;
    const grownAt = record.completeSince + term.pendingMs;
    const sooner = (one: number, other: number) => Math.min(enforcedUntil, one, Math.max(other, grownAt));
    return {
      othersAt: sooner(young.othersAt, usual.othersAt),
      untilTurn: (turnMs: number) => Math.ceil(sooner(young.untilTurn(turnMs), usual.untilTurn(turnMs))),
    };
  });
  const untilTurn = (turnMs: number) => Math.max(0, ...terms.map((term) => term.untilTurn(turnMs)));
  return { until: untilTurn(0), untilTurn, othersAt: Math.max(0, ...terms.map((term) => term.othersAt)) };
}

/** How one term spares a budget. `before`: so many were of unknown outcome when the last one was spent. */
function sparingOf(
  term: TermLimits,
  now: number,
  unknown: readonly Part[],
  budget: number,
  before: number,
  lastAt: number,
) {
  /** 0: less than this share is of unknown outcome. */
  const belowAt = (share: number) => {
    const at = freeAt(unknown, now, term, Math.max(2, budget * share));
    return at > now ? at : 0;
  };
  const [freelyAt, othersAt] = [belowAt(1 / 4), belowAt(3 / 8)];
  const onceMs = (4 * term.pendingMs) / budget;
  // From three eighths on, twice as slowly.
  const pauseMs = before < (budget * 3) / 8 ? onceMs : Math.max(onceMs, Math.min(2 * onceMs, 110 * minute));
  return { othersAt, untilTurn: (turnMs: number) => Math.min(freelyAt, lastAt + pauseMs + turnMs) };
}

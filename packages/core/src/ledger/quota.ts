import { countOf, partsOf } from './count.ts';
import type { Attempt, LedgerRecord, Outcome, Quota } from './journal.ts';
import { termLimits } from './limits.ts';

const second = 1_000;

/** An attempt whose answer said what the operator counts. */
export type Told = Attempt & { readonly outcome: Outcome & { readonly quota: readonly Quota[] } };

/** What the operator said of a window that has not ended, and when it said so. `foreign`: at least so many tokens of the window are unknown to the record. */
export interface Figure {
  readonly quota: Quota;
  readonly at: number;
  readonly endsAt: number;
  readonly foreign: number;
}

/** Returns the newest attempt that was told what the operator counts. Undefined: none was. */
export function lastTold({ attempts }: LedgerRecord): Told | undefined {
  return attempts.findLast((attempt): attempt is Told => attempt.outcome?.quota !== undefined);
}

/** Returns what the operator said last, of its windows that have not ended. It is advice: no caller waits or is refused for it. */
export function figuresOf(record: LedgerRecord, now: number): readonly Figure[] {
  const told = lastTold(record);
  if (!told) return [];
  const { at, outcome } = told;
  return outcome.quota
    .map((quota) => {
      const foreign = foreignIn(record, quota, at, outcome.at);
      return { quota, at: outcome.at, endsAt: at + quota[3], foreign };
    })
    .filter(({ endsAt }) => endsAt > now);
}

/** Returns until when nothing is left of the operator's windows, as it said last. Then only what callers wait for is requested. 0: something is left. */
export function nothingLeftUntil(record: LedgerRecord, now: number): number {
  return Math.max(
    0,
    ...figuresOf(record, now).map(({ quota: [, , remaining], endsAt }) => (remaining > 0 ? 0 : endsAt)),
  );
}

/**
 * Returns how many tokens of an operator's window the record does not know. What may have been issued before the window began, or after the operator
 * counted, is taken for the fleet's own, so that no other program is suspected without need. The operator counted between `askedAt` and `toldAt`.
 */
export function foreignIn(
  record: LedgerRecord,
  [windowMs, tokens, remaining, endsInMs]: Quota,
  askedAt: number,
  toldAt: number,
): number {
  const term = termLimits({ tokens, windowMs, reserve: 0 }, 'durable');
  const beganAt = askedAt + endsInMs - windowMs - second;
  const attempts = record.attempts.filter(({ at }) => at <= toldAt);
  const known = countOf(partsOf({ ...record, attempts }, beganAt + term.settledMs, term));
  return Math.max(0, tokens - remaining - known);
}

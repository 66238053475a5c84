import type { Attempt, IssuanceReason, LedgerRecord, Outcome, Term } from './journal.ts';

const reasons: readonly string[] = ['cold', 'refresh', 'expired', 'rejected', 'reset'] satisfies IssuanceReason[];

/** Returns why a token was requested. A reason of a later release is `cold`. */
export function reasonOf({ reason }: Attempt): IssuanceReason {
  return reasons.includes(reason) ? (reason as IssuanceReason) : 'cold';
}

/** An attempt that has an outcome. */
export type Settled = Attempt & { readonly outcome: Outcome };

export function isIssued(attempt: Attempt): attempt is Settled {
  return attempt.outcome?.kind === 'issued';
}

/** Returns whether the endpoint's answer is known: it issued a token, or refused one. Where it was not reached, there was no answer. */
export function isCertain(attempt: Attempt): attempt is Settled {
  return isIssued(attempt) || attempt.outcome?.kind === 'unsent' || attempt.outcome?.kind === 'refused';
}

/** Returns whether the others wait for the outcome. */
export function isOpen({ outcome, until }: Attempt, now: number): boolean {
  return !outcome && until > now;
}

/** Returns how many tokens an attempt may have cost, and certainly has if it was issued. */
export function chargeOf({ outcome }: Attempt): number {
  return outcome ? outcome.charge : 1;
}

/** Returns how many requests of an attempt may have reached the endpoint. */
export function requestsOf({ outcome }: Attempt): number {
  const isSent = outcome?.kind !== 'unsent' && outcome?.kind !== 'unreached';
  return isSent ? Math.max(1, outcome?.charge ?? 1) : outcome.charge;
}

/** Returns how much an attempt costs under a term. */
export function costOf(attempt: Attempt, { counts }: Pick<Term, 'counts'>): number {
  return counts === 'requests' ? requestsOf(attempt) : chargeOf(attempt);
}

/** Returns whether an attempt is a note: it is in a bucket already. */
export function isFolded({ folded }: LedgerRecord, { epoch, generation }: Attempt): boolean {
  return generation <= (folded[epoch] ?? 0);
}

export function byGeneration(a: Attempt, b: Attempt): number {
  return a.generation - b.generation || (a.id < b.id ? -1 : 1);
}

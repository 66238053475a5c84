import { isIssued, isOpen, type Settled } from './attempt.ts';
import type { Attempt, LedgerRecord } from './journal.ts';
import { refusalsOf } from './refusals.ts';
import { fleetOf, isFailure, isLost, knownAt } from './streaks.ts';
import { revokedOf } from './tokens.ts';

const hour = 3_600_000;

/**
 * Returns which attempts are asked for although they do not count: the newest failures of an audience, the tokens that ended a streak, what the endpoint said,
 * what it refused, renewals after 401s. `counts`: whether an attempt counts in a term.
 */
export function notesOf(
  record: LedgerRecord,
  now: number,
  counts: (attempt: Attempt) => boolean,
): (attempt: Attempt) => boolean {
  const { attempts } = record;
  const fleet = fleetOf(record, now);
  const newest = new Map<string, Attempt>();
  const latest = <Of extends Attempt>(name: string, attempt: Of, by: (attempt: Of) => number) => {
    const before = newest.get(name);
    if (!before || by(attempt) >= by(before as Of)) newest.set(name, attempt);
  };
  const generation = (attempt: Attempt) => attempt.generation;
  const arrivedAt = ({ outcome }: Settled) => outcome.at;
  for (const attempt of attempts) {
    const { audience, keyId } = attempt;
    const { at: arrived = -1 } = fleet.issuedAt.get(audience) ?? {};
    if (isFailure(attempt, now) && knownAt(attempt) >= arrived) {
      latest(`failure ${audience}`, attempt, generation);
      latest(`known ${audience}`, attempt, knownAt);
    }
    if (isLost(attempt, now)) {
      latest('lost', attempt, generation);
      latest('lost last', attempt, knownAt);
    }
    if (!isIssued(attempt)) continue;
    latest('issued', attempt, arrivedAt);
    latest('reserved', attempt, ({ at }) => at);
    if (fleet.failures.has(audience) || revokedOf(record, audience) > 0)
      latest(`token ${audience}`, attempt, arrivedAt);
    if ((attempt.outcome.holdUntil ?? 0) > now) latest(`renewal ${audience} ${keyId}`, attempt, generation);
  }
  const notes = new Set<Attempt>([
    ...newest.values(),
    ...refusalsOf(record).filter(({ outcome }) => outcome.holdUntil + hour > now),
  ]);
  return (attempt) => {
    const { reason, outcome } = attempt;
    return (
      notes.has(attempt) ||
      isOpen(attempt, now) ||
      (outcome?.toldUntil ?? 0) > now ||
      (reason === 'rejected' && counts(attempt))
    );
  };
}

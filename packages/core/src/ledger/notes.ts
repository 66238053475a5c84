import { isIssued, isOpen, type Settled } from './attempt.ts';
import type { Attempt, LedgerRecord } from './journal.ts';
import { refusalsOf } from './refusals.ts';
import { fleetOf, isFailure, isLost, knownAt } from './streaks.ts';
import { revokedOf } from './tokens.ts';

const hour = 3_600_000;
/** A record knows the hashes of so many tokens of an audience. */
const maxHashes = 20;

/** What is asked for of attempts that do not count. */
export interface Notes {
  isNeeded(attempt: Attempt): boolean;
  /** The hashes are kept of so many tokens of an audience and key only. */
  hasHash(attempt: Attempt): boolean;
}

/**
 * Returns which attempts are asked for although they do not count: the newest failures of an audience, the tokens that ended a streak, what the endpoint said,
 * what it refused, renewals after 401s, the hashes of tokens in use. `counts`: whether an attempt counts in a term.
 */
export function notesOf(record: LedgerRecord, now: number, counts: (attempt: Attempt) => boolean): Notes {
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
  const hashed = hashedOf(attempts);
  const notes = new Set<Attempt>([
    ...newest.values(),
    ...hashed,
    ...refusalsOf(record).filter(({ outcome }) => outcome.holdUntil + hour > now),
  ]);
  const isNeeded = (attempt: Attempt): boolean => {
    const { reason, outcome } = attempt;
    return (
      notes.has(attempt) ||
      isOpen(attempt, now) ||
      (outcome?.toldUntil ?? 0) > now ||
      (reason === 'rejected' && counts(attempt))
    );
  };
  return { isNeeded, hasHash: (attempt) => hashed.has(attempt) };
}

/** Returns the tokens whose hashes are kept: the last ones of each audience and key. Of those with the same hash, the first. */
function hashedOf(attempts: readonly Attempt[]): ReadonlySet<Attempt> {
  const issuedTo = new Map<string, Settled[]>();
  for (const attempt of attempts) {
    if (!isIssued(attempt)) continue;
    const name = `${attempt.audience} ${attempt.keyId}`;
    const issued = issuedTo.get(name);
    if (issued) issued.push(attempt);
    else issuedTo.set(name, [attempt]);
  }
  const hashed = [...issuedTo.values()].flatMap((issued) => {
    const lastAt = Math.max(...issued.map(({ outcome }) => outcome.at));
    const known = new Map<string, Attempt>();
    for (const attempt of issued) {
      const { hash, expiresAt = 0 } = attempt.outcome;
      // A cache may repeat a token that has expired, until the next one was issued.
      if (hash !== undefined && expiresAt > lastAt && !known.has(hash)) known.set(hash, attempt);
    }
    return [...known.values()].slice(-maxHashes);
  });
  return new Set(hashed);
}

import type { Attempt, Outcome } from './journal.ts';
import { oauthErrorCode } from './oauth-error.ts';
import { count, type Names, optional, parts, rest, restOfRow, row, signed, text, trimmed } from './wire.ts';

const maxAttempts = 12_000;

// Short words for those that every attempt has. A word that this release does not know is kept as it is.
const kinds: Readonly<Record<string, string>> = {
  i: 'issued',
  u: 'unknown',
  r: 'refused',
  x: 'unreached',
  n: 'unsent',
};
const reasons: Readonly<Record<string, string>> = { c: 'cold', f: 'refresh', e: 'expired', j: 'rejected', s: 'reset' };
const shortOf = (words: Readonly<Record<string, string>>) =>
  new Map(Object.entries(words).map(([short, word]) => [word, short]));
const [shortKinds, shortReasons] = [shortOf(kinds), shortOf(reasons)];
const wordOf = (words: Readonly<Record<string, string>>, wire: unknown) => {
  const short = text(wire, 64);
  return Object.hasOwn(words, short) ? (words[short] as string) : short;
};

/** Writes an attempt. Most instants are the distance from another one, which takes less room. */
export function writeAttempt(attempt: Attempt, before: number, names: Names): unknown[] {
  const { id, at, generation, epoch, audience, keyId, instance, reason, until, streak, fleetStreak, secretId } =
    attempt;
  const who = [epoch, audience, keyId, secretId, instance].map(names.index);
  const outcome = attempt.outcome ? writeOutcome(attempt.outcome, attempt) : 0;
  const cells = [id, at - before, generation - at, ...who, shortReasons.get(reason) ?? reason, outcome];
  const waited = [until && distance(until, at), streak, fleetStreak];
  return attempt.more ? [...cells, ...waited, ...attempt.more] : trimmed([...cells, ...waited]);
}

function instant(from: number, wire: unknown): number {
  const distance = signed(wire);
  return count(from + (distance > 0 ? distance - 1 : distance));
}

export function readAttempts(wire: unknown, names: Names): Attempt[] {
  let before = 0;
  return parts(wire, maxAttempts, (cells) => {
    const attempt = readAttempt(cells, before, names);
    before = attempt.at;
    return attempt;
  });
}

/** The distance of two instants, which is never 0. */
function distance(at: number, from: number): number {
  return at >= from ? at - from + 1 : at - from;
}

function readAttempt(wire: unknown, before: number, names: Names): Attempt {
  const cells = row(wire, 64);
  const [id, at, ahead, epoch, audience, keyId, secretId, instance, reason, outcome, until = 0, streak = 0] = cells;
  const [fleetStreak = 0] = cells.slice(12);
  const reservedAt = count(before + signed(at));
  return {
    id: text(id),
    epoch: names.name(epoch),
    generation: count(reservedAt + signed(ahead)),
    audience: names.name(audience),
    keyId: names.name(keyId),
    secretId: names.name(secretId),
    instance: names.name(instance),
    reason: wordOf(reasons, reason),
    at: reservedAt,
    until: until === 0 ? 0 : instant(reservedAt, until),
    streak: count(streak),
    fleetStreak: count(fleetStreak),
    ...(outcome === 0 ? {} : readOutcome(outcome, reservedAt)),
    ...restOfRow(cells, 13),
  };
}

const facts = ['charge', 'status', 'code', 'toldUntil', 'holdUntil', 'count'] as const;
const usualCharge = (kind: string) => (kind === 'issued' || kind === 'unknown' ? 1 : 0);

function writeOutcome(outcome: Outcome, { at, outcomeMore }: Attempt): unknown[] {
  const { kind, charge, more } = outcome;
  const own: Record<string, unknown> = { ...more };
  for (const fact of facts) own[fact] = outcome[fact];
  if (charge === usualCharge(kind)) own['charge'] = undefined;
  const hasFacts = Object.values(own).some((fact) => fact !== undefined);
  const cells = [shortKinds.get(kind) ?? kind, outcome.at - at, hasFacts ? own : 0];
  return outcomeMore ? [...cells, ...outcomeMore] : trimmed(cells);
}

function readOutcome(wire: unknown, reservedAt: number): Pick<Attempt, 'outcome' | 'outcomeMore'> {
  const cells = row(wire, 64);
  const [kind, after = 0, known] = cells;
  const { own, more } = rest(known || {}, facts);
  const word = wordOf(kinds, kind);
  const code = optional(own['code'], text);
  const at = count(reservedAt + signed(after));
  const outcome: Outcome = {
    kind: word,
    at,
    charge: count(own['charge'] ?? usualCharge(word)),
    status: optional(own['status'], count),
    // Another version of this package, or an attacker with access to the store, may have written any text.
    code: code !== undefined && word === 'refused' ? oauthErrorCode(code) : code,
    toldUntil: optional(own['toldUntil'], count),
    holdUntil: optional(own['holdUntil'], count),
    count: optional(own['count'], count),
    more,
  };
  return { outcome, ...(cells.length > 3 ? { outcomeMore: restOfRow(cells, 3).more } : {}) };
}

import { byGeneration } from './attempt.ts';
import type {
  Attempt,
  Bucket,
  DeclaredTerm,
  LedgerRecord,
  Order,
  Outcome,
  OutcomeKind,
  QuotaSaid,
  StoredToken,
  Unknown,
} from './journal.ts';
import { byInstant } from './orders.ts';

// Of two outcomes of one attempt the later one stands. A kind that this release does not know comes before `unknown`.
const ranks: Readonly<Record<OutcomeKind, number>> = { unsent: 1, unreached: 2, refused: 3, unknown: 5, issued: 6 };
const rankOf = (kind: string) => (Object.hasOwn(ranks, kind) ? ranks[kind as OutcomeKind] : 4);

/**
 * Unites two records of one client: what either of them knows. It does not matter which comes first, how often they are united, or in which order several are.
 * No token that counts in either counts less, unless the other one knows that it was not issued. What was reset stays reset. Which epoch the result has, and since when
 * it is complete, is for the repair to decide.
 */
export function merge(one: LedgerRecord, other: LedgerRecord): LedgerRecord {
  return {
    epoch: later(one.epoch, other.epoch),
    sequence: Math.max(one.sequence, other.sequence),
    terms: united(one.terms, other.terms, termName, laterTerm).sort(
      (a, b) => b.seenAt - a.seenAt || byName(termName)(a, b),
    ),
    completeSince: Math.max(one.completeSince, other.completeSince),
    highWaterAt: Math.max(one.highWaterAt, other.highWaterAt),
    era: Math.max(one.era, other.era),
    leaptMs: Math.max(one.leaptMs, other.leaptMs),
    attempts: united(one.attempts, other.attempts, ({ id }) => id, joinedAttempt).sort(byGeneration),
    folded: largest(one.folded, other.folded),
    buckets: united(one.buckets, other.buckets, bucketName, larger).sort(byName(bucketName)),
    orders: united(one.orders, other.orders, ({ id }) => id, joined<Order>).sort(byInstant),
    tokens: united(one.tokens, other.tokens, tokenName, laterToken).sort(byName(tokenName)),
    revoked: largest(one.revoked, other.revoked),
    quota: newerQuota(one.quota, other.quota),
    more: one.more && other.more ? joined<Unknown>(one.more, other.more) : (one.more ?? other.more),
  };
}

/** Unites two lists. Of parts with one name `join` makes one. */
function united<Part>(
  one: readonly Part[],
  other: readonly Part[],
  nameOf: (part: Part) => string,
  join: (one: Part, other: Part) => Part,
): Part[] {
  const parts = new Map(one.map((part) => [nameOf(part), part]));
  for (const part of other) {
    const present = parts.get(nameOf(part));
    parts.set(nameOf(part), present ? join(present, part) : part);
  }
  return [...parts.values()];
}

const byName =
  <Part>(nameOf: (part: Part) => string) =>
  (a: Part, b: Part) =>
    nameOf(a) < nameOf(b) ? -1 : 1;

const termName = ({ tokens, windowMs, reserve, counts }: DeclaredTerm) => `${tokens} ${windowMs} ${reserve} ${counts}`;
export const bucketName = ({ epoch, slot, unknown }: Bucket): string => `${epoch} ${slot} ${unknown}`;
const tokenName = ({ audience, keyId }: StoredToken) => JSON.stringify([audience, keyId]);

function laterTerm(one: DeclaredTerm, other: DeclaredTerm): DeclaredTerm {
  if (one.seenAt === other.seenAt) return joined(one, other);
  const more = later(one.more, other.more);
  return { ...(one.seenAt > other.seenAt ? one : other), ...(more && { more }) };
}

function larger(one: Bucket, other: Bucket): Bucket {
  const more = later(one.more, other.more);
  const refused = Math.max(one.refused ?? 0, other.refused ?? 0) || undefined;
  return { ...one, refused, count: Math.max(one.count, other.count), last: Math.max(one.last, other.last), more };
}

/** Returns what the provider said later. */
export function newerQuota(one: QuotaSaid | undefined, other: QuotaSaid | undefined): QuotaSaid | undefined {
  return one && other && one.at !== other.at ? (one.at > other.at ? one : other) : later(one, other);
}

/** Of two copies of one token, the life of one may have been measured. */
function laterToken(one: StoredToken, other: StoredToken): StoredToken {
  const differs = one.generation - other.generation || other.expiresAt - one.expiresAt;
  return differs === 0 ? joined(one, other) : differs > 0 ? one : other;
}

/** Joins what two records say of one attempt. */
export function joinedAttempt(one: Attempt, other: Attempt): Attempt {
  const outcome =
    one.outcome && other.outcome ? joinedOutcome(one.outcome, other.outcome) : (one.outcome ?? other.outcome);
  return { ...joined(one, other), outcome };
}

function joinedOutcome(one: Outcome, other: Outcome): Outcome {
  const differs = rankOf(one.kind) - rankOf(other.kind);
  const both = joined(one, other);
  if (one.kind === other.kind) return both;
  const higher = differs === 0 ? (one.kind > other.kind ? one : other) : differs > 0 ? one : other;
  const { at, charge, toldUntil, holdUntil } = both;
  return { ...higher, at, charge, toldUntil, holdUntil };
}

/** Joins two parts, member by member: the larger number, the later text, true rather than false. */
function joined<Part extends object>(one: Part, other: Part): Part {
  if (one === other) return one;
  const members = new Map<string, unknown>(Object.entries(one));
  for (const [name, value] of Object.entries(other)) {
    const present = members.get(name);
    if (value !== undefined) members.set(name, present === undefined ? value : later(present, value));
  }
  return Object.fromEntries(members) as Part;
}

/** Of two values the one that comes later in an order of all values. */
function later<Value>(one: Value, other: Value): Value {
  if (one === other) return one;
  if (one === undefined || other === undefined) return one ?? other;
  // Numbers, texts and truth values are compared as they are.
  const [a, b] =
    typeof one === typeof other && one !== Object(one) && one !== null
      ? [one, other]
      : [canonical(one), canonical(other)];
  return (a as number) >= (b as number) ? one : other;
}

/** The same text for equal values, in whatever order their members come. */
function canonical(value: unknown): string {
  if (value !== Object(value)) return JSON.stringify(value) ?? '';
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  const members = Object.entries(value as object).map(
    ([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`,
  );
  return `{${members.sort().join()}}`;
}

function largest(one: LedgerRecord['folded'], other: LedgerRecord['folded']): LedgerRecord['folded'] {
  const numbers: Record<string, number> = Object.assign(Object.create(null), one);
  for (const [name, number] of Object.entries(other)) numbers[name] = Math.max(number, numbers[name] ?? 0);
  return numbers;
}

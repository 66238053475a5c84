import { checksum } from './checksum.ts';
import type { Attempt, Bucket, DeclaredTerm, LedgerRecord, Order, Outcome, StoredToken } from './journal.ts';
import { oauthErrorCode } from './oauth-error.ts';
import {
  check,
  count,
  flag,
  type Names,
  namesOf,
  numbers,
  optional,
  parts,
  rest,
  restOfRow,
  row,
  signed,
  text,
  trimmed,
  uniqueBy,
  withoutToJson,
} from './wire.ts';

const header = 'service-auth/3 ';
const maxLength = 4_000_000;
const [maxAttempts, maxBuckets, maxTokens] = [12_000, 6_000, 10_000];

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

/** Writes a record as the text that a store keeps: form, checksum, JSON. */
export function encodeRecord(record: LedgerRecord): string {
  const names = namesOf([]);
  const { epoch, sequence, completeSince, highWaterAt, era, leaptMs, folded, revoked, more } = record;
  const wire = {
    ...more,
    epoch,
    sequence,
    completeSince,
    highWaterAt,
    era: era || undefined,
    leaptMs: leaptMs || undefined,
    terms: record.terms.map((term) => [
      term.tokens,
      term.windowMs,
      term.reserve,
      term.seenAt,
      names.index(term.by),
      ...(term.more ?? []),
    ]),
    attempts: record.attempts.map((attempt, index) =>
      writeAttempt(attempt, record.attempts[index - 1]?.at ?? 0, names),
    ),
    folded: Object.entries(folded).map(([name, to]) => [names.index(name), to]),
    buckets: record.buckets.map((b) => [
      names.index(b.epoch),
      b.slot,
      b.unknown ? 1 : 0,
      b.last,
      b.count,
      ...(b.more ?? []),
    ]),
    orders: record.orders.map(({ more: other, ...order }) => ({ ...other, ...order })),
    tokens: record.tokens.map((token) => writeToken(token, names)),
    revoked: Object.entries(revoked).map(([name, to]) => [names.index(name), to]),
    names: names.list,
  };
  const json = JSON.stringify('toJSON' in [] ? withoutToJson(wire) : wire);
  return `${header}${checksum(json)} ${json}`;
}

/** Reads a text of {@link encodeRecord} and checks every part of it. Returns why the text cannot be trusted, if it cannot. */
export function decodeRecord(text: string): LedgerRecord | 'damaged' | 'unknown version' {
  if (!text.startsWith(header)) return /^service-auth\/\d{1,6} /.test(text) ? 'unknown version' : 'damaged';
  const json = text.slice(header.length + 9);
  const sum = text.slice(header.length, header.length + 9);
  if (text.length > maxLength || sum !== `${checksum(json)} `) return 'damaged';
  try {
    return readRecord(JSON.parse(json));
  } catch {
    return 'damaged';
  }
}

const members = [
  ...['epoch', 'sequence', 'completeSince', 'highWaterAt', 'era', 'leaptMs', 'terms', 'attempts', 'folded'],
  ...['buckets', 'orders', 'tokens', 'revoked', 'names'],
];

function readRecord(wire: unknown): LedgerRecord {
  const { own, more } = rest(wire, members);
  const names = namesOf(row(own['names'], 60_000).map((name) => text(name)));
  return {
    epoch: text(own['epoch']),
    sequence: count(own['sequence']),
    completeSince: count(own['completeSince']),
    highWaterAt: count(own['highWaterAt']),
    era: count(own['era'] ?? 0),
    leaptMs: count(own['leaptMs'] ?? 0),
    terms: parts(own['terms'], 64, (wire) => readTerm(wire, names)),
    attempts: uniqueBy('id', readAttempts(own['attempts'], names)),
    folded: numbers(own['folded'], names),
    buckets: parts(own['buckets'], maxBuckets, (wire) => readBucket(wire, names)),
    orders: uniqueBy('id', parts(own['orders'], 1_000, readOrder)),
    tokens: parts(own['tokens'], maxTokens, (wire) => readToken(wire, names)),
    revoked: numbers(own['revoked'], names),
    more,
  };
}

function readTerm(wire: unknown, names: Names): DeclaredTerm {
  const cells = row(wire, 64);
  const [tokens, windowMs, reserve, seenAt, by] = cells;
  const term = { tokens: count(tokens), windowMs: count(windowMs), reserve: count(reserve), seenAt: count(seenAt) };
  check(term.reserve < term.tokens && term.windowMs > 0);
  return { ...term, by: names.name(by), ...restOfRow(cells, 5) };
}

/** Writes an attempt. Most instants are the distance from another one, which takes less room. */
function writeAttempt(attempt: Attempt, before: number, names: Names): unknown[] {
  const {
    id,
    at,
    generation,
    epoch,
    audience,
    keyId,
    instance,
    reason,
    until,
    streak,
    sinceToken,
    fleetStreak,
    secretId,
  } = attempt;
  const { inVain, fleetInVain, probed, unreadable } = attempt;
  const flags = (inVain ? 1 : 0) + (fleetInVain ? 2 : 0) + (probed ? 4 : 0) + (unreadable ? 8 : 0);
  const who = [epoch, audience, keyId, secretId, instance].map(names.index);
  const outcome = attempt.outcome ? writeOutcome(attempt.outcome, attempt) : 0;
  const cells = [id, at - before, generation - at, ...who, shortReasons.get(reason) ?? reason, outcome];
  const waited = [until && distance(until, at), streak, sinceToken, fleetStreak, flags, attempt.order ?? 0];
  return attempt.more ? [...cells, ...waited, ...attempt.more] : trimmed([...cells, ...waited]);
}

function instant(from: number, wire: unknown): number {
  const distance = signed(wire);
  return count(from + (distance > 0 ? distance - 1 : distance));
}

function readAttempts(wire: unknown, names: Names): Attempt[] {
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
  const [sinceToken = 0, fleetStreak = 0, flags = 0, order = 0] = cells.slice(12, 16);
  const reservedAt = count(before + signed(at));
  const bits = count(flags);
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
    sinceToken: count(sinceToken),
    fleetStreak: count(fleetStreak),
    inVain: bits & 1 ? true : undefined,
    fleetInVain: bits & 2 ? true : undefined,
    probed: bits & 4 ? true : undefined,
    unreadable: bits & 8 ? true : undefined,
    order: order === 0 ? undefined : text(order),
    ...(outcome === 0 ? {} : readOutcome(outcome, reservedAt)),
    ...restOfRow(cells, 16),
  };
}

const facts = ['charge', 'status', 'code', 'toldUntil', 'holdUntil', 'count', 'ofClient'] as const;
const chargeOf = (kind: string) => (kind === 'issued' || kind === 'unknown' ? 1 : 0);

function writeOutcome(outcome: Outcome, { at, outcomeMore }: Attempt): unknown[] {
  const { kind, hash, expiresAt, charge, more } = outcome;
  const own: Record<string, unknown> = { ...more };
  for (const fact of facts) own[fact] = outcome[fact];
  if (charge === chargeOf(kind)) own['charge'] = undefined;
  const hasFacts = Object.values(own).some((fact) => fact !== undefined);
  const token = [hash ?? 0, expiresAt === undefined ? 0 : distance(expiresAt, outcome.at)];
  const cells = [shortKinds.get(kind) ?? kind, outcome.at - at, ...token, hasFacts ? own : 0];
  return outcomeMore ? [...cells, ...outcomeMore] : trimmed(cells);
}

function readOutcome(wire: unknown, reservedAt: number): Pick<Attempt, 'outcome' | 'outcomeMore'> {
  const cells = row(wire, 64);
  const [kind, after = 0, hash = 0, lifeMs = 0] = cells;
  const { own, more } = rest(cells[4] || {}, facts);
  const word = wordOf(kinds, kind);
  const code = optional(own['code'], text);
  const at = count(reservedAt + signed(after));
  const outcome: Outcome = {
    kind: word,
    at,
    charge: count(own['charge'] ?? chargeOf(word)),
    status: optional(own['status'], count),
    // Another version of this package, or an attacker with access to the store, may have written any text.
    code: code !== undefined && word === 'refused' ? oauthErrorCode(code) : code,
    toldUntil: optional(own['toldUntil'], count),
    holdUntil: optional(own['holdUntil'], count),
    count: optional(own['count'], count),
    ofClient: optional(own['ofClient'], flag),
    hash: hash === 0 ? undefined : text(hash),
    expiresAt: lifeMs === 0 ? undefined : instant(at, lifeMs),
    more,
  };
  return { outcome, ...(cells.length > 5 ? { outcomeMore: restOfRow(cells, 5).more } : {}) };
}

function readBucket(wire: unknown, names: Names): Bucket {
  const cells = row(wire, 64);
  const [epoch, slot, unknown, last, number] = cells;
  check(unknown === 0 || unknown === 1);
  const counted = { slot: count(slot), unknown: unknown === 1, last: count(last), count: count(number) };
  return { epoch: names.name(epoch), ...counted, ...restOfRow(cells, 5) };
}

const orderMembers = ['id', 'at', 'kind', 'by', 'audience', 'reason', 'tokenId', 'tokens'];

function readOrder(wire: unknown): Order {
  const { own, more } = rest(wire, orderMembers);
  return {
    id: text(own['id']),
    at: count(own['at']),
    kind: text(own['kind'], 64),
    by: text(own['by']),
    audience: optional(own['audience'], text),
    reason: optional(own['reason'], text),
    tokenId: optional(own['tokenId'], text),
    tokens: optional(own['tokens'], count),
    more,
  };
}

function writeToken(
  { audience, keyId, id, generation, expiresAt, lifetimeMs, aheadMs, sealed, more }: StoredToken,
  names: Names,
): unknown[] {
  const who = [names.index(audience), names.index(keyId)];
  return [...who, id, generation, expiresAt, lifetimeMs, aheadMs, sealed, ...(more ?? [])];
}

function readToken(wire: unknown, names: Names): StoredToken {
  const cells = row(wire, 64);
  const [audience, keyId, id, generation, expiresAt, lifetimeMs, aheadMs, sealed] = cells;
  return {
    audience: names.name(audience),
    keyId: names.name(keyId),
    id: text(id),
    generation: count(generation),
    expiresAt: count(expiresAt),
    lifetimeMs: count(lifetimeMs),
    aheadMs: count(aheadMs),
    sealed: text(sealed),
    ...restOfRow(cells, 8),
  };
}

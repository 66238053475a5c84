import { readAttempts, writeAttempt } from './attempt-codec.ts';
import { checksum } from './checksum.ts';
import type { Bucket, DeclaredTerm, LedgerRecord, Order, Quota, QuotaSaid, StoredToken } from './journal.ts';
import {
  check,
  count,
  type Names,
  namesOf,
  numbers,
  optional,
  parts,
  rest,
  restOfRow,
  row,
  text,
  uniqueBy,
} from './wire.ts';

const header = 'service-auth/3 ';
const maxLength = 4_000_000;
const [maxBuckets, maxTokens, maxQuotas] = [6_000, 10_000, 64];

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
      term.counts === 'requests' ? 1 : 0,
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
      b.refused ?? 0,
      ...(b.more ?? []),
    ]),
    orders: record.orders.map(({ more: other, ...order }) => ({ ...other, ...order })),
    tokens: record.tokens.map((token) => writeToken(token, names)),
    revoked: Object.entries(revoked).map(([name, to]) => [names.index(name), to]),
    quota: record.quota,
    names: names.list,
  };
  const json = JSON.stringify(wire);
  return `${header}${checksum(json)} ${json}`;
}

/**
 * Reads a text of {@link encodeRecord} and checks every part of it. Returns why the text cannot be trusted, if it cannot. `isNew`: this process has just written it,
 * so its checksum is right.
 */
export function decodeRecord(text: string, isNew = false): LedgerRecord | 'damaged' | 'unknown version' {
  if (!text.startsWith(header)) return /^service-auth\/\d{1,6} /.test(text) ? 'unknown version' : 'damaged';
  const json = text.slice(header.length + 9);
  const sum = text.slice(header.length, header.length + 9);
  if (text.length > maxLength || (!isNew && sum !== `${checksum(json)} `)) return 'damaged';
  try {
    return readRecord(JSON.parse(json));
  } catch {
    return 'damaged';
  }
}

const members = [
  ...['epoch', 'sequence', 'completeSince', 'highWaterAt', 'era', 'leaptMs', 'terms', 'attempts', 'folded'],
  ...['buckets', 'orders', 'tokens', 'revoked', 'quota', 'names'],
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
    quota: optional(own['quota'], readQuota),
    more,
  };
}

function readTerm(wire: unknown, names: Names): DeclaredTerm {
  const cells = row(wire, 64);
  const [tokens, windowMs, reserve, seenAt, by, counted = 0] = cells;
  const term = { tokens: count(tokens), windowMs: count(windowMs), reserve: count(reserve), seenAt: count(seenAt) };
  check(term.reserve < term.tokens && term.windowMs > 0);
  check(counted === 0 || counted === 1);
  const counts = counted === 1 ? { counts: 'requests' as const } : {};
  return { ...term, ...counts, by: names.name(by), ...restOfRow(cells, 6) };
}

function readBucket(wire: unknown, names: Names): Bucket {
  const cells = row(wire, 64);
  const [epoch, slot, unknown, last, number, refused = 0] = cells;
  check(unknown === 0 || unknown === 1);
  const counted = { slot: count(slot), unknown: unknown === 1, last: count(last), count: count(number) };
  return { epoch: names.name(epoch), ...counted, refused: count(refused) || undefined, ...restOfRow(cells, 6) };
}

const orderMembers = ['id', 'at', 'kind', 'by', 'audience', 'reason', 'tokenId', 'tokens', 'generation'];

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
    generation: optional(own['generation'], count),
    more,
  };
}

function writeToken(token: StoredToken, names: Names): unknown[] {
  const { id, generation, expiresAt, lifetimeMs, aheadMs, sealed, hash, expiredBy, resetHash, more } = token;
  const who = [names.index(token.audience), names.index(token.keyId)];
  const hashes = [hash ?? 0, expiredBy ?? 0, resetHash ?? 0];
  return [...who, id, generation, expiresAt, lifetimeMs, aheadMs, sealed, ...hashes, ...(more ?? [])];
}

function readToken(wire: unknown, names: Names): StoredToken {
  const cells = row(wire, 64);
  const [audience, keyId, id, generation, expiresAt, lifetimeMs, aheadMs, sealed] = cells;
  const [hash, expiredBy, resetHash] = cells.slice(8, 11);
  return {
    audience: names.name(audience),
    keyId: names.name(keyId),
    id: text(id),
    generation: count(generation),
    expiresAt: count(expiresAt),
    lifetimeMs: count(lifetimeMs),
    aheadMs: count(aheadMs),
    sealed: text(sealed),
    hash: hash ? text(hash) : undefined,
    expiredBy: expiredBy ? count(expiredBy) : undefined,
    resetHash: resetHash ? text(resetHash) : undefined,
    ...restOfRow(cells, 11),
  };
}

function readQuota(wire: unknown): QuotaSaid {
  const { own } = rest(wire, ['askedAt', 'at', 'figures']);
  const figures = parts(own['figures'], maxQuotas, (figure) => {
    const numbers = row(figure, 64).map(count);
    check(numbers.length >= 4);
    return numbers as unknown as Quota;
  });
  return { askedAt: count(own['askedAt']), at: count(own['at']), figures };
}

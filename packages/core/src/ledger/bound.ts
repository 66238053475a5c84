import { encodeRecord } from './codec.ts';
import { type Limits, usualMaxBytes } from './limits.ts';
import { isOpen, type LedgerRecord, type StoredToken } from './record.ts';
import { hour, minute } from './units.ts';

// The tokens of one issuer differ little in size. The record keeps room for one as large as its largest, and at least this.
const leastTokenBytes = 2_000;

/** A record, and the text of it that a store keeps. */
export interface Encoded {
  readonly record: LedgerRecord;
  readonly text: string;
}

/** Returns whether a record still fits into the store when each request that is under way brings a token. */
export function hasRoom(whole: LedgerRecord, now: number, { maxBytes = usualMaxBytes }: Limits): boolean {
  // What gives way when the record is written needs no room.
  const record = withoutExpiredTokens(whole, now);
  const open = record.spent.filter((one) => isOpen(one, now)).length;
  return bytesOf(encodeRecord(record)) + open * tokenBytesOf(record) <= maxBytes;
}

/** Returns the instant from which a full record may have room again: a token has expired, or a request has ended. */
export function roomExpectedAt({ tokens, spent }: LedgerRecord, now: number): number {
  const ends = [...tokens.map(({ expiresAt }) => expiresAt), ...spent.map(({ until = 0 }) => until)];
  return Math.min(now + hour, Math.max(now + minute, Math.min(...ends.filter((at) => at > now))));
}

const steps = [withoutExpiredTokens, withoutLargestTokens];

/**
 * Encodes a record so that the store can keep it. If it is too large, the processes that have its
 * largest tokens keep them in their memories alone. Everything that counts stays.
 */
export function fitted(record: LedgerRecord, now: number, { maxBytes = usualMaxBytes }: Limits): Encoded {
  let encoded = { record, text: encodeRecord(record) };
  for (const shed of steps) {
    const excess = bytesOf(encoded.text) - maxBytes;
    if (excess <= 0) break;
    const smaller = shed(encoded.record, now, excess);
    encoded = { record: smaller, text: encodeRecord(smaller) };
  }
  return encoded;
}

function withoutExpiredTokens(record: LedgerRecord, now: number): LedgerRecord {
  return { ...record, tokens: record.tokens.filter(({ expiresAt }) => expiresAt > now) };
}

function withoutLargestTokens(record: LedgerRecord, _now: number, excess: number): LedgerRecord {
  const dropped = new Set<StoredToken>();
  let freed = 0;
  for (const token of [...record.tokens].sort((a, b) => b.sealed.length - a.sealed.length)) {
    if (freed >= excess) break;
    freed += token.sealed.length;
    dropped.add(token);
  }
  return { ...record, tokens: record.tokens.filter((token) => !dropped.has(token)) };
}

function tokenBytesOf({ tokens }: LedgerRecord): number {
  return tokens.reduce((most, { sealed }) => Math.max(most, sealed.length), leastTokenBytes);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

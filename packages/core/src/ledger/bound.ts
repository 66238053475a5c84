import { isOpen } from './attempt.ts';
import { encodeRecord } from './codec.ts';
import type { Attempt, LedgerRecord, StoredToken } from './journal.ts';
import { type Limits, usualMaxBytes } from './limits.ts';
import { countsRequests } from './terms.ts';

const minute = 60_000;
const hour = 60 * minute;

// The tokens of one issuer differ little in size. The record keeps room for one as large as its largest, and at least this.
const leastTokenBytes = 2_000;
// Above this size the estimate decides. To encode a large record for each audience that asks would take too long.
const exactBelow = 100_000;

/** A record, and the text of it that a store keeps. */
export interface Encoded {
  readonly record: LedgerRecord;
  readonly text: string;
}

/** The answer to whether a record has room for a token. `later`: it has when other requests have ended. */
export type Fit = 'fits' | 'later' | 'full';

/** Returns whether a record still fits into the store when each request that is under way brings a token. */
export function fitOf(whole: LedgerRecord, now: number, limits: Limits): Fit {
  const maxBytes = limits.maxBytes ?? usualMaxBytes;
  const open = whole.attempts.filter((attempt) => isOpen(attempt, now)).length;
  // Most records have room even for what would give way.
  if (estimateOf(whole) + open * tokenBytesOf(whole) <= maxBytes) return 'fits';
  const record = withoutRefusals(withoutExpiredTokens(whole, now), now);
  const tokenBytes = tokenBytesOf(record);
  if (isWithin(record, maxBytes - open * tokenBytes)) return 'fits';
  return open > 1 && isWithin(record, maxBytes - tokenBytes) ? 'later' : 'full';
}

/** Returns the instant from which a full record may have room again: one of its tokens has expired then. */
export function roomExpectedAt({ tokens }: LedgerRecord, now: number): number {
  const first = Math.min(...tokens.map(({ expiresAt }) => expiresAt).filter((expiresAt) => expiresAt > now));
  return Math.min(now + hour, Math.max(now + minute, first));
}

const steps = [withoutExpiredTokens, withoutRefusals, withoutLargestTokens];

/**
 * Encodes a record so that the store can keep it. If it is too large, the processes that have its largest tokens keep them in their memories alone.
 * Everything that counts stays.
 */
export function fitted(record: LedgerRecord, now: number, limits: Limits): Encoded {
  const maxBytes = limits.maxBytes ?? usualMaxBytes;
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

/** A refusal that says how long to wait stays, because it holds up all callers. */
function withoutRefusals(record: LedgerRecord, now: number): LedgerRecord {
  if (countsRequests(record.terms)) return record;
  const stays = ({ outcome }: Attempt) => outcome?.kind !== 'refused' || (outcome.toldUntil ?? 0) > now;
  return { ...record, attempts: record.attempts.filter(stays) };
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

function isWithin(record: LedgerRecord, bytes: number): boolean {
  const estimate = estimateOf(record);
  return estimate <= bytes || (estimate < exactBelow && bytesOf(encodeRecord(record)) <= bytes);
}

/** Estimates the bytes of a record. The estimate is somewhat too high, and it takes much less time than encoding. */
function estimateOf({ attempts, buckets, tokens, orders, terms, revoked, more }: LedgerRecord): number {
  const names = new Set([...terms.map(({ by }) => by), ...Object.keys(revoked)]);
  let bytes = 2_000 + 100 * terms.length + 45 * buckets.length + 2_200 * orders.length + 30 * names.size;
  for (const { id, instance, audience, keyId, secretId, epoch, outcome, more: end } of attempts) {
    for (const name of [instance, audience, keyId, secretId, epoch]) names.add(name);
    bytes +=
      90 +
      id.length +
      (outcome?.status ? 120 : 0) +
      (outcome?.quota ? 120 : 0) +
      (end ? 2 * JSON.stringify(end).length : 0);
  }
  for (const { id, audience, keyId, sealed } of tokens) {
    for (const name of [audience, keyId]) names.add(name);
    bytes += 140 + id.length + sealed.length;
  }
  return bytes + bytesOf([...names].join()) + 3 * names.size + (more ? 2 * JSON.stringify(more).length : 0);
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

// This uses the pure part of core, because 100,000 tokens would take minutes through a client.

import { encodeRecord } from '../../packages/core/src/ledger/codec.ts';
import { compact, hasRoom } from '../../packages/core/src/ledger/compact.ts';
import { withReservation } from '../../packages/core/src/ledger/decide.ts';
import { type Limits, limitsFor, withStatement } from '../../packages/core/src/ledger/limits.ts';
import { type LedgerRecord, newRecord, type Spent, type StoredToken } from '../../packages/core/src/ledger/record.ts';

const windowMs = 86_400_000;
const beganAt = 1_800_000_000_000;
const now = beganAt + windowMs;
const [id, keyId, hash] = ['i', 'k', 'h'].map((letter) => letter.repeat(12)) as [string, string, string];
/** The length of a token with 754 characters, encrypted: with a nonce and a tag, in base64. */
const sealedLength = 16 + Math.ceil(((754 + 16) * 4) / 3);
const nameOf = (index: number) => `https://api-${index}.example.com/`;
const instanceOf = (index: number) => `orders-6d5f7c9b8-${index % 50}`;

/** The record of fifty instances that got so many tokens within a day, for so many audiences in turn. */
function recordOf(tokens: number, names: number): { readonly record: LedgerRecord; readonly limits: Limits } {
  const limits = limitsFor([{ tokens: Math.max(150, 2 * tokens), windowMs }], 0, 'durable');
  const spent = Array.from({ length: tokens }, (_, index): Spent => {
    const at = beganAt + Math.floor((index * windowMs) / tokens);
    return {
      ...{ id: `${index}`.padStart(12, 'x'), at, generation: at + index, name: nameOf(index % names), keyId },
      ...{ instance: instanceOf(index), reason: 'cold', issuedAt: at + 1_000 },
    };
  });
  const stored = Array.from({ length: names }, (_, index): StoredToken => {
    const life = { expiresAt: now + windowMs, lifetimeMs: windowMs, expiredBy: now + windowMs };
    return { ...{ name: nameOf(index), keyId, id, generation: now }, ...life, hash, sealed: 'x'.repeat(sealedLength) };
  });
  const record = { ...newRecord(id, beganAt), sequence: 2 * tokens, spent, tokens: stored };
  return { record: compact({ record: withStatement({ record, now, limits }, instanceOf(0)), now, limits }), limits };
}

/** Bytes that a store keeps when this many tokens were issued within a day, by fifty instances, for so many audiences. */
export function recordSize(tokens: number, names = 1): number {
  return new TextEncoder().encode(encodeRecord(recordOf(tokens, names).record)).length;
}

/** The number of audiences whose tokens fit into so many bytes: the next one would be refused. */
export function audiencesThatFit(maxBytes: number): number {
  const fits = (names: number): boolean => {
    const { record, limits } = recordOf(names, names);
    const query = { name: nameOf(names), keyId, secretId: '', unusable: [], resetUpTo: 0, id, leaseMs: 60_000 };
    const next = withReservation(record, now, { ...query, instance: instanceOf(0), reason: 'cold' }, 'cold');
    return hasRoom({ record: next.record, now, limits: { ...limits, maxBytes } });
  };
  let [least, most] = [1, Math.ceil(maxBytes / sealedLength)];
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (fits(middle)) least = middle;
    else most = middle - 1;
  }
  // The last one that fits is requested by a record with all the others.
  return least + 1;
}

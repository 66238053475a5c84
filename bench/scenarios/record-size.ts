// This uses the pure part of core, because 100,000 tokens would take minutes through a client.
import { encodeRecord } from '../../packages/core/src/ledger/codec.ts';
import { compact } from '../../packages/core/src/ledger/compact.ts';
import { type Attempt, newRecord } from '../../packages/core/src/ledger/journal.ts';
import { limitsFor } from '../../packages/core/src/ledger/limits.ts';

const windowMs = 86_400_000;
const beganAt = 1_800_000_000_000;
const audience = 'https://api.example.com/';
const [epoch, keyId, secretId] = ['e', 'k', 's'].map((letter) => letter.repeat(12)) as [string, string, string];

/** Bytes that a store keeps when this many tokens were issued within a day, by fifty instances. */
export function recordSize(tokens: number): number {
  const attempts = Array.from({ length: tokens }, (_, index): Attempt => {
    const at = beganAt + Math.floor((index * windowMs) / tokens);
    return {
      ...{ id: `${index}`.padStart(12, 'x'), epoch, generation: at + index, at, until: at + 60_000 },
      ...{ audience, keyId, secretId, instance: `orders-6d5f7c9b8-${index % 50}`, reason: 'cold' },
      ...{ streak: 0, fleetStreak: 0 },
      outcome: { kind: 'issued', at: at + 1_000, charge: 1 },
    };
  });
  const now = beganAt + windowMs;
  const token = { id: 'x'.repeat(12), generation: now, expiresAt: now + windowMs, lifetimeMs: windowMs, aheadMs: 0 };
  const hashes = { hash: 'h'.repeat(12), expiredBy: now + windowMs };
  // The token of a usual length, sealed.
  const stored = [{ ...token, ...hashes, audience, keyId, sealed: 'x'.repeat(1_060) }];
  const record = { ...newRecord(epoch, beganAt), attempts, tokens: stored };
  return new TextEncoder().encode(encodeRecord(compact(record, now, limitsFor([{ tokens, windowMs }], 0, 'durable'))))
    .length;
}

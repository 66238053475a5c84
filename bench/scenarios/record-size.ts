// This uses the pure part of core, because 100,000 tokens would take minutes through a client.
import { encodeRecord } from '../../packages/core/src/ledger/codec.ts';
import { compact } from '../../packages/core/src/ledger/condense.ts';
import { limitsFor } from '../../packages/core/src/ledger/limits.ts';
import {
  audienceStateOf,
  type LedgerEntry,
  newRecord,
  withAudienceState,
} from '../../packages/core/src/ledger/record.ts';

const windowMs = 86_400_000;
const beganAt = 1_800_000_000_000;
const audience = 'https://api.example.com/';

/** Bytes that a store keeps when this many tokens were issued within a day, by fifty instances. */
export function recordSize(tokens: number): number {
  const entries = Array.from(
    { length: tokens },
    (_, index): LedgerEntry => ({
      id: `${index}`.padStart(12, 'x'),
      at: beganAt + Math.floor((index * windowMs) / tokens),
      pending: false,
      reason: 'cold',
      instance: `orders-6d5f7c9b8-${index % 50}`,
      audience,
    }),
  );
  const now = beganAt + windowMs;
  const token = { id: 'x'.repeat(12), generation: now, expiresAt: now + windowMs, lifetimeMs: windowMs };
  const empty = newRecord('x'.repeat(12), beganAt);
  // The token of a usual length, sealed.
  const slot = { ...audienceStateOf(empty, audience, 'x'.repeat(12)), token: { ...token, sealed: 'x'.repeat(1_060) } };
  const record = compact(
    { ...withAudienceState(empty, slot), entries },
    now,
    limitsFor([{ tokens, windowMs }], 0, 'durable'),
  );
  return new TextEncoder().encode(encodeRecord(record)).length;
}

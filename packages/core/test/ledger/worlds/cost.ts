/**
 * node packages/core/test/ledger/worlds/cost.ts    what a decision costs with 1,000 audiences
 */
import { decodeRecord, encodeRecord } from '../../../src/ledger/codec.ts';
import { compact } from '../../../src/ledger/compact.ts';
import { decide } from '../../../src/ledger/decide.ts';
import { type LedgerRecord, newRecord } from '../../../src/ledger/journal.ts';
import { limitsFor } from '../../../src/ledger/limits.ts';
import { settle } from '../../../src/ledger/settle.ts';
import { day, second } from './world.ts';

const [audiences = 1_000, rounds = 41] = process.argv.slice(2).map(Number);
const start = Date.UTC(2026, 0, 1);
const limits = { ...limitsFor([{ tokens: 4 * audiences, windowMs: day }], 0, 'durable'), maxBytes: 4_000_000 };
const query = (index: number) => ({
  audience: `https://api.example.com/${index}`,
  keyId: 'key-of-a-fleet',
  secretId: 'secret-of-it',
  instance: `orders-${index % 20}`,
  id: `${index}`.padStart(12, 'i'),
  reason: 'cold' as const,
  unusable: [],
  resetUpTo: 0,
  leaseMs: 40 * second,
});

let record = newRecord('epoch-------', start);
for (let index = 0; index < audiences; index++) {
  const now = start + index * second;
  const first = decide(record, now, query(index), limits);
  if (first.kind !== 'write') throw new Error(first.kind);
  const admitted = decide(first.record, now, query(index), limits);
  if (admitted.kind !== 'admitted') throw new Error(admitted.kind);
  const { audience, keyId, id, generation } = admitted.attempt;
  const life = { expiresAt: now + day, aheadMs: 0, lifetimeMs: day };
  const token = { audience, keyId, id, generation, ...life, sealed: 'x'.repeat(1_100) };
  const answer = { kind: 'issued', token, hash: `hash${id}` } as const;
  record = compact(settle(first.record, now, admitted.attempt, answer), now, limits);
}

const now = start + audiences * second;
const text = encodeRecord(record);
const written = decide(record, now, query(audiences), limits);
if (written.kind !== 'write') throw new Error(written.kind);
const steps: Readonly<Record<string, () => unknown>> = {
  decode: () => decodeRecord(text) as LedgerRecord,
  decide: () => decide(record, now, query(audiences), limits),
  compact: () => compact(written.record, now, limits),
  encode: () => encodeRecord(written.record),
};
console.log(`${audiences} audiences: ${text.length} bytes. Medians of ${rounds} in milliseconds:`);
for (const [name, step] of Object.entries(steps)) {
  const times = Array.from({ length: rounds + 5 }, () => {
    const from = performance.now();
    step();
    return performance.now() - from;
  }).slice(5);
  times.sort((a, b) => a - b);
  console.log(name.padEnd(8), (times[Math.floor(rounds / 2)] ?? 0).toFixed(2).padStart(7));
}

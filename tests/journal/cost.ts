/**
 * node --conditions=@service-auth/source tests/journal/cost.ts    what a decision costs with 1,000 audiences, beside the ledger of today, in one run
 */
import { decodeRecord as decodeToday, encodeRecord as encodeToday } from '../../packages/core/src/ledger/codec.ts';
import { compact as compactToday } from '../../packages/core/src/ledger/condense.ts';
import { decide as decideToday } from '../../packages/core/src/ledger/decide.ts';
import { newRecord as newToday } from '../../packages/core/src/ledger/record.ts';
import { settle as settleToday } from '../../packages/core/src/ledger/settle.ts';
import { decodeRecord, encodeRecord } from './src/codec.ts';
import { compact } from './src/compact.ts';
import { decide } from './src/decide.ts';
import { newRecord } from './src/journal.ts';
import { limitsFor } from './src/limits.ts';
import { settle } from './src/settle.ts';
import { day, second } from './worlds/world.ts';

const [audiences = 1_000, rounds = 41] = process.argv.slice(2).map(Number);
const start = Date.UTC(2026, 0, 1);
const limits = { ...limitsFor([{ tokens: 4 * audiences, windowMs: day }], 0, 'durable'), maxBytes: 4_000_000 };
const sealed = 'x'.repeat(1_100);
const lifetimeMs = day;
const query = (index: number) => ({
  ...{
    audience: `https://api.example.com/${index}`,
    keyId: 'key-of-a-fleet',
    secretId: 'secret-of-it',
    instance: `orders-${index % 20}`,
  },
  ...{
    id: `${index}`.padStart(12, 'i'),
    reason: 'cold' as const,
    unusable: [],
    resetUpTo: 0,
    unreadable: false,
    leaseMs: 40 * second,
  },
});

let record = newRecord('epoch-------', start);
let today = newToday('epoch-------', start);
for (let index = 0; index < audiences; index++) {
  const now = start + index * second;
  const asked = query(index);
  const first = decide(record, now, asked, limits);
  if (first.kind !== 'write') throw new Error(first.kind);
  const admitted = decide(first.record, now, asked, limits);
  if (admitted.kind !== 'admitted') throw new Error(admitted.kind);
  const { attempt } = admitted;
  const { audience, keyId, id, generation } = attempt;
  const token = { audience, keyId, id, generation, expiresAt: now + lifetimeMs, aheadMs: 0, lifetimeMs, sealed };
  record = compact(settle(first.record, now, attempt, { kind: 'issued', token, hash: `hash${id}` }), now, limits);

  const firstToday = decideToday(today, now, asked, limits);
  if (firstToday.kind !== 'write') throw new Error(firstToday.kind);
  const admittedToday = decideToday(firstToday.record, now, asked, limits);
  if (admittedToday.kind !== 'admitted') throw new Error(admittedToday.kind);
  const tokenToday = { id, generation: admittedToday.generation, expiresAt: now + lifetimeMs, lifetimeMs, sealed };
  const reservation = { entry: admittedToday.entry, keyId, secretId: asked.secretId };
  const outcome = { kind: 'issued', token: tokenToday, hash: `hash${id}` } as const;
  today = compactToday(settleToday(firstToday.record, now, reservation, outcome, limits), now, limits);
}

const now = start + audiences * second;
const next = query(audiences);
const [text, textToday] = [encodeRecord(record), encodeToday(today)];
const decoded = () => decodeRecord(text) as typeof record;
const decodedToday = () => decodeToday(textToday) as typeof today;
const written = decide(record, now, next, limits);
const writtenToday = decideToday(today, now, next, limits);
if (written.kind !== 'write' || writtenToday.kind !== 'write') throw new Error('no reservation');

const steps: Record<string, readonly [() => unknown, () => unknown]> = {
  decode: [decodedToday, decoded],
  decide: [() => decideToday(today, now, next, limits), () => decide(record, now, next, limits)],
  compact: [() => compactToday(writtenToday.record, now, limits), () => compact(written.record, now, limits)],
  encode: [() => encodeToday(writtenToday.record), () => encodeRecord(written.record)],
};
function timeOf(step: () => unknown): number {
  const from = performance.now();
  step();
  return performance.now() - from;
}
console.log(
  `${audiences} audiences: ${textToday.length} bytes today, ${text.length} as a journal. Medians of ${rounds} in milliseconds:`,
);
for (const [name, pair] of Object.entries(steps)) {
  const times: [number[], number[]] = [[], []];
  // Interleaved, so that both meet the same machine.
  for (let round = 0; round < rounds + 5; round++)
    for (const which of [0, 1] as const)
      if (round >= 5) times[which].push(timeOf(pair[which]));
      else pair[which]();
  const [a, b] = times.map((list) => list.sort((x, y) => x - y)[Math.floor(rounds / 2)] as number) as [number, number];
  console.log(
    `${name.padEnd(8)} today ${a.toFixed(2).padStart(7)}   journal ${b.toFixed(2).padStart(7)}   ${(b / a).toFixed(2)}`,
  );
}

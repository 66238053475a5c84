import { crc32 } from 'node:zlib';
import { encodeRecord } from '../../../../packages/core/src/ledger/codec.ts';
import { compact } from '../../../../packages/core/src/ledger/compact.ts';
import { decide, type Query } from '../../../../packages/core/src/ledger/decide.ts';
import { type Limits, limitsFor, withStatement } from '../../../../packages/core/src/ledger/limits.ts';
import { withCompromise, withRetry, withStated } from '../../../../packages/core/src/ledger/orders.ts';
import { present, type Remembered } from '../../../../packages/core/src/ledger/present.ts';
import {
  type IssuanceReason,
  type LedgerRecord,
  newRecord,
  type Spent,
} from '../../../../packages/core/src/ledger/record.ts';
import { type Answer, settle } from '../../../../packages/core/src/ledger/settle.ts';
import { day } from '../judge/units.ts';
import { createRandom, type Random } from '../random.ts';

export const limits: Limits = limitsFor([{ tokens: 12, windowMs: 86_400_000 }], undefined, 'durable');
export const begun = 1_780_000_000_000;

/** Draws the token that a process asks for. */
export function drawnQuery(random: Random): Query & { readonly reason: IssuanceReason } {
  return {
    name: random.pick(['orders', 'invoices', 'ähm 😀', '__proto__']),
    keyId: random.pick(['key 1', 'key 2']),
    secretId: 'secret',
    reason: random.pick(['cold', 'refresh', 'expired', 'rejected', 'reset']),
    unusable: [],
    resetUpTo: random.chance(0.2) ? begun + random.integer(-10 * 86_400_000, 86_400_000) : 0,
    id: `id ${random.integer(0, 2 ** 31)}`,
    instance: `process ${random.integer(1, 3)}`,
    leaseMs: 60_000,
  };
}

export function drawnAnswer(random: Random, { name, keyId, id, generation }: Spent, now: number): Answer {
  const life = { expiresAt: now + 3_600_000, lifetimeMs: 3_600_000 };
  const token = { name, keyId, id, generation, ...life, sealed: 'c2VhbGVk', hash: `hash ${random.integer(1, 9)}` };
  const answer = random.pick<Answer>([
    { kind: 'issued', token },
    { kind: 'ambiguous', status: 503, retryAfterMs: 60_000, reason: 'not_json' },
    { kind: 'released', cause: 'unreachable' },
    { kind: 'released', cause: 'misconfigured', status: 404 },
    { kind: 'released', cause: 'credentials', status: 401, oauthError: 'invalid_client' },
    { kind: 'released', cause: 'credentials', status: 403, oauthError: 'access_denied' },
    { kind: 'released', cause: 'rate_limited', status: 429, retryAfterMs: 1_000 },
    { kind: 'unsent' },
  ]);
  const figure = { windowMs: 86_400_000, tokens: 150, remaining: random.integer(0, 150), endsInMs: 3_600_000 };
  const quota = random.chance(0.3) ? [figure] : undefined;
  return { ...answer, secretId: 'secret', quota };
}

/** A record with a life behind it, as a store keeps it: the same seed, the same record. */
export function grownRecord(seed: number): {
  readonly record: LedgerRecord;
  readonly text: string;
  readonly now: number;
} {
  const random = createRandom(`record ${seed}`);
  let record = newRecord(`record ${seed}`, begun);
  let now = begun;
  for (let step = random.integer(0, 12); step > 0; step--) {
    now += Math.round(random.between(1, 4 * 3_600_000));
    const found = present(record, undefined, now, 'another').record;
    record = withStatement({ record: found, now, limits }, `process ${step % 3}`);
    record = { ...compact({ record, now, limits }), sequence: record.sequence + 1 };
    const query = drawnQuery(random);
    const { name, keyId, instance } = query;
    const order = { id: `order ${step}`, by: instance };
    if (random.chance(0.1)) record = withCompromise(record, now, { id: order.id, name, keyId, instance });
    if (random.chance(0.1)) record = withRetry(record, now, order);
    if (random.chance(0.1))
      record = withStated({ record, now, limits }, { ...order, reason: 'a count', tokens: 2 }) ?? record;
    const decision = decide({ record, now, limits }, query);
    if (decision.kind !== 'reserve') continue;
    record = decision.record;
    if (random.chance(0.2)) continue;
    record = settle(record, now + 500, decision.reserved, drawnAnswer(random, decision.reserved, now));
  }
  return { record, text: encodeRecord(record), now };
}

/** What a process remembers of a record that it saw some time ago. */
export function seenBefore(
  { record, now }: { readonly record: LedgerRecord; readonly now: number },
  random: Random,
): Remembered {
  const minElapsedMs = random.between(0, day);
  const { id, sequence, movedMs } = record;
  return { id, sequence, movedMs, record, now, minElapsedMs, maxElapsedMs: minElapsedMs + random.between(0, day) };
}

/** The text of a record with a checksum that fits (CRC-32 of the UTF-16 code units), written by somebody other than core. */
export function forged(json: string): string {
  return `service-auth/4 ${crc32(Buffer.from(json, 'utf16le')).toString(16).padStart(8, '0')} ${json}`;
}

export function jsonOf(text: string): string {
  return text.slice(text.indexOf('{'));
}

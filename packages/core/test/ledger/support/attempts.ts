import { decide, type Query } from '../../../src/ledger/decide.ts';
import { type Attempt, type LedgerRecord, newRecord, type Outcome } from '../../../src/ledger/journal.ts';
import { type Limits, limitsFor } from '../../../src/ledger/limits.ts';
import type { Seen } from '../../../src/ledger/repair.ts';
import { type Answer, settle } from '../../../src/ledger/settle.ts';
import { day, second } from '../../support/instants.ts';
import { noon } from './history.ts';

export const usual: Limits = limitsFor([{ tokens: 150, windowMs: day }], undefined, 'durable');

/** An attempt that brought a token at once, unless `fields` say otherwise. */
export function attemptAt(at: number, fields: Partial<Attempt> = {}): Attempt {
  const who = { audience: 'orders', keyId: 'key', secretId: 'secret', instance: 'process', reason: 'cold' };
  const outcome = { kind: 'issued', at, charge: 1 };
  const streak = { streak: 0, fleetStreak: 0 };
  return {
    id: `attempt ${at}`,
    epoch: 'epoch',
    generation: at,
    at,
    until: at + 40 * second,
    ...who,
    ...streak,
    outcome,
    ...fields,
  };
}

export function unknownAt(at: number, fields: Partial<Outcome> = {}): { outcome: Outcome } {
  return { outcome: { kind: 'unknown', at, charge: 1, ...fields } };
}

/** A record of an established fleet. */
export function recordWith(attempts: readonly Attempt[], fields: Partial<LedgerRecord> = {}): LedgerRecord {
  const sorted = [...attempts].sort((a, b) => a.generation - b.generation);
  return { ...newRecord('epoch', noon - 30 * day), sequence: 9, highWaterAt: noon, attempts: sorted, ...fields };
}

export function seenAt(record: LedgerRecord, now: number, elapsedMs = 0, maxElapsedMs: number = elapsedMs): Seen {
  const { epoch, sequence } = record;
  return { epoch, sequence, record, now, ledgerNow: Math.max(now, record.highWaterAt), elapsedMs, maxElapsedMs };
}

export function queryFor(fields: Partial<Query> = {}): Query {
  const who = { audience: 'orders', keyId: 'key', secretId: 'secret', instance: 'process' };
  return { ...who, reason: 'cold', unusable: [], resetUpTo: 0, id: 'asked', leaseMs: 40 * second, ...fields };
}

/** Reserves and settles an attempt, however long it has to wait. Returns the record, the attempt and the time of the outcome. */
export function tried(
  record: LedgerRecord,
  now: number,
  fields: Partial<Query>,
  answer: (attempt: Attempt, now: number) => Answer,
  limits: Limits = usual,
): { record: LedgerRecord; attempt: Attempt; now: number } {
  const query = queryFor(fields);
  let at = now;
  for (let decision = decide(record, at, query, limits); ; decision = decide(record, at, query, limits)) {
    if (decision.kind === 'deny') at = decision.denial.retryAt;
    else if (decision.kind === 'wait') at = decision.until;
    else if (decision.kind === 'write') {
      const admitted = decide(decision.record, at, query, limits);
      if (admitted.kind !== 'admitted') throw new Error(admitted.kind);
      const { attempt } = admitted;
      return {
        record: settle(decision.record, at + second, attempt, answer(attempt, at + second)),
        attempt,
        now: at + second,
      };
    } else throw new Error(decision.kind);
  }
}

export function issued({ audience, keyId, id, generation }: Attempt, now: number, lifetimeMs: number = day): Answer {
  const token = {
    audience,
    keyId,
    id,
    generation,
    expiresAt: now + lifetimeMs,
    aheadMs: 0,
    lifetimeMs,
    sealed: 'sealed',
    hash: `hash ${id}`,
  };
  return { kind: 'issued', token };
}

export const ambiguous = (): Answer => ({ kind: 'ambiguous', status: 500 });

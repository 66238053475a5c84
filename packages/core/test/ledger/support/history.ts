import { compact } from '../../../src/ledger/compact.ts';
import { decide } from '../../../src/ledger/decide.ts';
import { type Attempt, type LedgerRecord, newRecord } from '../../../src/ledger/journal.ts';
import { type Limits, limitsFor } from '../../../src/ledger/limits.ts';
import { withReset, withRetry, withSpentElsewhere } from '../../../src/ledger/orders.ts';
import { reconcile, type Seen } from '../../../src/ledger/repair.ts';
import { type Answer, settle } from '../../../src/ledger/settle.ts';
import { declare } from '../../../src/ledger/terms.ts';
import { tokenOf } from '../../../src/ledger/tokens.ts';
import { day, hour, minute, second } from '../../support/instants.ts';
import { randomOf } from '../../support/seeded-random.ts';

export const noon: number = Date.UTC(2026, 0, 1, 12);

/** An agreement that refuses nothing. */
export const wide: Limits = limitsFor([{ tokens: 4_000, windowMs: day }], 0, 'durable');

/** A record as it was stored at some moment. */
export interface Snapshot {
  readonly record: LedgerRecord;
  readonly now: number;
  /** The attempts of which this record knows, and which may have brought a token. */
  readonly spent: ReadonlySet<string>;
  /** Those of the whole history that brought none, as somebody knew in the end. */
  readonly free: ReadonlySet<string>;
}

export interface Course {
  readonly steps: number;
  /** False: nothing is ever compacted. */
  readonly compacts?: boolean;
  /** The store goes back now and then, and the clock makes steps. */
  readonly faults?: boolean;
}

/** Lets a fleet decide, settle, reset, order, compact and repair at random. The same seed gives the same history. */
export function historyOf(seed: number, { steps, compacts = true, faults = false }: Course): Snapshot[] {
  const random = randomOf(seed);
  const chance = (probability: number) => random() < probability;
  const below = (most: number) => Math.floor(random() * most);
  const audiences = 1 + below(5);
  let now = noon;
  let ids = 0;
  let record = declare(newRecord(`epoch-${seed}`, noon - 30 * day), now, wide, 'process-0');
  let spent: ReadonlySet<string> = new Set();
  const late: { attempt: Attempt; answer: Answer; at: number }[] = [];
  const free = new Set<string>();
  const snapshots: Snapshot[] = [{ record, now, spent, free }];
  const isDown = Array.from({ length: audiences }, () => false);

  const write = (next: LedgerRecord) => {
    const compacted = compacts ? compact(next, now, wide) : next;
    record = { ...compacted, sequence: record.sequence + 1 };
    snapshots.push({ record, now, spent, free });
  };
  const seenOf = (snapshot: Snapshot, elapsedMs: number): Seen => {
    const { epoch, sequence } = snapshot.record;
    return {
      epoch,
      sequence,
      record: snapshot.record,
      now: snapshot.now,
      ledgerNow: snapshot.now,
      elapsedMs,
      maxElapsedMs: elapsedMs,
    };
  };
  const answered = (attempt: Attempt, answer: Answer) => {
    const isFree = answer.kind === 'released' || answer.kind === 'unsent';
    if (isFree) free.add(attempt.id);
    write(settle(record, now, attempt, answer));
  };

  for (let step = 0; step < steps; step++) {
    now += Math.floor(random() ** 3 * 40 * minute) + second;
    for (const due of late.splice(0).sort((a, b) => a.at - b.at)) {
      if (due.at <= now) answered(due.attempt, due.answer);
      else late.push(due);
    }
    const audience = `audience-${below(audiences)}`;
    if (chance(0.02)) isDown[below(audiences)] = chance(0.5);
    const who = {
      audience,
      keyId: chance(0.9) ? 'key' : 'other key',
      secretId: chance(0.9) ? 'secret' : 'other secret',
      instance: `process-${below(5)}`,
    };
    if (chance(0.02)) {
      write(withReset(record, now, { id: `reset-${seed}-${step}`, ...who }));
      continue;
    }
    if (chance(0.02)) write(withRetry(record, now, { id: `retry-${seed}-${step}`, by: who.instance }));
    if (chance(0.005)) {
      const said = { id: `spent-${seed}-${step}`, by: 'provider', reason: 'a count', tokens: 3 + below(20) };
      write(withSpentElsewhere(record, now, said, wide) ?? record);
    }
    if (faults && chance(0.01)) {
      const byMs = chance(0.5) ? -below(5 * hour) : below(30 * hour);
      const before = { record, now, spent, free };
      now = Math.max(noon, now + byMs);
      record = reconcile(record, seenOf(before, 0), now, `epoch-${seed}-${step}`, wide).record;
      write(record);
    }
    if (faults && snapshots.length > 3 && chance(0.01)) {
      // The store goes back. Who repairs it has seen some of what was lost.
      const to = snapshots.length - 1 - below(Math.min(60, snapshots.length - 1));
      const older = snapshots[to] as Snapshot;
      const memory = snapshots[to + below(snapshots.length - to)] as Snapshot;
      if (
        older.record.epoch === record.epoch &&
        older.record.era === record.era &&
        older.record.leaptMs === record.leaptMs &&
        memory.record.epoch === record.epoch
      ) {
        const elapsedMs = Math.max(0, now - memory.now);
        record = reconcile(older.record, seenOf(memory, elapsedMs), now, `epoch-${seed}-${step}`, wide).record;
        if (memory.record.sequence > older.record.sequence) {
          spent = new Set([...older.spent, ...memory.spent]);
          late.length = 0;
          write(record);
        } else record = (snapshots.at(-1) as Snapshot).record;
      }
    }
    const query = { ...who, id: `attempt-${seed}-${++ids}`, leaseMs: 40 * second, resetUpTo: 0 };
    const unusable = chance(0.7) ? record.tokens.map(({ id }) => id) : [];
    const cached = tokenOf(record, audience, who.keyId);
    const reason = chance(0.15) ? 'rejected' : chance(0.3) && cached ? 'refresh' : 'cold';
    const asked = { ...query, unusable, reason, cached: reason === 'refresh' ? cached : undefined } as const;
    const first = decide(record, now, asked, wide);
    if (first.kind === 'deny') now = Math.max(now, Math.min(first.denial.retryAt, now + 20 * minute));
    if (first.kind !== 'write') continue;
    spent = new Set([...spent, query.id]);
    write(first.record);
    const second_ = decide(record, now, asked, wide);
    if (second_.kind !== 'admitted') continue;
    const { attempt } = second_;
    if (chance(0.06)) continue;
    now += below(3 * second);
    const answer = answerTo(attempt, now, isDown[Number(audience.slice(9))] === true, random);
    if (chance(0.1)) late.push({ attempt, answer, at: now + below(8 * minute) });
    else answered(attempt, answer);
  }
  return snapshots;
}

function answerTo(attempt: Attempt, now: number, isDown: boolean, random: () => number): Answer {
  const dice = isDown ? 0.7 + random() * 0.3 : random();
  if (dice < 0.8) {
    const { audience, keyId, id, generation } = attempt;
    const lifetimeMs = random() < 0.2 ? 5 * minute : day;
    const token = {
      audience,
      keyId,
      id,
      generation,
      expiresAt: now + lifetimeMs,
      aheadMs: 0,
      lifetimeMs,
      sealed: 'sealed',
      hash: random() < 0.8 ? `hash-${id}` : undefined,
    };
    return { kind: 'issued', token };
  }
  if (dice < 0.88)
    return {
      kind: 'ambiguous',
      status: 500,
      retryAfterMs: random() < 0.2 ? minute : undefined,
    };
  if (dice < 0.93) return { kind: 'released', cause: 'unreachable' };
  if (dice < 0.95) return { kind: 'released', cause: 'credentials', status: random() < 0.5 ? 401 : 403 };
  if (dice < 0.97) return { kind: 'released', cause: 'rate_limited', status: 429, retryAfterMs: minute };
  return { kind: 'unsent' };
}

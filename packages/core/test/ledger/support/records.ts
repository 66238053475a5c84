import fc from 'fast-check';
import { countOf } from '../../../src/ledger/count.ts';
import { decide, type Query } from '../../../src/ledger/decide.ts';
import {
  type Limits,
  limitsFor,
  type Situation,
  type StoreDurability,
  type TermLimits,
  termLimits,
} from '../../../src/ledger/limits.ts';
import { present, type Remembered } from '../../../src/ledger/present.ts';
import {
  type LedgerRecord,
  newRecord,
  type Spent,
  type StatedTerm,
  type StoredToken,
  type Term,
} from '../../../src/ledger/record.ts';
import { type Answer, settle } from '../../../src/ledger/settle.ts';
import { day, noon, second } from '../../support/instants.ts';

/** The seed of all properties: another one with `SEED=…`. */
export const seed: number = Number(process.env['SEED'] ?? 20_260_101);
fc.configureGlobal({ seed });

/** The limits of an agreement with one window. */
export function oneWindow(
  tokens: number,
  windowMs: number = day,
  reserve?: number,
  durability: StoreDurability = 'durable',
): Limits {
  return limitsFor([{ tokens, windowMs }], reserve, durability);
}

export const usual: Limits = oneWindow(150);

/** A record at an instant, for a process with these limits. */
export function situationOf(record: LedgerRecord, now: number = noon, limits: Limits = usual): Situation {
  return { record, now, limits };
}

/** The numbers of the first term. */
export function termOf({ terms: [term], durability }: Limits): TermLimits {
  if (!term) throw new Error('there is no term');
  return termLimits(term, durability);
}

/** A term as another process stated it. */
export function statedBy(by: string, term: Term, seenAt: number): StatedTerm {
  return { ...term, seenAt, by };
}

/** A request that brought a token at once. */
export function issuedAt(at: number, fields: Partial<Spent> = {}): Spent {
  const who = { name: 'orders', keyId: 'key', instance: 'process', reason: 'cold' } as const;
  return { id: `request ${at}`, at, generation: at, ...who, issuedAt: at, ...fields };
}

/** A request of which nobody knows what came of it. */
export function unknownAt(at: number, fields: Partial<Spent> = {}): Spent {
  return issuedAt(at, { issuedAt: undefined, ...fields });
}

/** A request that is under way. */
export function openAt(at: number, fields: Partial<Spent> = {}): Spent {
  return unknownAt(at, { until: at + 40 * second, ...fields });
}

/** A request that was refused at once. */
export function refusedAt(at: number, fields: Partial<Spent> = {}): Spent {
  return unknownAt(at, { refusedAt: at, ...fields });
}

/** So many parts, one for each index. */
export function several<Part>(count: number, partAt: (index: number) => Part): Part[] {
  return Array.from({ length: count }, (_, index) => partAt(index));
}

/** A record of an established fleet. */
export function recordWith(spent: readonly Spent[], fields: Partial<LedgerRecord> = {}): LedgerRecord {
  const sorted = [...spent].sort((a, b) => a.generation - b.generation);
  const generation = Math.max(noon, sorted.at(-1)?.generation ?? 0);
  return { ...newRecord('record', noon - 30 * day), sequence: 9, latestAt: noon, generation, spent: sorted, ...fields };
}

/** A token that was issued at noon, and lives for a day. */
export function tokenWith(fields: Partial<StoredToken> = {}): StoredToken {
  const who = { name: 'orders', keyId: 'key', id: 'token', generation: noon };
  return { ...who, expiresAt: noon + day, lifetimeMs: day, sealed: 'sealed', hash: 'hash', ...fields };
}

/** What a process remembers that looked at the record then. */
export function seenAt(
  record: LedgerRecord,
  now: number,
  minElapsedMs = 0,
  maxElapsedMs: number = minElapsedMs,
): Remembered {
  const { id, sequence, movedMs } = record;
  return { id, sequence, movedMs, record, now, minElapsedMs, maxElapsedMs };
}

export function queryFor(fields: Partial<Query> = {}): Query {
  const who = { name: 'orders', keyId: 'key', secretId: 'secret', instance: 'process' };
  return { ...who, reason: 'cold', unusable: [], resetUpTo: 0, id: 'asked', leaseMs: 40 * second, ...fields };
}

/** A record after a request, the request, and when its outcome was known. */
export interface Tried {
  readonly record: LedgerRecord;
  readonly reserved: Spent;
  readonly now: number;
}

/** Reserves and settles a request, however long it has to wait. */
export function tried(
  record: LedgerRecord,
  from: number,
  fields: Partial<Query>,
  answer: (reserved: Spent, now: number) => Answer,
  limits: Limits = usual,
): Tried {
  let at = from;
  for (;;) {
    const { record: whole } = present(record, undefined, at, 'another record');
    const decision = decide(situationOf(whole, at, limits), queryFor(fields));
    if (decision.kind === 'deny') at = decision.denial.retryAt;
    else if (decision.kind === 'wait') at = decision.until;
    else if (decision.kind === 'reserve') {
      const { reserved } = decision;
      const now = at + second;
      return { record: settle(decision.record, now, reserved, answer(reserved, now)), reserved, now };
    } else throw new Error(decision.kind);
  }
}

/** The answer with the token of a request. */
export function issued({ name, keyId, id, generation }: Spent, now: number, lifetimeMs: number = day): Answer {
  const hash = `hash ${id}`;
  const token = { name, keyId, id, generation, expiresAt: now + lifetimeMs, lifetimeMs, sealed: 'sealed', hash };
  return { kind: 'issued', token, secretId: 'secret' };
}

export const ambiguous = (): Answer => ({ kind: 'ambiguous', status: 500 });
export const unreachable = (): Answer => ({ kind: 'released', cause: 'unreachable' });

/** The answer of an endpoint that refuses a request. */
export function refused(status: number, fields: object = {}): () => Answer {
  const cause = status === 429 ? 'rate_limited' : status === 404 ? 'misconfigured' : 'credentials';
  return () => ({ kind: 'released', cause, status, secretId: 'secret', ...fields });
}

/** Returns how many tokens count in the first term. */
export function used({ spent }: LedgerRecord, now: number, limits: Limits): number {
  return countOf(spent, termOf(limits), now);
}

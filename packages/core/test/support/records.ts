import fc from 'fast-check';
import { admission } from '../../src/ledger/admission.ts';
import type { Query } from '../../src/ledger/decide.ts';
import { type Limits, limitsFor, type StoreDurability, type TermLimits, termLimits } from '../../src/ledger/limits.ts';
import type {
  AudienceState,
  DeclaredTerm,
  Failures,
  LedgerEntry,
  LedgerRecord,
  StoredToken,
  Term,
} from '../../src/ledger/record.ts';
import { newRecord } from '../../src/ledger/record.ts';
import { day, minute, noon } from './instants.ts';

/** The seed of all properties: another one with `SEED=…`. fast-check prints it with every failure. */
export const seed: number = Number(process.env['SEED'] ?? 20_260_101);
fc.configureGlobal({ seed });

/** The agreement of the service's interface, with a store that keeps what it acknowledged. */
export const usualLimits: Limits = oneWindow(150);

/** The numbers that follow from it. */
export const usualTerm: TermLimits = termOf(usualLimits);

/** The limits of an agreement with one window. */
export function oneWindow(
  tokens: number,
  windowMs: number = day,
  reserve?: number,
  durability: StoreDurability = 'durable',
): Limits {
  return limitsFor([{ tokens, windowMs }], reserve, durability);
}

/** The numbers of the first term. */
export function termOf({ terms: [term], durability }: Limits): TermLimits {
  if (!term) throw new Error('there is no term');
  return termLimits(term, durability);
}

/** A term as another process declared it. */
export function declaredBy(by: string, term: Term, seenAt: number): DeclaredTerm {
  return { ...term, seenAt, by };
}

/** Returns the count of the first term. */
export function spentIn(
  record: LedgerRecord,
  now: number = noon,
  limits: Limits = usualLimits,
): { used: number; pending: number } {
  const { used = 0, pending = 0 } = admission(record, now, limits, 'reset')[0] ?? {};
  return { used, pending };
}

let ids = 0;

export function entryAt(at: number, fields: Partial<LedgerEntry> = {}): LedgerEntry {
  ids += 1;
  return { id: `entry-${ids}`, at, pending: false, reason: 'cold', instance: 'process', audience: 'orders', ...fields };
}

export function entriesAt(at: number, count: number, fields: Partial<LedgerEntry> = {}): LedgerEntry[] {
  return Array.from({ length: count }, () => entryAt(at, fields));
}

export function tokenAt(generation: number, expiresAt: number, fields: Partial<StoredToken> = {}): StoredToken {
  return { id: `token-${generation}`, generation, expiresAt, lifetimeMs: day, sealed: 'sealed', ...fields };
}

export function audienceWith(fields: Partial<AudienceState> = {}): AudienceState {
  const empty = { revoked: 0, renewAfter: 0, unreadableUntil: 0 };
  return { audience: 'orders', keyId: 'key', ...empty, ...fields };
}

export function failuresWith(fields: Partial<Failures> = {}): Failures {
  const last = { failedAt: noon, audience: 'orders', shared: false };
  return { count: 1, retryAt: noon + minute, ambiguous: true, ...last, ...fields };
}

/** A record of an established fleet, born long before noon. */
export function recordWith(fields: Partial<LedgerRecord> = {}): LedgerRecord {
  return { ...newRecord('epoch', noon - 30 * day), sequence: 9, highWaterAt: noon, ...fields };
}

export function queryFor(fields: Partial<Query> = {}): Query {
  const who = { audience: 'orders', keyId: 'key', secretId: 'secret', instance: 'process' };
  const what = {
    reason: 'cold',
    unusable: [],
    resetUpTo: 0,
    unreadable: false,
    id: 'asked',
    leaseMs: minute,
  } as const;
  return { ...who, ...what, ...fields };
}

import fc from 'fast-check';
import type { Ask } from '../../src/ledger/decide.ts';
import { type Limits, limitsFor } from '../../src/ledger/limits.ts';
import type { AudienceState, LedgerEntry, LedgerRecord, StoredToken } from '../../src/ledger/record.ts';
import { newRecord } from '../../src/ledger/record.ts';

/** The seed of all properties: another one with `SEED=…`. fast-check prints it with every failure. */
export const seed: number = Number(process.env['SEED'] ?? 20_260_101);
fc.configureGlobal({ seed });

export const second = 1_000;
export const minute: number = 60 * second;
export const hour: number = 60 * minute;
export const day: number = 24 * hour;

/** The instant at which most tests of the ledger happen. */
export const noon: number = Date.UTC(2026, 0, 1, 12);

/** The agreement of the service's interface, with a store that keeps what it acknowledged. */
export const usualLimits: Limits = limitsFor(150, day, undefined, 'durable');

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

/** A record of an established fleet, born long before noon. */
export function recordWith(fields: Partial<LedgerRecord> = {}): LedgerRecord {
  return { ...newRecord('epoch', noon - 30 * day), sequence: 9, highWaterAt: noon, ...fields };
}

export function askFor(fields: Partial<Ask> = {}): Ask {
  const who = { audience: 'orders', keyId: 'key', secretId: 'secret', instance: 'process' };
  const what = {
    reason: 'cold',
    unusable: [],
    revoked: 0,
    unreadable: false,
    mayIssue: true,
    id: 'asked',
    leaseMs: minute,
  } as const;
  return { ...who, ...what, ...fields };
}

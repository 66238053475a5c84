import { encodeRecord } from './codec.ts';
import { type Limits, usualMaxBytes } from './limits.ts';
import type { AudienceState, CredentialsBackoff, LedgerRecord, StoredToken } from './record.ts';

const minute = 60_000;
const hour = 60 * minute;

// The tokens of one issuer differ little in size. The record keeps room for one as large as its largest, and at least this.
const leastTokenBytes = 2_000;
// Above this size the estimate decides. To encode a large record for each audience that asks would take too long.
const exactBelow = 100_000;

/** A record, and the text of it that a store keeps. */
export interface Encoded {
  readonly record: LedgerRecord;
  readonly text: string;
}

/** The answer to whether a record has room for a token. `later`: it has when other requests have ended. */
export type Fit = 'fits' | 'later' | 'full';

/** Returns whether a record still fits into the store when each request that is under way brings a token. */
export function fitOf(whole: LedgerRecord, now: number, limits: Limits): Fit {
  const maxBytes = limits.maxBytes ?? usualMaxBytes;
  const leases = whole.audiences.filter(({ lease }) => lease && lease.until > now).length;
  // Most records have room even for what would give way.
  if (estimateOf(whole) + leases * tokenBytesOf(whole) <= maxBytes) return 'fits';
  const record = withoutRefusals(withoutFingerprints(withoutExpiredTokens(whole, now)));
  const tokenBytes = tokenBytesOf(record);
  if (isWithin(record, maxBytes - leases * tokenBytes)) return 'fits';
  return leases > 1 && isWithin(record, maxBytes - tokenBytes) ? 'later' : 'full';
}

/** Returns the instant from which a full record may have room again: one of its tokens has expired then. */
export function roomExpectedAt(record: LedgerRecord, now: number): number {
  const ends = record.audiences.flatMap(({ token }) => (token && token.expiresAt > now ? [token.expiresAt] : []));
  return Math.min(now + hour, Math.max(now + minute, ...ends.sort((a, b) => a - b).slice(0, 1)));
}

// A record without a token makes a request necessary, and one without a fingerprint does not. So fingerprints go first.
const steps = [withoutExpiredTokens, withoutEmptyStates, withoutRefusals, withoutFingerprints, withoutLargestTokens];

/**
 * Encodes a record so that the store can keep it. If it is too large, the processes that have its largest tokens keep them in their memories alone.
 * Everything that counts stays.
 */
export function fitted(record: LedgerRecord, now: number, limits: Limits): Encoded {
  const maxBytes = limits.maxBytes ?? usualMaxBytes;
  let encoded = { record, text: encodeRecord(record) };
  for (const shed of steps) {
    const excess = bytesOf(encoded.text) - maxBytes;
    if (excess <= 0) break;
    const smaller = shed(encoded.record, now, excess);
    encoded = { record: smaller, text: encodeRecord(smaller) };
  }
  return encoded;
}

function withoutExpiredTokens(record: LedgerRecord, now: number): LedgerRecord {
  return without(record, ({ token }) => token !== undefined && token.expiresAt <= now);
}

const nothing = { token: undefined, fingerprints: undefined };

/** Returns the record without the tokens of some audiences. The fingerprints of older tokens have expired with the token, or went before it. */
function without(record: LedgerRecord, isDropped: (state: AudienceState) => boolean): LedgerRecord {
  const audiences = record.audiences.map((state) => (isDropped(state) ? { ...state, ...nothing } : state));
  return { ...record, audiences };
}

function withoutFingerprints(record: LedgerRecord): LedgerRecord {
  return { ...record, audiences: record.audiences.map((state) => ({ ...state, fingerprints: undefined })) };
}

function withoutEmptyStates(record: LedgerRecord): LedgerRecord {
  const hasAny = ({ token, lease, credentialsBackoff, revoked }: AudienceState) =>
    token ?? lease ?? credentialsBackoff ?? revoked > 0;
  return { ...record, audiences: record.audiences.filter(hasAny) };
}

function withoutRefusals(record: LedgerRecord): LedgerRecord {
  return { ...record, audiences: record.audiences.filter((state) => !isRefusal(state)) };
}

/** A state that says nothing but that the credentials were rejected for its audience. */
type RefusalState = AudienceState & { readonly credentialsBackoff: CredentialsBackoff };

export function isRefusal(state: AudienceState): state is RefusalState {
  const { credentialsBackoff, token, lease, revoked } = state;
  return credentialsBackoff !== undefined && !token && !lease && revoked === 0;
}

function withoutLargestTokens(record: LedgerRecord, _now: number, excess: number): LedgerRecord {
  const tokens = record.audiences.flatMap(({ token }) => (token ? [token] : []));
  const dropped = new Set<StoredToken>();
  let freed = 0;
  for (const token of tokens.sort((a, b) => b.sealed.length - a.sealed.length)) {
    if (freed >= excess) break;
    freed += token.sealed.length;
    dropped.add(token);
  }
  return without(record, ({ token }) => token !== undefined && dropped.has(token));
}

function tokenBytesOf({ audiences }: LedgerRecord): number {
  return audiences.reduce((most, { token }) => Math.max(most, token?.sealed.length ?? 0), leastTokenBytes);
}

function isWithin(record: LedgerRecord, bytes: number): boolean {
  const estimate = estimateOf(record);
  return estimate <= bytes || (estimate < exactBelow && bytesOf(encodeRecord(record)) <= bytes);
}

/** Estimates the bytes of a record. The estimate is somewhat too high, and it takes much less time than encoding. */
function estimateOf({ entries, condensed, audiences, resets, terms, spentElsewhere }: LedgerRecord): number {
  const names = new Set(terms.map(({ by }) => by));
  for (const { instance, audience } of entries) names.add(instance).add(audience);
  for (const { audience } of audiences) names.add(audience);
  const states = audiences.reduce((sum, state) => sum + stateBytes(state), 0);
  const reasons = resets.length + (spentElsewhere ? 1 : 0);
  const parts = 100 * terms.length + 2_000 * reasons + 40 * condensed.length + 100 * entries.length;
  return 2_000 + parts + states + bytesOf([...names].join()) + 3 * names.size;
}

/** Returns the bytes of an audience state without its name, or some more. */
function stateBytes({ keyId, token, lease, credentialsBackoff, fingerprints = [] }: AudienceState): number {
  const tokenBytes = token ? 140 + token.id.length + token.sealed.length : 0;
  const { secretId = '', instance = '' } = credentialsBackoff ?? {};
  const refusalBytes = credentialsBackoff ? 200 + secretId.length + 2 * instance.length : 0;
  return 150 + 90 * fingerprints.length + keyId.length + tokenBytes + (lease ? 90 + lease.id.length : 0) + refusalBytes;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

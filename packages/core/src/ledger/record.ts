import type { OAuthErrorCode } from './oauth-error.ts';

/** A record lists this many entries one by one at most. */
export const maxDetailedEntries = 3_000;

/** A lease lasts this long at most: sending a request, its longest `timeoutMs`, and settling. */
export const maxLeaseMs = 330_000;

/** A token that states a longer lifetime counts as one of this lifetime. */
export const maxLifetimeMs: number = 31 * 86_400_000;

/**
 * Why a token was issued. `cold`: no token was known. `refresh`: the token before will expire soon. `expired`: it had expired. `rejected`: the API
 * answered 401 to it. `reset`: it was compromised.
 */
export type IssuanceReason = 'cold' | 'refresh' | 'expired' | 'rejected' | 'reset';

/** A token that was issued, or may have been. */
export interface LedgerEntry {
  readonly id: string;
  /** When the token was reserved or, later, when it was settled. Epoch milliseconds of the store's clock. */
  readonly at: number;
  /** True: the outcome is unknown. Such an entry counts as a token, and counts for longer than a settled one. */
  readonly pending: boolean;
  readonly reason: IssuanceReason;
  readonly instance: string;
  readonly audience: string;
}

/** The end of the id of an entry whose token was issued to a probe. */
export const probeMark = '?';

/** Returns whether probes cost nothing: as far as the record knows, the endpoint issued no token to one. */
export function mayProbe({ entries }: LedgerRecord): boolean {
  return !entries.some(({ id }) => id.endsWith(probeMark));
}

/** A bucket that counts older entries. `at` is the latest instant of all of them, so none of them stops counting too early. */
export interface Condensed {
  readonly at: number;
  readonly pending: boolean;
  readonly count: number;
}

/** A token as the store keeps it: encrypted. */
export interface StoredToken {
  readonly id: string;
  /** Orders the tokens of an audience, under all keys: a later token has a higher generation. It is at least the instant of the reservation. */
  readonly generation: number;
  /** Epoch milliseconds of the store's clock. */
  readonly expiresAt: number;
  /** The store's clock was found to have been ahead by this much when the token was sealed. The seal contains `expiresAt + aheadMs`. */
  readonly aheadMs?: number | undefined;
  readonly lifetimeMs: number;
  readonly sealed: string;
}

/** A hash of a token, by which core recognises an answer that repeats it. The token cannot be computed from it. It stays until the next token arrives after `until`. */
export interface Fingerprint {
  readonly hash: string;
  readonly generation: number;
  /** The token has expired by then. */
  readonly until: number;
}

/** The state of one audience that the processes with one sealing key share. */
export interface AudienceState {
  readonly audience: string;
  readonly keyId: string;
  /** Tokens up to this generation were reset. */
  readonly revoked: number;
  readonly token?: StoredToken | undefined;
  /** The reservation of the process that requests a token now. The others wait for it. The budget stays safe without it. */
  readonly lease?: { readonly id: string; readonly generation: number; readonly until: number } | undefined;
  /** No renewal ahead of expiry begins before this instant, because the last one brought no later expiry. */
  readonly renewAfter: number;
  /** A token that cannot be opened is not replaced before this instant, because one was replaced shortly before. */
  readonly unreadableUntil: number;
  readonly credentialsBackoff?: CredentialsBackoff | undefined;
  /** The newest tokens, at most 20. Undefined: there are none. */
  readonly fingerprints?: readonly Fingerprint[] | undefined;
}

/** A number of failures in a row. No request is sent before `retryAt`. */
export interface Backoff {
  readonly count: number;
  readonly retryAt: number;
}

/**
 * The token endpoint rejected the credentials, or answered that it has nothing at this address. No token was issued, so it concerns this audience alone.
 * If it rejected the credentials, another client secret is not affected.
 */
export interface CredentialsBackoff extends Backoff {
  readonly secretId: string;
  readonly status: number;
  readonly oauthError?: OAuthErrorCode | undefined;
  /** The process that was refused last, and when it asked. */
  readonly instance?: string | undefined;
  readonly failedAt?: number | undefined;
}

/** The token endpoint failed. */
export interface Failures extends Backoff {
  /** When the last request failed. */
  readonly failedAt: number;
  /** The audience that failed last, or the one that had failed alone before that. */
  readonly audience: string;
  /** True: the back-off is that of all audiences. False: of this one alone, because nothing shows that the others would fail, too. */
  readonly shared: boolean;
  /** The endpoint said that it is unavailable until then. This holds for all audiences. */
  readonly toldUntil?: number | undefined;
  /** An instant before `retryAt`. From then on a request is sent if the endpoint answers a probe, which has no credentials and cannot cost a token. */
  readonly probeAt?: number | undefined;
  readonly ambiguous: boolean;
  readonly status?: number | undefined;
  /** Why a 2xx answer had no usable token. Undefined: there was no such answer. */
  readonly reason?: string | undefined;
}

/** Processes in a row that died during a token request: their leases ended and they settled nothing. */
export interface Deaths extends Backoff {
  /** All leases that ended before this instant are counted. */
  readonly countedUntil: number;
}

/** One window of the agreement with the operator. These three numbers are its identity. */
export interface Term {
  readonly tokens: number;
  readonly windowMs: number;
  /** The tokens of this window that no process may request. */
  readonly reserve: number;
}

/** A process reported that the tokens of an audience were compromised. */
export interface ResetEntry {
  readonly id: string;
  readonly at: number;
  readonly audience: string;
  /** The token that was in use. Undefined: none was. */
  readonly tokenId?: string | undefined;
  readonly instance: string;
  /** The words of the person who reported it. */
  readonly reason?: string | undefined;
}

/** Somebody told the fleet to try again, although there are holds. The next such order has an effect from `retryAt`. */
export interface Retry extends Backoff {
  /** Until then the next request is sent in spite of the holds. */
  readonly openUntil: number;
  /** The id of the request that was sent in spite of the holds. */
  readonly id?: string | undefined;
}

/** A window of the agreement, as a process declared it. */
export interface DeclaredTerm extends Term {
  /** When a process declared it last. */
  readonly seenAt: number;
  /** The `instance` of that process. */
  readonly by: string;
}

/** Somebody said at `at` that this record has not seen some tokens: at most `count` in the window before. They count from then on. */
export interface SpentElsewhere extends Pick<Condensed, 'at' | 'count'> {
  readonly instance: string;
  readonly reason: string;
}

/** A record lists at most this many resets. */
export const maxResets = 20;

/** A record keeps at most this many fingerprints of an audience. They take less room than a token. */
export const maxFingerprints = 20;

/** Everything that a fleet shares about one client. A write replaces the whole record. All instants are of the store's clock. */
export interface LedgerRecord {
  /** Identifies the record. A record that begins anew gets a new epoch. */
  readonly epoch: string;
  /** Grows by one with every swap. */
  readonly sequence: number;
  /** The agreement: every term that a process declared recently. A process enforces its own terms, and those of others. */
  readonly terms: readonly DeclaredTerm[];
  /** The record knows every token that was issued at this instant or later. Earlier ones may be unknown: the record was lost, or what it counted was dropped. */
  readonly completeSince: number;
  /** The latest instant that the store's clock has shown. It starts again when that clock is set back. */
  readonly highWaterAt: number;
  /** The newest entries, one by one. The oldest comes first. Some of them may have left all terms. */
  readonly entries: readonly LedgerEntry[];
  readonly condensed: readonly Condensed[];
  readonly audiences: readonly AudienceState[];
  readonly failures?: Failures | undefined;
  /** The token endpoint answered 429. */
  readonly rateLimit?: Backoff | undefined;
  readonly deaths: Deaths;
  /** The newest resets, at most 20. The oldest comes first. */
  readonly resets: readonly ResetEntry[];
  readonly retry?: Retry | undefined;
  readonly spentElsewhere?: SpentElsewhere | undefined;
}

/** Creates an empty record. */
export function newRecord(epoch: string, now: number): LedgerRecord {
  return {
    epoch,
    sequence: 0,
    terms: [],
    completeSince: now,
    highWaterAt: now,
    entries: [],
    condensed: [],
    audiences: [],
    failures: undefined,
    rateLimit: undefined,
    deaths: { count: 0, retryAt: 0, countedUntil: now },
    resets: [],
    retry: undefined,
    spentElsewhere: undefined,
  };
}

/** Returns the states of an audience under all sealing keys. */
export function audienceStatesOf(record: LedgerRecord, audience: string): readonly AudienceState[] {
  return record.audiences.filter((state) => state.audience === audience);
}

/** Returns the state of an audience under one key, or an empty state. Tokens that were reset under any key of the audience are left out. */
export function audienceStateOf(record: LedgerRecord, audience: string, keyId: string): AudienceState {
  const audiences = audienceStatesOf(record, audience);
  const state = audiences.find((state) => state.keyId === keyId);
  const revoked = Math.max(0, ...audiences.map((state) => state.revoked));
  const later = <Part extends { generation: number }>(part: Part | undefined) =>
    part && part.generation > revoked ? part : undefined;
  return {
    audience,
    keyId,
    renewAfter: 0,
    unreadableUntil: 0,
    credentialsBackoff: undefined,
    ...state,
    revoked,
    token: later(state?.token),
    lease: later(state?.lease),
  };
}

/** Returns the record with one audience state replaced. */
export function withAudienceState(record: LedgerRecord, state: AudienceState): LedgerRecord {
  const others = record.audiences.filter((other) => other.audience !== state.audience || other.keyId !== state.keyId);
  return { ...record, audiences: [...others, state] };
}

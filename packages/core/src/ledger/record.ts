import type { OAuthErrorCode } from './oauth-error.ts';

/** How many entries a record keeps in detail; older ones are added up. */
export const maxDetailedEntries = 150;

/** The longest that a token is believed to live. */
export const maxLifetimeMs: number = 7 * 86_400_000;

/** Why a token was issued. `cold`: none was known; `refresh`: ahead of expiry; `expired`; `rejected`: the API answered 401; `reset`. */
export type IssuanceReason = 'cold' | 'refresh' | 'expired' | 'rejected' | 'reset';

/** A token that was issued, or may have been. */
export interface LedgerEntry {
  readonly id: string;
  /** Reserved at, then settled at, by the store's clock. */
  readonly at: number;
  /** The outcome is unknown: counted as issued, and for longer. */
  readonly pending: boolean;
  readonly reason: IssuanceReason;
  readonly instance: string;
  readonly audience: string;
}

/** Older entries added up. `at` is the latest of theirs, so that none leaves too early. */
export interface Condensed {
  readonly at: number;
  readonly pending: boolean;
  readonly count: number;
}

/** A token at rest. */
export interface StoredToken {
  readonly id: string;
  /** When it was reserved, or more after a clock that was ahead: later tokens of the audience have a higher one, whatever slot they are in. */
  readonly generation: number;
  /** By the store's clock. */
  readonly expiresAt: number;
  /** By how much the store's clock turned out to have been ahead when the token was sealed: the seal names `expiresAt + aheadMs`. */
  readonly aheadMs?: number | undefined;
  readonly lifetimeMs: number;
  readonly sealed: string;
}

/** What is shared about one audience by the processes that hold the same sealing key. */
export interface AudienceState {
  readonly audience: string;
  readonly keyId: string;
  /** Tokens up to this generation were reset. */
  readonly revoked: number;
  readonly token?: StoredToken | undefined;
  /** Who is asking for a token now; the others wait. Never needed for safety. */
  readonly lease?: { readonly id: string; readonly generation: number; readonly until: number } | undefined;
  /** No renewal ahead of expiry before this: the last one brought no later expiry. */
  readonly renewAfter: number;
  /** A token that could not be opened is replaced once; not again before this. */
  readonly unreadableUntil: number;
  readonly credentialsBackoff?: CredentialsBackoff | undefined;
}

/** Failures in a row, and until when nobody asks. */
export interface Backoff {
  readonly count: number;
  readonly retryAt: number;
}

/** The token endpoint refused these credentials; forgotten at once when the secret changes. */
export interface CredentialsBackoff extends Backoff {
  readonly secretId: string;
  readonly status: number;
  readonly oauthError?: OAuthErrorCode | undefined;
}

/** The token endpoint failed; the whole fleet holds off. */
export interface Failures extends Backoff {
  /** Earlier than `retryAt`, where that spares the budget: a request is sent if a probe, which has no credentials and costs nothing, is answered. */
  readonly probeAt?: number | undefined;
  readonly ambiguous: boolean;
  readonly status?: number | undefined;
  /** Set when the answer was a 2xx without a usable token. */
  readonly reason?: string | undefined;
}

/** Processes in a row that died while they asked for a token: their leases ended and no outcome was entered. */
export interface Deaths extends Backoff {
  /** Leases that ended up to this instant have been counted. */
  readonly countedUntil: number;
}

/** All that a fleet shares about one client: one small record, replaced as a whole. Instants are the store's. */
export interface LedgerRecord {
  /** Changes whenever the record had to begin anew. */
  readonly epoch: string;
  /** Grows with every swap. */
  readonly sequence: number;
  readonly bornAt: number;
  /** The latest instant seen since the store's clock was last set back. */
  readonly highWaterAt: number;
  /** The newest 150, oldest first. */
  readonly entries: readonly LedgerEntry[];
  readonly condensed: readonly Condensed[];
  readonly audiences: readonly AudienceState[];
  readonly failures?: Failures | undefined;
  /** The token endpoint answered 429. */
  readonly rateLimit?: Backoff | undefined;
  /** Renewals caused by API 401s. */
  readonly rejections: Backoff;
  readonly deaths: Deaths;
}

/** A record with nothing in it. */
export function newRecord(epoch: string, now: number): LedgerRecord {
  return {
    epoch,
    sequence: 0,
    bornAt: now,
    highWaterAt: now,
    entries: [],
    condensed: [],
    audiences: [],
    failures: undefined,
    rateLimit: undefined,
    rejections: { count: 0, retryAt: 0 },
    deaths: { count: 0, retryAt: 0, countedUntil: now },
  };
}

/** What the holders of all keys share about an audience. */
export function audienceStatesOf(record: LedgerRecord, audience: string): readonly AudienceState[] {
  return record.audiences.filter((state) => state.audience === audience);
}

/** The slot of an audience and key, an empty one if there is none. What was reset under any key of the audience is no longer in it. */
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

/** The record with one slot replaced. */
export function withAudienceState(record: LedgerRecord, state: AudienceState): LedgerRecord {
  const others = record.audiences.filter((other) => other.audience !== state.audience || other.keyId !== state.keyId);
  return { ...record, audiences: [...others, state] };
}

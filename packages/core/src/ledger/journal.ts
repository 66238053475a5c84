/** A token that states a longer lifetime counts as one of this lifetime. */
export const maxLifetimeMs: number = 31 * 86_400_000;

/**
 * Why a token was requested. `cold`: no token was known. `refresh`: the token before will expire soon. `expired`: it had expired. `rejected`: the API
 * answered 401 to it. `reset`: it was compromised.
 */
export type IssuanceReason = 'cold' | 'refresh' | 'expired' | 'rejected' | 'reset';

/**
 * What came of an attempt. `unsent`: no request was sent. `unreached`: it never reached the endpoint. `refused`: the endpoint said no. `unknown`: a token
 * may have been issued. `issued`: one was. A later release may write other kinds. They count by their charge.
 */
export type OutcomeKind = 'unsent' | 'unreached' | 'refused' | 'unknown' | 'issued';

/** Members of the stored text that this release does not know. They are written back. */
export type Unknown = Readonly<Record<string, unknown>>;

/**
 * What the provider counted in one of its windows, as an answer of its endpoint said: the length of the window, its tokens, those of them that remain, and
 * how long after the count the window ends. A later release may add numbers.
 */
export type Quota = readonly [windowMs: number, tokens: number, remaining: number, endsInMs: number, ...more: number[]];

/** What an answer said that the provider counts. */
export interface QuotaSaid {
  /** When the token request was reserved, and when its outcome was known. The provider counted in between. */
  readonly askedAt: number;
  readonly at: number;
  readonly figures: readonly Quota[];
}

export interface Outcome {
  readonly kind: OutcomeKind | (string & {});
  /** When it was known. Epoch milliseconds of the store's clock, like all instants of a record. */
  readonly at: number;
  /** So many tokens count. */
  readonly charge: number;
  readonly status?: number | undefined;
  /** Of `refused`: the `error` code. Of `unknown`: why an answer had no usable token. */
  readonly code?: string | undefined;
  /** The endpoint said that nobody should ask before. */
  readonly toldUntil?: number | undefined;
  /** Of `refused`: the same credentials are not sent before. Of `issued`: no renewal ahead of expiry begins before, because this one brought no later expiry. */
  readonly holdUntil?: number | undefined;
  /** The number of refusals in a row. */
  readonly count?: number | undefined;
  readonly more?: Unknown | undefined;
}

/** Somebody tried to get a token. */
export interface Attempt {
  /** Never used again. */
  readonly id: string;
  /** The epoch of the record in which it was reserved. */
  readonly epoch: string;
  /** Orders all attempts of a record, whatever its clock says. The token of an attempt has its generation, and a reset names one. */
  readonly generation: number;
  readonly audience: string;
  readonly keyId: string;
  readonly secretId: string;
  readonly instance: string;
  readonly reason: IssuanceReason | (string & {});
  /** When it was reserved. */
  readonly at: number;
  /** The others wait for its outcome until then. */
  readonly until: number;
  /** Before it, its audience had failed so often in a row. */
  readonly streak: number;
  /** Before it, so many requests in a row had an unknown outcome, of whatever audience. */
  readonly fleetStreak: number;
  /** Undefined: it is under way, or its process is gone. */
  readonly outcome?: Outcome | undefined;
  /** The ends of the stored rows of the attempt and of its outcome that this release does not know. */
  readonly more?: readonly unknown[] | undefined;
  readonly outcomeMore?: readonly unknown[] | undefined;
}

/** Older attempts of one epoch, that were reserved within one span of a quarter of an hour. */
export interface Bucket {
  readonly epoch: string;
  readonly slot: number;
  /** False: what came of all of them is known. */
  readonly unknown: boolean;
  /** The latest instant from which one of them counts. So none of them stops counting too early. */
  readonly last: number;
  /** The tokens. */
  readonly count: number;
  /** The requests beside those for these tokens: refused ones. Undefined: none. */
  readonly refused?: number | undefined;
  readonly more?: readonly unknown[] | undefined;
}

/**
 * What somebody ordered. `retry`: all pauses end. `reset`: the tokens of an audience are compromised. `spent`: so many tokens were
 * issued that the record has not seen. An order of another kind, of a later release, binds nobody.
 */
export interface Order {
  readonly id: string;
  readonly at: number;
  readonly kind: 'retry' | 'reset' | 'spent' | (string & {});
  /** The `instance` of the process. */
  readonly by: string;
  readonly audience?: string | undefined;
  readonly reason?: string | undefined;
  readonly tokenId?: string | undefined;
  readonly tokens?: number | undefined;
  /** Of `retry`: the latest generation of the record. An attempt of a later one failed after the order. */
  readonly generation?: number | undefined;
  readonly more?: Unknown | undefined;
}

/** A token as the store keeps it: encrypted. */
export interface StoredToken {
  readonly audience: string;
  readonly keyId: string;
  readonly id: string;
  readonly generation: number;
  readonly expiresAt: number;
  /** The store's clock was found to have been ahead by this much when the token was sealed. The seal contains `expiresAt + aheadMs`. */
  readonly aheadMs: number;
  readonly lifetimeMs: number;
  readonly sealed: string;
  /** A hash of the token, by which an answer that repeats it is recognised. The token cannot be computed from it. */
  readonly hash?: string | undefined;
  /** The token has expired by then. `expiresAt` is earlier, because it counts from before the request. */
  readonly expiredBy?: number | undefined;
  /** The hash of the last reset token of the same audience and key. */
  readonly resetHash?: string | undefined;
  readonly more?: readonly unknown[] | undefined;
}

/** One window of the agreement with the provider. These members are its identity. */
export interface Term {
  readonly tokens: number;
  readonly windowMs: number;
  /** The tokens of this window that no process may request. */
  readonly reserve: number;
  /** Every request counts that reached the endpoint. Undefined: only tokens do. */
  readonly counts?: 'requests' | undefined;
}

/** A window of the agreement, as a process declared it. */
export interface DeclaredTerm extends Term {
  /** When a process declared it last. */
  readonly seenAt: number;
  /** The `instance` of that process. */
  readonly by: string;
  readonly more?: readonly unknown[] | undefined;
}

/** Everything that a fleet shares about one client. A write replaces the whole record. */
export interface LedgerRecord {
  /** Identifies the record. A record that begins anew gets a new epoch. */
  readonly epoch: string;
  /** Grows by one with every swap. */
  readonly sequence: number;
  /** The agreement: every term that a process declared recently. */
  readonly terms: readonly DeclaredTerm[];
  /** The record knows every token that was issued at this instant or later. */
  readonly completeSince: number;
  /** The latest instant that the store's clock has shown. It starts again when that clock is set back. */
  readonly highWaterAt: number;
  /** The number of times that it started again. */
  readonly era: number;
  /** The sum of all leaps forward by which the instants of the record were moved. */
  readonly leaptMs: number;
  /** In order of their generation. */
  readonly attempts: readonly Attempt[];
  /** Of each epoch the generation up to which its attempts are in buckets. Such an attempt is a note: it does not count. */
  readonly folded: Readonly<Record<string, number>>;
  readonly buckets: readonly Bucket[];
  readonly orders: readonly Order[];
  readonly tokens: readonly StoredToken[];
  /** Of each audience the generation up to which its tokens were reset. */
  readonly revoked: Readonly<Record<string, number>>;
  /** What the provider said last. It is advice: it counts nothing and holds up nobody. */
  readonly quota?: QuotaSaid | undefined;
  readonly more?: Unknown | undefined;
}

/** Creates an empty record. */
export function newRecord(epoch: string, now: number): LedgerRecord {
  const clock = { completeSince: now, highWaterAt: now, era: 0, leaptMs: 0 };
  const empty = { terms: [], attempts: [], buckets: [], orders: [], tokens: [] };
  return { epoch, sequence: 0, ...clock, ...empty, folded: nothing, revoked: nothing };
}

/** An object without a prototype, so that no name is found that nobody wrote. */
const nothing: Readonly<Record<string, number>> = Object.freeze(Object.create(null));

/** Returns the names and numbers with one more of them, if it is larger than the present one. */
export function raised(numbers: Readonly<Record<string, number>>, name: string, to: number): Record<string, number> {
  return Object.assign(Object.create(null), numbers, { [name]: Math.max(numbers[name] ?? 0, to) });
}

/**
 * Returns the latest generation that the record knows, `now` at least: a store that went back to an older record must not give the same generation
 * twice, or a reset of the lost token would end the new one.
 */
export function latestGeneration({ attempts, tokens, folded, revoked }: LedgerRecord, now: number): number {
  let latest = now;
  for (const { generation } of attempts) latest = Math.max(latest, generation);
  for (const { generation } of tokens) latest = Math.max(latest, generation);
  return Math.max(latest, ...Object.values(folded), ...Object.values(revoked));
}

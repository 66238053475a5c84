import { day, minute } from './units.ts';

/** A token that states a longer lifetime counts as one of this lifetime, in milliseconds. */
export const maxLifetimeMs: number = 31 * day;

/**
 * Why a token was requested. `cold`: no token was known. `refresh`: the last token will expire
 * soon. `expired`: the last token had expired. `rejected`: the API answered 401 to it. `reset`: it
 * was compromised.
 */
export type IssuanceReason = 'cold' | 'refresh' | 'expired' | 'rejected' | 'reset';

/**
 * A token request that counts: a token was issued, may have been issued, or the request is under
 * way. A request that certainly brought no token leaves the list, unless the provider counts
 * requests. All instants of a record are epoch milliseconds of the store's clock.
 */
export interface Spent {
  /** Never used again. The token has the same id. */
  readonly id: string;
  /** The instant of the reservation. */
  readonly at: number;
  /**
   * Orders all requests of a record, whatever its clock says. The token has the same generation.
   */
  readonly generation: number;
  /** The token that was asked for: audience, scope, resource and parameters. */
  readonly name: string;
  readonly keyId: string;
  readonly instance: string;
  /**
   * `several`: a sum of older requests. Those of the reason `rejected` have sums of their own,
   * which keep that reason. `stated`: tokens that the record has not seen.
   */
  readonly reason: IssuanceReason | 'several' | 'stated';
  /**
   * True if it replaces a token that died: the API had accepted that token, and answered 401 later.
   */
  readonly died?: true | undefined;
  /** True if a window that is not enforced would have refused it. */
  readonly overLimit?: true | undefined;
  /** The request is under way: other processes wait for its outcome until then. */
  readonly until?: number | undefined;
  /** When the token arrived. Without this, `refusedAt` and `until`, the outcome is unknown. */
  readonly issuedAt?: number | undefined;
  /**
   * When the endpoint refused it. Such a request counts only where the provider counts requests.
   */
  readonly refusedAt?: number | undefined;
  /** The number of tokens, or of refused requests, of a sum or a statement. */
  readonly tokens?: number | undefined;
}

/** Events in a row, such as failures. */
export interface Streak {
  readonly count: number;
  /** When the last event was known. The pause counts from then. */
  readonly at: number;
  /** If a process died, the pause counts from its reservation. This is when its death was known. */
  readonly knownAt?: number | undefined;
}

/**
 * The outcome of a request, for people and for the errors of other processes. It chooses their
 * words. Only of a death does it decide when the pause begins.
 */
export interface Hint {
  /**
   * `unreached`: the request never reached the endpoint. `unknown`: a token may have been issued.
   * `died`: its process is gone. `refused`: the endpoint said no.
   */
  readonly kind: 'unreached' | 'unknown' | 'died' | 'refused';
  readonly status?: number | undefined;
  /** Why an answer had no usable token, or the `error` of an authorization server. */
  readonly code?: string | undefined;
}

/**
 * Failures in a row. A request failed if it did not reach the endpoint, or if it is unknown whether
 * it brought a token.
 */
export type Failures = Streak & Hint;

/** An answer said that no request should be sent before `until`. */
export type Later = Hint & { readonly until: number; readonly at: number };

/** Refusals in a row. `name`, `keyId` and `instance` are of the request that was refused last. */
export interface Refusal extends Streak {
  readonly status: number;
  readonly code?: string | undefined;
  readonly name: string;
  readonly keyId: string;
  readonly instance: string;
}

export type Refusals = Readonly<Record<string, Refusal>>;

/** The state of one token: what its holds follow from, and its resets. */
export interface TokenState {
  readonly failures?: Failures | undefined;
  /** By secret. A refusal that is not about the secret has the name `*`. */
  readonly refusals?: Refusals | undefined;
  /** Renewals after a 401 of the API. */
  readonly rejections?: Streak | undefined;
  /** Tokens up to this generation were reset. */
  readonly resetUpTo?: number | undefined;
  /** The hash of the last token that was reset. */
  readonly resetHash?: string | undefined;
}

/** A token as the store keeps it: encrypted. */
export interface StoredToken {
  readonly name: string;
  readonly keyId: string;
  readonly id: string;
  readonly generation: number;
  readonly expiresAt: number;
  readonly lifetimeMs: number;
  readonly sealed: string;
  /** An answer that repeats the token is recognised by it. The token can't be computed from it. */
  readonly hash?: string | undefined;
  /**
   * The token has expired by then. `expiresAt` is earlier, because it counts from before the
   * request.
   */
  readonly expiredBy?: number | undefined;
  /** A renewal brought no later expiry, so none ahead of time begins before this instant. */
  readonly renewAfter?: number | undefined;
}

/**
 * One window of the agreement with the provider. These members are its identity: what people alone
 * read belongs to {@link StatedTerm}.
 */
export interface Term {
  readonly tokens: number;
  readonly windowMs: number;
  /** The tokens of this window that no process may request. */
  readonly reserve: number;
  /** Every request that reached the endpoint counts. Undefined: only tokens count. */
  readonly counts?: 'requests' | undefined;
  /**
   * False: the fleet counts the requests that the window would have refused, and refuses none for
   * it.
   */
  readonly enforce?: false | undefined;
}

/** A window of the agreement, as a process stated it. */
export interface StatedTerm extends Term {
  /** When a process stated it last. */
  readonly seenAt: number;
  /** The `instance` of that process. */
  readonly by: string;
}

/** A note for people. Nothing is decided by it. */
export interface LogEntry {
  readonly id: string;
  readonly at: number;
  /**
   * `reset`: a token is compromised. `retry`: all pauses end. `spent`: tokens were issued that the
   * record has not seen.
   */
  readonly kind: 'reset' | 'retry' | 'spent';
  /** The `instance` of the process. */
  readonly by: string;
  readonly name?: string | undefined;
  readonly reason?: string | undefined;
  readonly tokenId?: string | undefined;
}

/** The provider's count of one of its windows, as an answer of its endpoint showed it. */
export interface Quota {
  readonly windowMs: number;
  readonly tokens: number;
  readonly remaining: number;
  /** The time from the count to the end of the window. */
  readonly endsInMs: number;
}

/** The provider's figures in one answer. */
export interface QuotaSaid {
  /**
   * When the token request was reserved, and when its outcome was known. The provider counted in
   * between.
   */
  readonly askedAt: number;
  readonly at: number;
  readonly figures: readonly Quota[];
}

/** The number of the form that a new record gets, and an older record when it is written. */
export const newForm: number = 4;

/** Everything that a fleet shares about one client. A write replaces the whole record. */
export interface LedgerRecord {
  /** The number of its form. A process that changes the record writes the number that it found. */
  readonly form: number;
  /** Identifies the record. A record that begins anew gets another id. */
  readonly id: string;
  /** Grows by one with every write. */
  readonly sequence: number;
  /** The highest generation that was given. */
  readonly generation: number;
  /** The record knows every token that was issued at this instant or later. */
  readonly completeSince: number;
  /** The latest instant that the store's clock has shown. */
  readonly latestAt: number;
  /**
   * The sum of all steps of the store's clock by which its instants were moved. Negative: the clock
   * was set back.
   */
  readonly movedMs: number;
  /** The agreement: every window that a process stated recently. */
  readonly limits: readonly StatedTerm[];
  /** The requests that count, in order of the generations. */
  readonly spent: readonly Spent[];
  /** The state of each token, by its name. */
  readonly states: Readonly<Record<string, TokenState>>;
  /**
   * Requests of unknown outcome in a row, for whatever token. A token ends the count, and the
   * instant stays.
   */
  readonly lost: Failures | undefined;
  /** Refusals of the client, by secret. They hold up the requests for all tokens. */
  readonly refusals: Refusals;
  readonly later: Later | undefined;
  /** Orders to end all pauses. */
  readonly retries: (Streak & { readonly id: string }) | undefined;
  readonly tokens: readonly StoredToken[];
  readonly log: readonly LogEntry[];
  /** The provider's last figures. They are advice: no request counts or waits because of them. */
  readonly quota: QuotaSaid | undefined;
}

/** Creates an empty record. */
export function newRecord(id: string, now: number): LedgerRecord {
  const instants = { completeSince: now, latestAt: now, movedMs: 0 };
  const nothing = { lost: undefined, later: undefined, retries: undefined, quota: undefined };
  return {
    ...{ form: newForm, id, sequence: 0, generation: 0, ...instants },
    ...{ limits: [], spent: [], states: none, refusals: none },
    ...nothing,
    tokens: [],
    log: [],
  };
}

/** An object without a prototype, so that it has no names that nobody wrote. */
export const none: Readonly<Record<string, never>> = Object.freeze(Object.create(null));

/** Returns a copy of named values, with one of them replaced, or removed if it is undefined. */
export function withNamed<Value>(
  named: Readonly<Record<string, Value>>,
  name: string,
  value: Value | undefined,
): Readonly<Record<string, Value>> {
  const next: Record<string, Value> = Object.assign(Object.create(null), named);
  if (value === undefined) delete next[name];
  else next[name] = value;
  return next;
}

export function stateOf({ states }: LedgerRecord, name: string): TokenState {
  return states[name] ?? {};
}

/** Returns the record with a change of the state of one token. */
export function withState(record: LedgerRecord, name: string, change: TokenState): LedgerRecord {
  return { ...record, states: withNamed(record.states, name, { ...stateOf(record, name), ...change }) };
}

/** Returns the generation up to which the tokens of a name were reset. */
export function resetUpTo(record: LedgerRecord, name: string): number {
  return stateOf(record, name).resetUpTo ?? 0;
}

/** Returns whether a token that was reset may still be in use. */
export function isRemembered(upTo: number, now: number): boolean {
  return upTo + maxLifetimeMs > now;
}

/** Returns the token of a name under one key, unless it was reset. */
export function tokenOf(record: LedgerRecord, name: string, keyId: string): StoredToken | undefined {
  const token = record.tokens.find((each) => each.name === name && each.keyId === keyId);
  return token && token.generation > resetUpTo(record, name) ? token : undefined;
}

/** Returns the tokens that were not reset and have not expired. */
export function tokensInUse(record: LedgerRecord, now: number): StoredToken[] {
  return record.tokens.filter(({ expiresAt, generation, name }) => {
    return expiresAt > now && generation > resetUpTo(record, name);
  });
}

/** Returns the margin: a token is served only while it has more life left than this. */
export function marginOf(lifetimeMs: number): number {
  return Math.min(minute, lifetimeMs / 10);
}

/** Returns whether this is one request, and neither a sum nor a statement. */
export function isOneRequest({ tokens }: Spent): boolean {
  return tokens === undefined;
}

/** Returns whether other processes wait for the outcome of a request. */
export function isOpen({ until = 0 }: Spent, now: number): boolean {
  return until > now;
}

/** Returns whether a request has ended with an unknown outcome. */
export function isUnknown({ until, issuedAt, refusedAt }: Spent): boolean {
  return until === undefined && issuedAt === undefined && refusedAt === undefined;
}

/** Returns when the outcome of a request was known. Undefined: it is not. */
export function settledAt({ issuedAt, refusedAt }: Spent): number | undefined {
  return issuedAt ?? refusedAt;
}

/** Returns why a token was requested. */
export function reasonOf({ reason }: Spent): IssuanceReason {
  return reason === 'several' || reason === 'stated' ? 'cold' : reason;
}

import { freeAt, leavesAt, rejectedShareAt, roomAt } from './count.ts';
import {
  type EnforcedTerm,
  enforcedTerms,
  observedTerms,
  type Situation,
  type TermLimits,
  type Timeless,
  termsAt,
} from './limits.ts';
import { isOfCredentials, isOutageCode } from './oauth-error.ts';
import {
  type Failures,
  type Hint,
  type IssuanceReason,
  isOpen,
  isUnknown,
  type LedgerRecord,
  type Refusal,
  type Spent,
  type Streak,
  stateOf,
  tokenOf,
} from './record.ts';
import { hour, minute, second } from './units.ts';

/** At most this many token requests of a fleet may be under way. */
const mostOpen = 256;
/** A streak of failures or refusals ends after this time without another one. */
const streakEndsMs = 48 * hour;
/** The name under which a refusal is remembered that is not about a secret. */
export const anySecret = '*';

/** The hold that follows from each outcome of the last request of a streak. */
const holdAfterOutcome: Readonly<Record<Hint['kind'], Hold['kind']>> = {
  unreached: 'backoff',
  unknown: 'backoff',
  died: 'deaths',
  refused: 'backoff',
};

/** A process that needs a token. */
export interface Asker {
  /** The token: audience, scope, resource and parameters. */
  readonly name: string;
  readonly keyId: string;
  readonly secretId: string;
  /** The API had accepted the token that it rejected now: the token died. */
  readonly died?: boolean | undefined;
}

/**
 * A reason to request no token for a time. `limit`: a window has no room. `credentials`: the
 * endpoint rejected them. `misconfigured`: it answered a redirect, 404 or the like, so the address
 * or the audience is wrong. `rate_limited`: it limits the rate of requests. `backoff`: it failed.
 * `deaths`: processes died during their requests. `rejections`: renewals that 401s of the API cause
 * are spaced. `renewal`: the last renewal ahead of expiry brought no later expiry.
 */
export interface Hold {
  readonly kind:
    | 'limit'
    | 'credentials'
    | 'misconfigured'
    | 'rate_limited'
    | 'backoff'
    | 'deaths'
    | 'rejections'
    | 'renewal';
  readonly until: number;
  /**
   * The token that the hold is for, or, if the client was refused, the one that was asked for last.
   * Undefined: it is for all.
   */
  readonly name?: string | undefined;
  /** The number of failures, refusals or 401s in a row that led to it. 0: none did. */
  readonly count: number;
  /** The outcome of the last of them, and the instant at which it was known. */
  readonly last?: (Partial<Hint> & { readonly at: number }) | undefined;
  /** Only for a refusal: the process and the secret that were refused. */
  readonly refused?: (Pick<Refusal, 'keyId' | 'instance'> & { readonly secretId: string }) | undefined;
  /** Only for `limit`: the term that has no room. */
  readonly enforced?: EnforcedTerm | undefined;
}

/**
 * Returns all holds of a token request, also those that have ended. The five rules are those of
 * docs/when-a-request-is-repeated.md. `limitHold` and `renewalHolds` are none of them.
 *
 * 1. Back-off, in `failureHolds` and `lostHolds`. After failures in a row, the requests for a token
 *    wait for 1, 2, 4 … seconds, and for 15 minutes at most. All requests wait in the same way, for
 *    5 minutes at most, after requests of unknown outcome in a row, for whatever token.
 * 2. Sparing, in the same holds. Once an eighth of the usable tokens is lost, requests become rare:
 *    see `sparedUntil`.
 * 3. Later, in `laterHolds`. If an answer says when to try again, the whole fleet waits until then.
 * 4. Refusals, in `refusalHolds`. A refused request is repeated after 5, 10, then 15 minutes. If
 *    the client was refused, the requests for all tokens wait. A refusal of the credentials is for
 *    their secret alone; one of the address is for every secret.
 * 5. 401s, in `rejectionHolds`. The renewals of a token after them are 1, 2, 4 … 60 minutes apart.
 *    The first one comes at once, and so does the renewal of a token that died.
 *
 * THE LAW: each instant depends on the record alone, never on the present. What is allowed stays
 * allowed, and what is denied stays denied until its instant, until somebody writes or a request
 * that is under way lapses. So one list decides, and errors, `retryAt` and forecasts read the same
 * one.
 */
export function holdsOf(situation: Timeless, asker: Asker, reason: IssuanceReason): Hold[] {
  const { record } = situation;
  const { name, keyId, secretId, died } = asker;
  const { refusals } = stateOf(record, name);
  const terms = enforcedTerms(situation);
  return [
    ...terms.map((enforced): Hold => limitHold(record, enforced, reason)),
    ...laterHolds(record),
    ...lostHolds(record, terms),
    ...failureHolds(record, name, terms),
    ...[secretId, anySecret].flatMap((secret) => [
      ...refusalHolds(record, secret, refusals?.[secret]),
      ...refusalHolds(record, secret, record.refusals[secret]),
    ]),
    ...(reason === 'rejected' ? rejectionHolds(record, name, terms, died) : []),
    ...(reason === 'refresh' ? renewalHolds(record, name, keyId) : []),
  ];
}

/** Returns all holds of a record but those of the limit: each once, whoever they are for. */
export function allHolds(situation: Timeless): Hold[] {
  const { record } = situation;
  const terms = enforcedTerms(situation);
  const ofStates = Object.entries(record.states).flatMap(([name, { refusals = {} }]) => [
    ...failureHolds(record, name, terms),
    ...Object.entries(refusals).flatMap(([secret, refusal]) => refusalHolds(record, secret, refusal)),
    ...rejectionHolds(record, name, terms),
  ]);
  return [
    ...laterHolds(record),
    ...lostHolds(record, terms),
    ...Object.entries(record.refusals).flatMap(([secret, refusal]) => refusalHolds(record, secret, refusal)),
    ...ofStates,
    ...record.tokens.flatMap(({ name, keyId }) => renewalHolds(record, name, keyId)),
  ].sort((one, other) => one.until - other.until);
}

/** Returns the hold that ends last. */
export function lastOf(holds: readonly Hold[]): Hold {
  return holds.reduce((last, hold) => (hold.until > last.until ? hold : last));
}

/**
 * Returns whether requests are sent one at a time for an asker: something failed, or the client was
 * refused.
 */
export function isAlone(record: LedgerRecord, { name, secretId }: Asker): boolean {
  const { failures } = stateOf(record, name);
  return failures !== undefined || (record.lost?.count ?? 0) > 0 || record.refusals[secretId] !== undefined;
}

/**
 * Returns the requests under way, if there are so many that an asker waits for one of their
 * outcomes. If not, returns none.
 */
export function waitedFor(situation: Situation, asker: Asker): readonly Spent[] {
  const { record, now } = situation;
  const open = record.spent.filter((one) => isOpen(one, now));
  return open.length >= (isAlone(record, asker) ? 1 : mostUnderWay(situation)) ? open : [];
}

/**
 * Returns the number of requests that may be under way: an eighth of the usable tokens, but at
 * least 1.
 */
export function mostUnderWay(situation: Situation): number {
  const terms = termsAt(enforcedTerms(situation), situation.now);
  return Math.min(mostOpen, ...terms.map(({ term }) => Math.max(1, Math.floor(term.usable / 8))));
}

/**
 * Returns the hold that windows which are not enforced would cause: the one that would end last.
 */
export function unenforcedHold(situation: Situation, reason: IssuanceReason): Hold | undefined {
  const holds = observedTerms(situation).map((observed) => limitHold(situation.record, observed, reason));
  const held = holds.filter(({ until }) => until > situation.now);
  return held.length > 0 ? lastOf(held) : undefined;
}

function limitHold(record: LedgerRecord, enforced: EnforcedTerm, reason: IssuanceReason): Hold {
  return { kind: 'limit', until: roomAt(record, enforced, reason), count: 0, enforced };
}

/** Returns the instant of the last order to try again. Pauses that began before it are over. */
function retriedAt({ retries }: LedgerRecord): number {
  return retries?.at ?? 0;
}

/** Returns the latest of the instants that follow from the terms. */
function latestOf(terms: readonly EnforcedTerm[], instantOf: (term: TermLimits) => number): number {
  return Math.max(0, ...terms.map(({ term, enforcedUntil }) => Math.min(enforcedUntil, instantOf(term))));
}

/** Rules 1 and 2 for all. */
function lostHolds(record: LedgerRecord, terms: readonly EnforcedTerm[]): Hold[] {
  return record.lost ? [holdAfter(record, record.lost, 0, 5 * minute, terms)] : [];
}

/** Rules 1 and 2 for one token. */
function failureHolds(record: LedgerRecord, name: string, terms: readonly EnforcedTerm[]): Hold[] {
  const { failures } = stateOf(record, name);
  return failures ? [{ ...holdAfter(record, failures, failures.count, 15 * minute, terms), name }] : [];
}

function holdAfter(
  record: LedgerRecord,
  streak: Failures,
  failures: number,
  mostMs: number,
  terms: readonly EnforcedTerm[],
): Hold {
  const retried = retriedAt(record);
  const isPaused = streak.count > 0 && streak.at > retried;
  const until = latestOf(terms, (term) => {
    const pausedUntil = isPaused ? streak.at + Math.min(mostMs, pauseAfter(streak.count, term.usable)) : 0;
    return Math.max(pausedUntil, sparedUntil(record, term, failures, retried));
  });
  return { kind: holdAfterOutcome[streak.kind], until: Math.ceil(until), count: streak.count, last: streak };
}

/** Rule 3. */
function laterHolds({ later }: LedgerRecord): Hold[] {
  if (!later) return [];
  const isRateLimit = later.kind === 'refused' && !isOutageCode(later.code);
  return [{ kind: isRateLimit ? 'rate_limited' : 'backoff', until: later.until, count: 1, last: later }];
}

/** Rule 4. */
function refusalHolds(record: LedgerRecord, secretId: string, refusal: Refusal | undefined): Hold[] {
  if (!refusal) return [];
  const { count, at, status, code, name, keyId, instance } = refusal;
  const kind = isOfCredentials(refusal) ? 'credentials' : 'misconfigured';
  const until = at > retriedAt(record) ? repeatedAt(refusal) : 0;
  const refused = { secretId, keyId, instance };
  return [{ kind, until, name, count, refused, last: { kind: 'refused', at, status, code } }];
}

/** Rule 5, and the share of the limit for such renewals. */
function rejectionHolds(record: LedgerRecord, name: string, terms: readonly EnforcedTerm[], died = false): Hold[] {
  const { rejections } = stateOf(record, name);
  const sharedUntil = Math.max(0, ...terms.map((enforced) => rejectedShareAt(record, enforced)));
  const isSpaced = !died && rejections !== undefined && rejections.at > retriedAt(record);
  const pausedUntil = isSpaced ? spacedUntil(rejections) : 0;
  return [{ kind: 'rejections', until: Math.max(pausedUntil, sharedUntil), name, count: rejections?.count ?? 0 }];
}

/**
 * The last renewal ahead of expiry brought no later expiry: the endpoint returns one token until it
 * expires.
 */
function renewalHolds(record: LedgerRecord, name: string, keyId: string): Hold[] {
  const until = tokenOf(record, name, keyId)?.renewAfter;
  return until === undefined ? [] : [{ kind: 'renewal', until, name, count: 1 }];
}

/** Returns a streak with one more. Requests that were under way at the same time count once. */
export function oneMore(before: Streak | undefined, reservedAt: number, at: number, knownAt?: number): Streak {
  if (before === undefined || hasEnded(before, at)) return { count: 1, at, knownAt };
  const isAtOnce = reservedAt < (before.knownAt ?? before.at);
  return { count: Math.max(1, before.count + (isAtOnce ? 0 : 1)), at: Math.max(at, before.at), knownAt };
}

/** Returns whether a streak is so old that the next failure begins another one. */
export function hasEnded({ at }: Streak, now: number): boolean {
  return now > at + streakEndsMs;
}

/**
 * Returns the instant until which the next request or order of a spaced streak waits. They are 1,
 * 2, 4 … 60 minutes apart.
 */
export function spacedUntil({ count, at }: Streak): number {
  return at + Math.min(60, 2 ** (count - 1)) * minute;
}

/** Returns a spaced streak with one more. An hour without one begins another streak. */
export function oneMoreSpaced(before: Streak | undefined, at: number): Streak {
  if (!before || at > spacedUntil(before) + hour) return { count: 1, at };
  return { count: before.count + 1, at: Math.max(at, before.at) };
}

/** Returns when a refused request is repeated: after 5, 10, then 15 minutes. */
export function repeatedAt({ count, at }: Streak): number {
  return at + Math.min(15, 5 * 2 ** (count - 1)) * minute;
}

/**
 * Returns how many tokens may be lost before requests become rare: an eighth of the usable ones,
 * but at least 3.
 */
function freelyLost(usable: number): number {
  return Math.max(3, Math.floor(usable / 8));
}

/**
 * Returns the pause after `count` failures in a row, in milliseconds. It doubles with each failure,
 * or grows faster, so that the tokens that may be lost freely last a quarter of an hour.
 */
export function pauseAfter(count: number, usable: number): number {
  const growth = Math.max(2, 900 ** (1 / (freelyLost(usable) - 1)));
  return Math.min(15 * minute, second * growth ** Math.min(count - 1, 30));
}

/**
 * Returns the instant from which a token may be requested after `failures` in a row, so that an
 * outage leaves about half of the usable tokens. 0: at any time. It depends on the record alone.
 *
 * An eighth of the usable tokens may be lost freely. After that, the requests for tokens that
 * failed are the farther apart the more is lost. Other tokens may be requested while less than half
 * is lost. Three quarters are never lost.
 */
export function sparedUntil(record: LedgerRecord, term: TermLimits, failures: number, retriedAt: number): number {
  const { usable, newRecordCeiling, pendingMs } = term;
  const unknown = record.spent.filter(isUnknown);
  const usual = spared(record, term, unknown, failures, retriedAt, usable, freelyLost(usable));
  if (newRecordCeiling === usable) return usual;
  // While earlier tokens are unknown, the record allows fewer tokens than are usable. An outage
  // must not take all of them.
  const freely = Math.max(3, Math.floor(newRecordCeiling / 2));
  const young = spared(record, term, unknown, failures, retriedAt, newRecordCeiling, freely, 2 * hour);
  return Math.max(usual, Math.min(young, record.completeSince + pendingMs));
}

function spared(
  { lost }: LedgerRecord,
  term: TermLimits,
  unknown: readonly Spent[],
  failures: number,
  retriedAt: number,
  budget: number,
  freely: number,
  mostApartMs: number = Number.POSITIVE_INFINITY,
): number {
  const never = freeAt(unknown, term, Math.max(7, Math.ceil(budget * 0.75)));
  if (!lost || lost.at <= retriedAt) return never;
  const most = failures > 0 ? freely : Math.max(freely, Math.floor(budget / 2) - 1);
  const before = unknown.filter((one) => leavesAt(one, term) > lost.at);
  const known = before.reduce((sum, { tokens = 1 }) => sum + tokens, 0);
  const evenlyMs = term.pendingMs / (3 * Math.max(0.43 * budget - known, 0.075 * budget));
  const apartMs = Math.min(mostApartMs, minute * 2 ** Math.min(30, Math.max(failures, lost.count)), evenlyMs);
  // A token that failed more often waits longer, so that it can't starve the others.
  const turn = 1 + Math.min(10, Math.max(0, failures - 1)) / 30;
  return Math.ceil(Math.max(never, Math.min(freeAt(unknown, term, most), lost.at + apartMs * turn)));
}

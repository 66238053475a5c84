import { isAboutClient, isOfCredentials, type OAuthErrorCode } from './oauth-error.ts';
import { anySecret, oneMore, oneMoreSpaced } from './pace.ts';
import {
  type Failures,
  type Hint,
  isUnknown,
  type LedgerRecord,
  marginOf,
  none,
  type Quota,
  type QuotaSaid,
  type Refusal,
  type Refusals,
  resetUpTo,
  type Spent,
  type StoredToken,
  stateOf,
  tokenOf,
  withNamed,
  withState,
} from './record.ts';
import { minute } from './units.ts';

/** The wait after an answer that says "later" without a time. */
const laterMs = 15 * minute;
/** True if the endpoint said by its refusal that it may accept the same request later. */
const isTemporary: Readonly<Record<RefusedAnswer['cause'], boolean>> = {
  rate_limited: true,
  unavailable: true,
  credentials: false,
  misconfigured: false,
};
/** The outcome of a request is known within this time, unless its process was stopped. */
const maxRequestMs = 6 * minute;
/** The most refused secrets that are remembered. The oldest are forgotten. */
const maxRefusals = 4;

/** The outcome of a reserved token request. */
export type Answer = AnswerKind & {
  /** The figures in which the endpoint shows its own count. */
  readonly quota?: readonly Quota[] | undefined;
  /** The secret that was sent. */
  readonly secretId?: string | undefined;
};

type AnswerKind =
  /** A token arrived. */
  | { readonly kind: 'issued'; readonly token: StoredToken }
  /** No request was sent: this process was too slow. */
  | { readonly kind: 'unsent' }
  /** It is certain that no token was issued. */
  | {
      readonly kind: 'released';
      readonly cause: 'unreachable';
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  /**
   * The endpoint refused the request. `rate_limited` and `unavailable`: it said that it may accept
   * the same one later.
   */
  | {
      readonly kind: 'released';
      readonly cause: 'rate_limited' | 'unavailable' | 'credentials' | 'misconfigured';
      readonly status: number;
      readonly oauthError?: OAuthErrorCode | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  /** A token may have been issued. */
  | {
      readonly kind: 'ambiguous';
      readonly status?: number | undefined;
      /** The endpoint said how long it will be unavailable. */
      readonly retryAfterMs?: number | undefined;
      readonly reason?: string | undefined;
    };

type RefusedAnswer = Exclude<Extract<Answer, { kind: 'released' }>, { cause: 'unreachable' }>;

/**
 * Returns the record with the outcome of a request. To settle twice has the effect of once. The
 * record must be as `present()` returns it. `now` is the record's time.
 */
export function settle(record: LedgerRecord, now: number, reserved: Spent, answer: Answer): LedgerRecord {
  const known = record.spent.find(({ id }) => id === reserved.id);
  // The row of the record, because the store's clock may have been put right since.
  const own = known ?? { ...reserved, at: Math.min(reserved.at, now) };
  const said: QuotaSaid | undefined = answer.quota && { askedAt: own.at, at: now, figures: answer.quota };
  const isNewer = said && said.askedAt > (record.quota?.askedAt ?? 0);
  const next = withoutLapse(isNewer ? { ...record, quota: said } : record, own, answer);
  if (answer.kind === 'issued') return known?.issuedAt === undefined ? issued(next, now, own, answer) : next;
  if (answer.kind === 'ambiguous') {
    const { status, reason: code } = answer;
    const hint: Hint = { kind: 'unknown', status, code };
    return known && known.until === undefined ? next : withLostToken(next, now, own, hint, answer.retryAfterMs);
  }
  // The record has a certain outcome of this request already.
  if (!known || known.issuedAt !== undefined || known.refusedAt !== undefined) return next;
  if (answer.kind === 'unsent') return withRow(next, own, undefined);
  if (answer.cause === 'unreachable') return unreached(next, now, own, answer);
  return refused(next, now, own, { ...answer, secretId: answer.secretId ?? anySecret });
}

/**
 * Returns the record in which a request that lapsed was not lost after all. Pauses then count from
 * the latest request that was lost.
 */
function withoutLapse(record: LedgerRecord, { id }: Spent, { kind }: Answer): LedgerRecord {
  const { lost, spent } = record;
  const unknown = spent.filter(isUnknown);
  if (!lost || kind === 'ambiguous' || !unknown.some((one) => one.id === id)) return record;
  const latest = Math.max(0, ...unknown.filter((one) => one.id !== id).map(({ at }) => at));
  return { ...record, lost: { ...lost, at: Math.min(lost.at, latest) } };
}

/**
 * Returns the record after the lease of a request ended without an outcome: its process counts as
 * dead.
 */
export function lapsed(record: LedgerRecord, one: Spent): LedgerRecord {
  return withLostToken(record, one.at, one, { kind: 'died' });
}

function issued(
  record: LedgerRecord,
  now: number,
  own: Spent,
  { token, secretId }: Extract<Answer, { kind: 'issued' }>,
): LedgerRecord {
  const { name } = own;
  const { refusals } = stateOf(record, name);
  const row: Spent = { ...own, until: undefined, refusedAt: undefined, issuedAt: Math.max(now, own.at) };
  const state = { failures: undefined, refusals: without(refusals, secretId), ...rejectionsWith(record, own) };
  const { lost: before } = record;
  const next = {
    ...withState(withRow(record, own, row), name, state),
    lost: before && { ...before, count: 0 },
    refusals: without(record.refusals, secretId) ?? none,
  };
  return withToken(next, now, own, token);
}

/** Nobody knows whether the request brought a token. */
function withLostToken(record: LedgerRecord, now: number, own: Spent, hint: Hint, retryAfterMs?: number): LedgerRecord {
  const at = failedAt(record, now, own);
  const row = withRow(record, own, { ...own, until: undefined });
  const counted = { ...row, lost: failuresWith(record.lost, own, at, hint) };
  const next = withState(counted, own.name, rejectionsWith(record, own));
  return failed(withLater(next, at, hint, retryAfterMs), own, at, hint);
}

function unreached(
  record: LedgerRecord,
  now: number,
  own: Spent,
  { status, retryAfterMs }: { readonly status?: number | undefined; readonly retryAfterMs?: number | undefined },
): LedgerRecord {
  const at = failedAt(record, now, own);
  const hint: Hint = { kind: 'unreached', status };
  const next = withLater(withRow(record, own, undefined), at, hint, retryAfterMs);
  // A request that lapsed was counted as a failure then.
  return isUnknown(own) ? next : failed(next, own, at, hint);
}

function refused(
  record: LedgerRecord,
  now: number,
  own: Spent,
  answer: RefusedAnswer & { readonly secretId: string },
): LedgerRecord {
  const { cause, status, oauthError: code, retryAfterMs, secretId } = answer;
  const at = failedAt(record, now, own);
  const hint: Hint = { kind: 'refused', status, code: cause === 'rate_limited' ? undefined : code };
  const next = withRow(record, own, { ...own, until: undefined, refusedAt: Math.max(now, own.at) });
  if (isTemporary[cause]) return withLater(next, at, hint, retryAfterMs ?? laterMs);
  const { name, keyId, instance } = own;
  const secret = isOfCredentials({ status, code }) ? secretId : anySecret;
  const withOneMore = (refusals: Refusals = none): Refusals => {
    const refusal: Refusal = { ...oneMore(refusals[secret], own.at, at), status, code, name, keyId, instance };
    return newest(withNamed(refusals, secret, refusal));
  };
  const later = withLater(next, at, hint, retryAfterMs);
  if (isAboutClient({ status, code })) return { ...later, refusals: withOneMore(record.refusals) };
  return withState(later, name, { refusals: withOneMore(stateOf(record, name).refusals) });
}

/**
 * Returns the instant from which the pause after a failed request counts: six minutes after its
 * reservation at the latest, even if the store gets the outcome later. A request that fails after
 * an order to try again counts as later than the order.
 */
function failedAt({ retries }: LedgerRecord, now: number, { at }: Spent): number {
  const failed = Math.max(at, Math.min(now, at + maxRequestMs));
  return retries && now >= retries.at ? Math.max(failed, retries.at + 1) : failed;
}

function withRow(record: LedgerRecord, { id }: Spent, row: Spent | undefined): LedgerRecord {
  const others = record.spent.filter((one) => one.id !== id);
  if (!row) return { ...record, spent: others };
  return { ...record, spent: [...others, row].sort((a, b) => a.generation - b.generation) };
}

function failed(record: LedgerRecord, own: Spent, at: number, hint: Hint): LedgerRecord {
  return withState(record, own.name, { failures: failuresWith(stateOf(record, own.name).failures, own, at, hint) });
}

function failuresWith(before: Failures | undefined, own: Spent, at: number, hint: Hint): Failures {
  return { ...oneMore(before, own.at, at, hint.kind === 'died' ? own.until : undefined), ...hint };
}

/** A token that died ends the streak: its 401 says nothing about the next one. */
function rejectionsWith({ states, retries }: LedgerRecord, { name, reason, died, at }: Spent) {
  if (reason !== 'rejected') return {};
  if (died) return { rejections: undefined };
  const since = retries && at >= retries.at ? Math.max(at, retries.at + 1) : at;
  return { rejections: oneMoreSpaced(states[name]?.rejections, since) };
}

function withLater(record: LedgerRecord, at: number, hint: Hint, retryAfterMs: number | undefined): LedgerRecord {
  const until = retryAfterMs ? Math.ceil(at + retryAfterMs) : 0;
  return until > (record.later?.until ?? 0) ? { ...record, later: { until, at, ...hint } } : record;
}

/** A token shows that its secret is accepted, and that the address is right. */
function without(refusals: Refusals | undefined, secretId: string | undefined): Refusals | undefined {
  if (!refusals) return undefined;
  const others = secretId === undefined ? refusals : withNamed(refusals, secretId, undefined);
  const left = withNamed(others, anySecret, undefined);
  return Object.keys(left).length > 0 ? left : undefined;
}

function newest(refusals: Refusals): Refusals {
  const oldest = Object.entries(refusals)
    .sort(([, a], [, b]) => b.at - a.at)
    .slice(maxRefusals);
  return oldest.reduce((left, [secret]) => withNamed(left, secret, undefined), refusals);
}

/**
 * Returns the record with a token, unless it has a later one. A renewal ahead of expiry does not
 * replace a token that lives longer. A token that was reset on its way is never used, but an answer
 * that repeats it is recognised.
 */
function withToken(record: LedgerRecord, now: number, { reason }: Spent, token: StoredToken): LedgerRecord {
  const { name, keyId, generation, hash, lifetimeMs } = token;
  const before = record.tokens.find((other) => other.name === name && other.keyId === keyId);
  if (generation <= resetUpTo(record, name)) return hash ? withState(record, name, { resetHash: hash }) : record;
  if (before && before.generation >= generation) return record;
  const present = tokenOf(record, name, keyId);
  const isVain = reason === 'refresh' && present && token.expiresAt < present.expiresAt + lifetimeMs / 100;
  const next = { ...token, expiredBy: now + lifetimeMs };
  const stays = isVain && present.expiresAt > token.expiresAt ? present : next;
  // The endpoint returns one token until it expires. Do not ask again before that.
  const renewAfter = isVain ? Math.floor(stays.expiresAt - marginOf(stays.lifetimeMs)) : undefined;
  return { ...record, tokens: [...record.tokens.filter((other) => other !== before), { ...stays, renewAfter }] };
}

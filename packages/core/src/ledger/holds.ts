import { rejectedRoomAt } from './admission.ts';
import type { Limits } from './limits.ts';
import type { AudienceState, Failures, IssuanceReason, LedgerRecord } from './record.ts';
import { isRetryOpen } from './retry.ts';

const minute = 60_000;

/**
 * Why no token is requested for a time, although the limit has room. `credentials`: the endpoint rejected them. `misconfigured`: it answered a redirect,
 * 404 or the like, so the address or the audience is wrong. `rate_limited`: it answered 429. `backoff`: it failed. `deaths`: processes died during
 * their requests. `rejections`: renewals that 401s of the API cause are spaced. `renewal`: the last renewal ahead of expiry brought no later expiry.
 * `unreadable`: a token that could not be decrypted was replaced a short time ago.
 */
export type HoldKind =
  | 'credentials'
  | 'misconfigured'
  | 'rate_limited'
  | 'backoff'
  | 'deaths'
  | 'rejections'
  | 'renewal'
  | 'unreadable';

/** A hold of the record. */
export interface Hold {
  readonly kind: HoldKind;
  readonly until: number;
  /** The status that the token endpoint answered. */
  readonly status?: number | undefined;
  /** The audience that the hold is for. Undefined: it is for all. */
  readonly audience?: string | undefined;
  /** The state of that audience under one key. */
  readonly state?: AudienceState | undefined;
}

/** A process that needs a token for an audience. */
export interface Caller {
  readonly audience: string;
  readonly keyId: string;
  readonly secretId: string;
  /** The stored token cannot be opened. */
  readonly unreadable?: boolean | undefined;
}

/** Returns the holds that apply to these audience states. The record must be reconciled. */
export function holdsOf(
  record: LedgerRecord,
  states: readonly AudienceState[],
  now: number,
  limits: Limits,
): readonly Hold[] {
  const { rateLimit, deaths } = record;
  const audiences = [...new Set(states.map(({ audience }) => audience))];
  const holds: readonly Hold[] = [
    ...states.flatMap((state): Hold[] => {
      const { audience, credentialsBackoff, renewAfter, unreadableUntil } = state;
      const { retryAt = 0, status } = credentialsBackoff ?? {};
      return [
        { kind: isOfCredentials(status) ? 'credentials' : 'misconfigured', until: retryAt, status, audience, state },
        { kind: 'renewal', until: renewAfter, audience, state },
        { kind: 'unreadable', until: unreadableUntil, audience, state },
      ];
    }),
    ...audiences.map((audience): Hold => {
      return { kind: 'rejections', until: rejectedRoomAt(record, now, limits, audience), audience };
    }),
    { kind: 'rate_limited', until: rateLimit?.retryAt ?? 0, status: 429 },
    ...holdsOfFailures(record, audiences),
    { kind: 'deaths', until: deaths.retryAt },
  ];
  const isOpen = isRetryOpen(record, now);
  return holds.filter(({ kind, until }) => until > now && (!isOpen || kind === 'rejections'));
}

/** Returns whether a status of the token endpoint says that it rejected the credentials. */
export function isOfCredentials(status: number | undefined): boolean {
  return status === 400 || status === 401 || status === 403;
}

/**
 * Returns the holds of a back-off. After a shared one the audiences that failed wait for longer than the others: those that fail and are always the
 * first to ask would never let another one have a token. Of those that failed, the one that failed less often comes first.
 */
function holdsOfFailures({ audiences, entries, failures }: LedgerRecord, asking: readonly string[]): Hold[] {
  if (!failures) return [];
  const { failedAt, audience, shared, toldUntil = 0, ambiguous, probeAt, retryAt, status } = failures;
  const until = probeAt ?? retryAt;
  const sharedUntil = shared ? until : toldUntil;
  const failed = failuresByAudience(entries, failures);
  const counts = [...failed.values()].filter((count) => count > 0);
  // Those that failed wait for its end even if it is not shared any more, because another one got a token.
  const end = Math.max(until, sharedUntil);
  // If the endpoint cannot be reached, it makes no difference who asks.
  const hasOthers = failed.size > 1 || audiences.some((other) => other.audience !== audience);
  const takesTurns = hasOthers && (ambiguous || probeAt !== undefined);
  const pauseMs = takesTurns ? Math.max(0, (counts.length > 1 ? end : sharedUntil) - failedAt) : 0;
  const turnMs =
    pauseMs > 15 * minute ? Math.min(pauseMs / 4, 15 * minute) : Math.min(pauseMs / 2, 15.5 * minute - pauseMs);
  const turns = asking.map((name): Hold => {
    const count = failed.get(name) ?? 0;
    const place = counts.filter((other) => other <= count).length;
    const from = takesTurns && count > 0 ? end : sharedUntil;
    const turnAt = Math.ceil(from + (turnMs * place) / Math.max(1, counts.length));
    return { kind: 'backoff', until: name === audience ? Math.max(until, turnAt) : turnAt, status, audience: name };
  });
  return [{ kind: 'backoff', until: sharedUntil, status }, ...turns.filter((turn) => turn.until > sharedUntil)];
}

/**
 * Counts the failures of each audience in a row: its entries of unknown outcome since its last token, and of the last two days. A request after `failedAt`
 * has no outcome yet.
 */
function failuresByAudience(entries: LedgerRecord['entries'], { audience, failedAt }: Failures): Map<string, number> {
  const failed = new Map([[audience, 1]]);
  for (const { at, audience, pending } of entries) {
    const count = failed.get(audience) ?? 0;
    failed.set(audience, pending ? count + Number(at <= failedAt && at > failedAt - 2_880 * minute) : 0);
  }
  return failed;
}

/**
 * Returns until when a request for an audience must wait for one that is under way. 0: it need not wait. After a shared back-off, and while processes die
 * during their requests, there is one request at a time: if all audiences asked when a pause ends, each pause would cost a token for each of them. After a
 * token of another audience, those that failed still ask one at a time.
 */
export function underWayUntil(
  { audiences, deaths, entries, failures }: LedgerRecord,
  now: number,
  asking: string,
): number {
  const leases = audiences.flatMap(({ lease }) => (lease && lease.until > now ? [lease] : []));
  if (leases.length === 0) return 0;
  const failed = failures && failuresByAudience(entries, failures);
  const hasFailed = (audience: string) => (failed?.get(audience) ?? 0) > 0;
  const failing = hasFailed(asking) ? entries.filter((entry) => hasFailed(entry.audience)) : [];
  // An hour after the last pause, deaths are counted anew.
  const endsAt = failures?.shared ? Number.POSITIVE_INFINITY : deaths.count > 1 ? deaths.retryAt + 60 * minute : 0;
  const untils = leases.map(({ id, until }) =>
    failing.some((entry) => entry.id === id) ? until : Math.min(endsAt, until),
  );
  return Math.max(...untils);
}

/** Returns whether a hold of the caller's audience denies it a token for this reason. */
export function binds({ kind, state }: Hold, caller: Caller, reason: IssuanceReason): boolean {
  switch (kind) {
    case 'credentials':
      // Another client secret is not affected.
      return state?.credentialsBackoff?.secretId === caller.secretId;
    case 'renewal':
      return reason === 'refresh';
    case 'rejections':
      return reason === 'rejected';
    case 'unreadable':
      return caller.unreadable === true;
    default:
      return true;
  }
}

import { isIssued, type Settled } from './attempt.ts';
import { rejectedShareAt } from './count.ts';
import type { Attempt, LedgerRecord } from './journal.ts';
import type { Limits } from './limits.ts';
import { isOutageCode } from './oauth-error.ts';
import { orderedAt } from './orders.ts';
import { isAboutClient, isOfCredentials, type Refused, rejectionsOf } from './refusals.ts';
import { type Fleet, isAfter, type Mark } from './streaks.ts';

/** A process that needs a token for an audience. */
export interface Caller {
  readonly audience: string;
  readonly keyId: string;
  readonly secretId: string;
}

/**
 * Why no token is requested for a time, although the limit has room. `credentials`: the endpoint rejected them. `misconfigured`: it answered a redirect,
 * 404 or the like, so the address or the audience is wrong. `rate_limited`: it limits the rate of requests. `backoff`: it failed. `deaths`: processes died during
 * their requests. `rejections`: renewals that 401s of the API cause are spaced. `renewal`: the last renewal ahead of expiry brought no later expiry.
 */
export interface Hold {
  readonly kind: 'credentials' | 'misconfigured' | 'rate_limited' | 'backoff' | 'deaths' | 'rejections' | 'renewal';
  readonly until: number;
  /** The audience that the hold is for. Undefined: it is for all. */
  readonly audience?: string | undefined;
  /** So many in a row led to it. */
  readonly count: number;
  /** The last of these attempts, if they failed. */
  readonly attempt?: Attempt | undefined;
}

/** Rule 3 of `pace`. */
export function toldHolds({ told }: Fleet): Hold[] {
  const { kind, toldUntil: until = 0, code } = told?.outcome ?? {};
  const isRateLimit = kind === 'refused' && !isOutageCode(code);
  return told ? [{ kind: isRateLimit ? 'rate_limited' : 'backoff', until, count: 1, attempt: told }] : [];
}

/** Returns whether a refusal is about a caller. */
export function concerns({ audience, secretId, outcome }: Refused, caller: Caller): boolean {
  const isMine = audience === caller.audience || isAboutClient(outcome);
  return isMine && (secretId === caller.secretId || !isOfCredentials(outcome));
}

/** Rule 4 of `pace`: what was refused, unless a token was issued since. `heldAfterRefusal` says for how long. If it was the client, all audiences wait. */
export function refusalHold(attempt: Refused): Hold {
  const { audience, outcome } = attempt;
  const kind = isOfCredentials(outcome) ? 'credentials' : 'misconfigured';
  return { kind, until: outcome.holdUntil, count: outcome.count ?? 1, audience, attempt };
}

/** The last renewal ahead of expiry brought no later expiry: the endpoint returns one token until it expires. An order to try again allows one more. */
export function renewalHolds(record: LedgerRecord, { audience, keyId }: Caller): Hold[] {
  const last = record.attempts.findLast(
    (attempt): attempt is Settled => isIssued(attempt) && attempt.audience === audience && attempt.keyId === keyId,
  );
  if (!last || !isAfter({ ...last, ...last.outcome }, orderedAt(record))) return [];
  return [{ kind: 'renewal', until: last.outcome.holdUntil ?? 0, count: 1, audience }];
}

/** Rule 5 of `pace`. */
export function rejections(record: LedgerRecord, now: number, audience: string, limits: Limits, endedAt: Mark): Hold[] {
  const { count, last, until: spacedUntil } = rejectionsOf(record, audience);
  const goesOn = last !== undefined && isAfter(last, endedAt);
  const pausedUntil = goesOn ? spacedUntil : Math.min(spacedUntil, endedAt.at);
  const until = Math.max(pausedUntil, rejectedShareAt(record, now, limits));
  return [{ kind: 'rejections', until, count, audience }];
}

/** Returns the holds after an order to try again. It ended those whose attempts were known by then. */
export function endedBy(endedAt: Mark, holds: readonly Hold[]): Hold[] {
  return holds.map((hold) => {
    const { attempt } = hold;
    const goesOn = attempt !== undefined && isAfter({ ...attempt, ...attempt.outcome }, endedAt);
    return goesOn ? hold : { ...hold, until: Math.min(hold.until, endedAt.at) };
  });
}

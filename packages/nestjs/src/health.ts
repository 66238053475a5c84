import { isServiceAuthError, type ServiceAuth, type ServiceAuthErrorCode, type Usage } from '@service-auth/core';
import { type Condition, conditionOf } from './condition.ts';

/**
 * The health of a client. Anybody may be able to read the answer of a health endpoint, so it has no
 * message: messages name hosts, keys and paths, and the log has them.
 */
export interface Health {
  readonly status: 'up' | 'degraded' | 'down';
  readonly details: {
    /** The number of tokens left in the window. */
    readonly remaining?: number;
    /** The number of tokens per window without the reserve. */
    readonly usable?: number;
    /** What a caller without a token gets, or the last one got. Absent: only the budget is low. */
    readonly code?: ServiceAuthErrorCode;
    /** The instant from which tokens can be issued again, in ISO 8601. */
    readonly retryAt?: string;
  };
}

interface Trouble {
  readonly code?: ServiceAuthErrorCode;
  /**
   * A caller without a token gets none before this instant, in epoch milliseconds of the client's
   * clock.
   */
  readonly blockedUntil: number;
  /** When to try again, in epoch milliseconds. Default: `blockedUntil`. */
  readonly retryAt?: number | undefined;
}

/**
 * `down`: a caller that asks for a token now gets none. `degraded`: tokens are available, but the
 * budget is low, the last token request failed, or the store does not answer. `up` otherwise, also
 * before the first token. The check reads the store and never asks for a token, because a probe
 * must not spend the budget that it reports.
 */
export async function healthOf(client: ServiceAuth, lowBudget?: number): Promise<Health> {
  let usage: Usage | undefined;
  let failure: unknown;
  try {
    usage = await client.getUsage();
  } catch (error) {
    failure = error;
  }
  const condition = conditionOf(client);
  const now = condition?.now ?? Date.now();
  const troubles = usage
    ? [troubleOfRequests(condition), troubleOfBudget(usage, lowBudget)]
    : [troubleOfStore(failure)];
  const budget = usage && { remaining: usage.remaining, usable: usage.usable };
  const [worst] = troubles.filter((trouble) => trouble !== undefined).sort(laterFirst);
  if (!worst) return { status: 'up', details: { ...budget } };

  const { code, blockedUntil, retryAt = blockedUntil } = worst;
  const isClosed = isServiceAuthError(failure) && failure.code === 'ERR_CLOSED';
  // peekToken() hides a token that must be revalidated in a shared store first. If the store fails,
  // the client serves this token all the same.
  const hasToken = client.peekToken() !== undefined || (!isClosed && condition?.hasToken === true);
  // After `blockedUntil` the status is no longer `down`: an application that is down gets no
  // traffic, so it would never ask for a token again.
  const isBlocked = blockedUntil > now;
  const again = isBlocked && Number.isFinite(retryAt) ? { retryAt: new Date(retryAt).toISOString() } : {};
  const details = { ...budget, ...(code && { code }), ...again };
  return { status: isBlocked && !hasToken ? 'down' : 'degraded', details };
}

/**
 * The same instant, computed twice, may differ by some milliseconds. The first of such troubles
 * stays the first.
 */
function laterFirst(one: Trouble, other: Trouble): number {
  const byMs = other.blockedUntil - one.blockedUntil;
  return Math.abs(byMs) < 1_000 ? 0 : byMs || 0;
}

function troubleOfStore(reason: unknown): Trouble {
  const { code, retryAt } = isServiceAuthError(reason) ? reason : { code: 'ERR_STORE' as const };
  return { code, retryAt, blockedUntil: Number.POSITIVE_INFINITY };
}

function troubleOfRequests(condition: Condition | undefined): Trouble | undefined {
  if (!condition?.failure) return undefined;
  const { code, retryAt } = condition.failure;
  return { code, blockedUntil: retryAt };
}

// The errors that callers without a token get.
const codeOfRefusal: Readonly<Record<NonNullable<Usage['refusedBecause']>, ServiceAuthErrorCode>> = {
  limit: 'ERR_ISSUANCE_LIMIT',
  rate_limited: 'ERR_RATE_LIMITED',
  credentials: 'ERR_CREDENTIALS_REJECTED',
  backoff: 'ERR_TOKEN_ENDPOINT',
  full: 'ERR_STORE',
};

function troubleOfBudget(usage: Usage, lowBudget = usage.usable / 10): Trouble | undefined {
  const { remaining, newRecord, refusedUntil, refusedBecause } = usage;
  if (refusedUntil !== undefined) return { code: codeOfRefusal[refusedBecause ?? 'limit'], blockedUntil: refusedUntil };
  // A new record allows less than remains.
  return Math.min(remaining, newRecord?.remaining ?? remaining) > lowBudget ? undefined : { blockedUntil: 0 };
}

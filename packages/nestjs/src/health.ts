import { isServiceAuthError, type ServiceAuth, type Usage } from '@service-auth/core';
import { type Condition, conditionOf } from './condition.ts';

/** The health of a client, with details for operators. */
export interface Health {
  readonly status: 'up' | 'degraded' | 'down';
  readonly details: {
    /** The number of tokens left in the window. */
    readonly remaining?: number;
    /** The number of tokens per window without the reserve. */
    readonly usable?: number;
    readonly message?: string;
    /** The instant from which tokens can be issued again, in ISO 8601. */
    readonly retryAt?: string;
  };
}

interface Trouble {
  readonly message: string;
  /** A caller without a token gets none before this instant, in epoch milliseconds of the client's clock. */
  readonly blockedUntil: number;
}

/**
 * `down`: a caller that asks for a token now gets none. `degraded`: tokens are available, but the budget is low, the last token request failed, or
 * the store does not answer. `up` otherwise, also before the first token. The check reads the store and never asks for a token, because a probe
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

  const { message, blockedUntil } = worst;
  const isClosed = isServiceAuthError(failure) && failure.code === 'ERR_CLOSED';
  // peekToken() hides a token that must be revalidated in a shared store first. If the store fails, the client serves this token all the same.
  const hasToken = client.peekToken() !== undefined || (!isClosed && condition?.hasToken === true);
  // After `blockedUntil` the status is no longer `down`: an application that is down gets no traffic, so it would never ask for a token again.
  const isBlocked = blockedUntil > now;
  const retryAt = isBlocked && Number.isFinite(blockedUntil) ? { retryAt: new Date(blockedUntil).toISOString() } : {};
  return { status: isBlocked && !hasToken ? 'down' : 'degraded', details: { ...budget, message, ...retryAt } };
}

/** The same instant, computed twice, may differ by some milliseconds. The first of such troubles stays the first. */
function laterFirst(one: Trouble, other: Trouble): number {
  const byMs = other.blockedUntil - one.blockedUntil;
  return Math.abs(byMs) < 1_000 ? 0 : byMs || 0;
}

function troubleOfStore(reason: unknown): Trouble {
  const message = isServiceAuthError(reason) ? reason.message : 'The usage cannot be read.';
  return { message, blockedUntil: Number.POSITIVE_INFINITY };
}

function troubleOfRequests(condition: Condition | undefined): Trouble | undefined {
  if (!condition?.failure) return undefined;
  const { code, retryAt } = condition.failure;
  return { message: `The last request for a token ended with ${code}.`, blockedUntil: retryAt };
}

const whyRefused: Readonly<Record<NonNullable<Usage['refusedBecause']>, string>> = {
  limit: 'The budget of tokens has no room.',
  rate_limited: 'The token endpoint answered 429.',
  credentials: 'The token endpoint rejected the credentials.',
  backoff: 'The token endpoint failed.',
  full: 'The record has no room for the token of another audience.',
};

function troubleOfBudget(usage: Usage, lowBudget = usage.usable / 10): Trouble | undefined {
  const { remaining, usable, refusedUntil, refusedBecause } = usage;
  if (refusedUntil !== undefined) return { message: whyRefused[refusedBecause ?? 'limit'], blockedUntil: refusedUntil };
  if (remaining > lowBudget) return undefined;
  return { message: `Only ${remaining} of ${usable} tokens are left in this window.`, blockedUntil: 0 };
}

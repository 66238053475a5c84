import { isServiceAuthError, type ServiceAuth, type Usage } from '@service-auth/core';
import type { Condition } from './condition.ts';
import { conditionOf } from './shared-clients.ts';

/** How a client is, and what an operator wants to know about it. */
export interface Health {
  readonly status: 'up' | 'degraded' | 'down';
  readonly details: {
    /** Tokens left in the window. */
    readonly remaining?: number;
    /** Tokens per window, less the reserve. */
    readonly usable?: number;
    readonly message?: string;
    /** ISO 8601. */
    readonly retryAt?: string;
  };
}

interface Trouble {
  readonly message: string;
  /** Who has no token gets none before this instant, in epoch milliseconds of the client's clock. */
  readonly blockedUntil: number;
}

/**
 * `down`: whoever asks for a token now gets none. `degraded`: tokens are to be had, but the budget is low, the last request for one failed, or the
 * store does not answer. `up` also before the first token. Reads the store and asks for no token: a probe must not spend what it watches.
 */
export async function healthOf(client: ServiceAuth, lowBudget?: number): Promise<Health> {
  const [usage] = await Promise.allSettled([client.getUsage()]);
  const condition = conditionOf(client);
  const now = condition?.now ?? Date.now();
  const troubles =
    usage.status === 'rejected'
      ? [troubleOfStore(usage.reason)]
      : [troubleOfRequests(condition), troubleOfBudget(usage.value, lowBudget)];
  const budget = usage.status === 'rejected' ? {} : { remaining: usage.value.remaining, usable: usage.value.usable };
  const [worst] = troubles.filter((trouble) => trouble !== undefined).sort((a, b) => b.blockedUntil - a.blockedUntil);
  if (!worst) return { status: 'up', details: budget };

  const { message, blockedUntil } = worst;
  // peekToken() shows none that the client would first look up in a shared store; when the store fails it is served all the same.
  const hasToken = client.peekToken() !== undefined || (condition?.tokenExpiresAt ?? 0) > now;
  // From then on it is no longer down: an application that is down gets no traffic, and so would never try again.
  const isBlocked = blockedUntil > now;
  const retryAt = isBlocked && Number.isFinite(blockedUntil) ? { retryAt: new Date(blockedUntil).toISOString() } : {};
  return { status: isBlocked && !hasToken ? 'down' : 'degraded', details: { ...budget, message, ...retryAt } };
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

function troubleOfBudget({ remaining, usable, refusedUntil }: Usage, lowBudget = usable / 10): Trouble | undefined {
  if (refusedUntil !== undefined) return { message: 'The budget of tokens has no room.', blockedUntil: refusedUntil };
  if (remaining > lowBudget) return undefined;
  return { message: `Only ${remaining} of ${usable} tokens are left in this window.`, blockedUntil: 0 };
}

import type { TestClient } from '@service-auth/testing';

/** A client of the service, and what was agreed with the provider. */
export interface Customer extends TestClient {
  readonly clientSecret: string;
  readonly issuanceLimit: { readonly tokens: number; readonly windowMs: number; readonly reserve: number };
}

/** The lifetime of tokens here: a day of a fleet passes in 4 seconds. */
export const lifetimeMs = 4_000;

/** One token request. Short, so that a process that died while asking is not waited for much longer. */
export const timeoutMs = 1_000;

/** Needs a token all the time, and gets along with its limit: it must be served as soon as nothing fails any more. */
export const steady: Customer = {
  clientId: 'steady',
  clientSecret: 'steady-secret-of-no-value',
  audiences: ['https://steady.example'],
  // Without the insurance, which would hide mistakes.
  issuanceLimit: { tokens: 150, windowMs: 60_000, reserve: 0 },
};

/** Want far more tokens than they may have, from all processes at once: their limits are what is under attack. */
export const greedy: readonly Customer[] = ['first', 'second'].map((name) => ({
  clientId: `greedy-${name}`,
  clientSecret: `greedy-secret-of-the-${name}`,
  audiences: Array.from({ length: 500 }, (_, index) => `https://greedy-${index}.example`),
  issuanceLimit: { tokens: 10, windowMs: 5_000, reserve: 0 },
}));

/** Wants as many tokens, while processes are given another agreement one after another, and the old one again. */
export const changing: Customer = {
  clientId: 'changing',
  clientSecret: 'changing-secret-of-no-value',
  audiences: Array.from({ length: 500 }, (_, index) => `https://changing-${index}.example`),
  issuanceLimit: { tokens: 60, windowMs: 5_000, reserve: 0 },
};

/** The other agreement. */
export const changed: Customer = { ...changing, issuanceLimit: { ...changing.issuanceLimit, tokens: 25 } };

export const customers: readonly Customer[] = [steady, ...greedy, changing];

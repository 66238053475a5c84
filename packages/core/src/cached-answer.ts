import type { AccessToken } from './access-token.ts';
import type { Instant } from './instant.ts';
import type { IssuedToken } from './token-response.ts';

/** What an answer out of a cache counts as: nobody knows whether the endpoint was asked at all. */
export const cachedAnswer = { kind: 'ambiguous', charge: 1, reason: 'cached' } as const;

/**
 * Whether an answer repeats one of the tokens that are known. `renewed`: the token that is replaced ahead of its expiry. An endpoint may hand it out until
 * it ends; a cache repeats its lifetime, too, so that it would end later now.
 */
export function isFromCache(
  { value, lifetimeMs }: IssuedToken,
  known: readonly (AccessToken | undefined)[],
  renewed: AccessToken | undefined,
  sentAt: Instant,
): boolean {
  if (renewed && sentAt.wall + lifetimeMs <= renewed.expiresAt + 60_000) return false;
  return known.some((token) => token?.value === value);
}

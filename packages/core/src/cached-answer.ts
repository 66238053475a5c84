import type { AccessToken } from './access-token.ts';
import type { Instant } from './instant.ts';
import type { IssuedToken } from './token-response.ts';

/** The outcome of an answer from a cache. It is unknown whether the endpoint received the request. */
export const cachedAnswer = { kind: 'ambiguous', charge: 1, reason: 'cached' } as const;

/**
 * Returns whether an answer came from a cache: it repeats a known token. `renewed`: the token that is replaced ahead of its expiry. An endpoint may
 * return that token until it expires. A cache repeats its lifetime too, so the token would seem to expire later.
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

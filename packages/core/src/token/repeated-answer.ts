import type { IssuedToken } from '../endpoint/token-response.ts';
import { stateOf } from '../ledger/record.ts';
import type { Instant } from '../platform/instant.ts';
import type { ReservedRequest } from './reserved-request.ts';

// An endpoint may round `expires_in` up.
const second = 1_000;

/** The outcome of an answer that repeats a token. A cache may have answered, so it is unknown whether the endpoint received the request. */
export const repeatedAnswer = { kind: 'ambiguous', reason: 'cached' } as const;

/**
 * Returns whether an answer repeats a token that the fleet has already, or one that was reset. An endpoint may return one token until that expires, with
 * the life that it has left. A cache repeats its whole lifetime, so the token would seem to expire later. A process that could not open the token in
 * the record needs that token, so for it only one that was reset is a repetition.
 */
export function isRepeated(
  { lifetimeMs }: IssuedToken,
  hash: string | undefined,
  sentAt: Instant,
  { flight: { reason }, view: { record, now, readAt }, reserved: { name, keyId }, couldNotOpen }: ReservedRequest,
): boolean {
  if (hash === undefined) return false;
  const { resetUpTo = 0, resetHash } = stateOf(record, name);
  if (resetHash === hash) return true;
  // Only the clock of the store tells, because those of this machine may have been set.
  const expiresAt = now + sentAt.monotonic - readAt.monotonic + lifetimeMs;
  const mayRepeat = (until: number) => couldNotOpen || (reason !== 'rejected' && expiresAt - second < until);
  return record.tokens.some(({ expiredBy = 0, ...token }) => {
    if (token.name !== name || token.hash !== hash) return false;
    return token.generation <= resetUpTo || (token.keyId === keyId && !mayRepeat(expiredBy));
  });
}

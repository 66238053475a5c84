import type { Instant } from './instant.ts';
import { marginOf } from './ledger/decide.ts';
import { audienceStateOf, audienceStatesOf } from './ledger/record.ts';
import type { IssuedToken } from './token-response.ts';
import type { ReservedRequest } from './work.ts';

/** The outcome of an answer that repeats a token. A cache may have answered, so it is unknown whether the endpoint received the request. */
export const repeatedAnswer = { kind: 'ambiguous', charge: 1, reason: 'cached' } as const;

/**
 * Returns whether an answer repeats a token that the fleet has already, or one that was reset. An endpoint may return one token until that expires, so
 * a renewal ahead of expiry may get the same one. A cache repeats its lifetime too, so the token would seem to expire later. A process that could not
 * open the token in the record needs that token, so for it only one that was reset is a repetition.
 */
export function isRepeated(
  { lifetimeMs }: IssuedToken,
  hash: string | undefined,
  sentAt: Instant,
  {
    flight: { reason, cached },
    unreadable,
    view: { record },
    reservation: {
      entry: { audience },
      keyId,
    },
  }: ReservedRequest,
): boolean {
  // The wall clock does not tell, because somebody may have set it since the token was issued.
  const isSame =
    reason === 'refresh' &&
    cached &&
    sentAt.monotonic + lifetimeMs <= cached.usableUntil + marginOf(cached.lifetimeMs) + 60_000;
  const mayRepeat = unreadable || isSame;
  const { revoked } = audienceStateOf(record, audience, keyId);
  return audienceStatesOf(record, audience).some((state) =>
    state.fingerprints?.some(
      (token) => token.hash === hash && (token.generation <= revoked || (state.keyId === keyId && !mayRepeat)),
    ),
  );
}

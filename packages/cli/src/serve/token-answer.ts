import { type AccessToken, isServiceAuthError } from '@service-auth/core';
import { exitCodeOf, exitCodes, sentenceOf } from '../line/exit.ts';
import { tokenJson, typeOf } from '../report/token-json.ts';
import { type Answer, json, refusal } from './answer.ts';

/** A token with less life is not given away: a caller that keeps it would soon send a dead one. */
export const shortestLifeMs = 60_000;

const soonMs = 5_000;

/** The answer of the token endpoint to a caller who gets a token (RFC 6749 section 5.1). */
export function tokenAnswer({ value, authorization }: AccessToken, leftMs: number): Answer {
  if (leftMs < shortestLifeMs) return tooShort(leftMs);
  return json(200, { access_token: value, token_type: typeOf(authorization), expires_in: Math.floor(leftMs / 1_000) });
}

/** The same in the form of `service-auth token --format json`. `audience`: empty without one. */
export function plainTokenAnswer(token: AccessToken, leftMs: number, audience: string): Answer {
  return leftMs < shortestLifeMs ? tooShort(leftMs) : json(200, tokenJson(token, audience || undefined));
}

function tooShort(leftMs: number): Answer {
  const description = 'The token lives for less than a minute, and there is no other one yet.';
  return unavailable(503, description, Math.max(0, leftMs));
}

/** The answer without a token. 429: the budget is spent, or the provider said so. 503: the rest. */
export function failureAnswer(error: unknown, now: number): Answer {
  if (!isServiceAuthError(error)) return unavailable(503, 'No token is available. Try again shortly.', soonMs);
  const { retryAt } = error;
  const status = exitCodeOf(error) === exitCodes.tryLater ? 429 : 503;
  return unavailable(status, sentenceOf(error), retryAt === undefined ? soonMs : retryAt - now);
}

/** An answer with `Retry-After` (RFC 9110 section 10.2.3), in whole seconds. */
export function unavailable(status: number, description: string, retryAfterMs: number): Answer {
  const seconds = Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return refusal(status, 'temporarily_unavailable', description, { 'retry-after': `${seconds}` });
}

import type { TransportResponse } from '../contract/transport.ts';
import { isOfCredentials, isOutageCode } from '../ledger/oauth-error.ts';
import type { Quota } from '../ledger/record.ts';
import type { Answer } from '../ledger/settle.ts';
import { type Clock, systemClock } from '../platform/clock.ts';
import { isRefusal, isThrottling, readOAuthError } from './error-response.ts';
import { maxBodyLength } from './fetch-transport.ts';
import { headerOf, retryAfterMs, retryDelayMs } from './response-headers.ts';
import { type ExpectedToken, type IssuedToken, readTokenResponse, readTokenType } from './token-response.ts';

/** The outcome of a request that got no token. */
export type FailedRequest = Exclude<Answer, { kind: 'issued' }> & {
  readonly status?: number | undefined;
  /** The name and code of the error if there was no answer. */
  readonly error?: string | undefined;
  /** The `token_type` of an answer that had another one than expected. It may repeat the secret. */
  readonly tokenType?: string | undefined;
};

/** A token, or the outcome of a request that brought none. */
export type Meaning = { readonly kind: 'token'; readonly token: IssuedToken } | FailedRequest;

/**
 * Returns the meaning of an answer. If a token may have been issued, it counts as issued. The first
 * row that fits decides:
 *
 * | answer | meaning | may have issued a token |
 * | --- | --- | --- |
 * | 2xx without an error in the place of a token | a token, or an unusable one | yes |
 * | 408, 425, 5xx and what is no status of a refusal | `ambiguous`: a gateway may send these although the endpoint accepted the request | yes |
 * | 429, a code of throttling | `rate_limited` | no |
 * | the code `temporarily_unavailable` or `server_error` | `unavailable`: an outage of the endpoint | no |
 * | 2xx with an error, 400, 401 or 403, with a `Retry-After` that is not over | `rate_limited` | no |
 * | 401; 2xx, 400 or 403 with the JSON of an authorization server | `credentials` | no |
 * | the rest: 3xx, 404, 421 and the like | `misconfigured` | no |
 */
export function meaningOf(
  response: TransportResponse,
  body: string,
  clock: Clock,
  expected: ExpectedToken,
  quota: readonly Quota[] | undefined,
): Meaning {
  const { status } = response;
  // An application's own transport may return any status, and the record keeps the status.
  if (!Number.isInteger(status) || status < 0 || status > 999)
    return { kind: 'ambiguous', error: 'TypeError INVALID_STATUS' };
  const toldMs = retryDelayMs(response, clock);
  const isSuccess = status >= 200 && status < 300;
  if (isSuccess) {
    if (body.length > maxBodyLength) return { kind: 'ambiguous', status, reason: 'too_large' };
    const token = readTokenResponse(body, headerOf(response, 'content-type'), expected, clock.now());
    if (typeof token === 'object') return { kind: 'token', token };
    const tokenType = token === 'token_type' ? readTokenType(body) : undefined;
    if (!isRefusal(body)) return { kind: 'ambiguous', status, reason: token, tokenType, retryAfterMs: toldMs };
  }
  if (!isSuccess && (status === 408 || status === 425 || !(status >= 300 && status < 500)))
    return { kind: 'ambiguous', status, retryAfterMs: toldMs };

  const text = `${body}`.slice(0, maxBodyLength);
  const oauthError = readOAuthError(text);
  const temporary = temporaryCauseOf(response, text, clock);
  if (temporary === 'rate_limited')
    return { kind: 'released', cause: temporary, status, retryAfterMs: retryDelayMs(response, clock, quota) };
  if (temporary) return { kind: 'released', cause: temporary, status, oauthError, retryAfterMs: toldMs };
  return isOfCredentials({ status, code: oauthError })
    ? { kind: 'released', cause: 'credentials', status, oauthError }
    : { kind: 'released', cause: 'misconfigured', status, retryAfterMs: toldMs };
}

/**
 * Why a refused request may succeed later: the endpoint limits the rate of requests, or is out of
 * order.
 */
export type TemporaryCause = 'rate_limited' | 'unavailable';

/**
 * Returns why a refusal says that the same request may succeed later. Undefined: it does not.
 * `body`: the known part of the body.
 */
export function temporaryCauseOf(
  response: TransportResponse,
  body: string,
  clock: Clock = systemClock,
): TemporaryCause | undefined {
  const { status } = response;
  if (status === 429 || isThrottling(body)) return 'rate_limited';
  if (isOutageCode(readOAuthError(body))) return 'unavailable';
  const mayBeOfCredentials = status < 300 || [400, 401, 403].includes(status);
  return mayBeOfCredentials && (retryAfterMs(response, clock) ?? 0) > 0 ? 'rate_limited' : undefined;
}

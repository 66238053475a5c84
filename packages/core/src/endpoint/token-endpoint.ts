import type { WrittenRequest } from '../contract/client-authentication.ts';
import { isServiceAuthError } from '../contract/errors.ts';
import type { Transport, TransportResponse } from '../contract/transport.ts';
import type { Quota } from '../ledger/journal.ts';
import { isOfCredentials } from '../ledger/refusals.ts';
import type { Answer } from '../ledger/settle.ts';
import type { Clock } from '../platform/clock.ts';
import { timedOut, within } from '../platform/pause.ts';
import { describeError, ownProperty } from '../platform/untrusted.ts';
import { type ExchangeWatch, watchExchange } from './connection-evidence.ts';
import { maxBodyLength } from './fetch-transport.ts';
import { readQuota } from './quota-header.ts';
import {
  type ExpectedToken,
  type IssuedToken,
  isRefusal,
  readOAuthError,
  readTokenResponse,
} from './token-response.ts';

/** The outcome of a request that got no token. `error`: the name and code of the error if there was no answer. */
export type FailedRequest = Exclude<Answer, { kind: 'issued' }> & {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
};

/** A token, or the outcome of a request that brought none. */
export type TokenRequestResult = ({ readonly kind: 'token'; readonly token: IssuedToken } | FailedRequest) & Quotas;

/** What an answer says of the operator's count: that of this client, and that of all clients of its organization. */
export interface Quotas {
  readonly quota?: readonly Quota[] | undefined;
  readonly organizationQuota?: readonly Quota[] | undefined;
}

const second = 1_000;
const clientQuota = 'auth0-client-quota-limit';
const organizationQuota = 'auth0-organization-quota-limit';

// After a 421, fetch sends the request again by itself. So two requests may have been accepted, and the second answer does not tell.
const misdirected = { kind: 'ambiguous', charge: 2, status: 421 } as const;

// The deadline for the body of an error response. Without it only `oauthError` is unknown.
const errorBodyMs = 2 * second;

const requestHeaders = { accept: 'application/json', 'accept-encoding': 'identity' };

/**
 * Sends a token request, or a probe, once. Resolves with the token or the outcome for the record. Never rejects. `ended`: aborts when the client is
 * closed.
 */
export async function requestToken(
  url: string,
  written: WrittenRequest,
  transport: Transport,
  timeoutMs: number,
  clock: Clock,
  ended?: AbortSignal,
  expected: ExpectedToken = {},
): Promise<TokenRequestResult> {
  // A probe whose body never comes is aborted. The request that follows it is not.
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (ended?.aborted) abort();
  ended?.addEventListener('abort', abort);
  const watch = watchExchange(url);
  let rejection: TokenRequestResult | undefined;

  async function exchange(): Promise<TokenRequestResult | typeof timedOut> {
    const { signal } = controller;
    const headers = { ...requestHeaders, ...written.headers };
    const response = await transport({ url, method: 'POST', headers, body: written.body, signal });
    const text = Promise.resolve(response.body);
    // A status that cannot be read rejects before anybody waits for the body.
    text.catch(() => {});
    if (isSuccess(response)) return interpret(response, await text, clock, expected);
    const reading = within(errorBodyMs, clock, () => text).catch(() => '');
    // The status of a rejection stands, even if its body never comes.
    rejection = interpret(response, '', clock);
    const read = await reading;
    return read === timedOut ? read : interpret(response, read, clock);
  }

  // A transport that ignores its signal has this deadline too.
  const result = await within(timeoutMs, clock, exchange).catch((error: unknown) => failureOf(error, watch, clock));
  watch.end();
  ended?.removeEventListener('abort', abort);
  if (result === timedOut) abort();
  if (watch.hidden === 2) return misdirected;
  const outcome = result === timedOut ? (rejection ?? { kind: 'ambiguous', charge: 1, error: 'TimeoutError' }) : result;
  return outcome.kind === 'released' && watch.hidden ? { ...outcome, kind: 'ambiguous', charge: 1 } : outcome;
}

/**
 * Sends a probe: a request without credentials, to which no token should be issued (RFC 6749 section 3.2.1). Resolves with undefined if the endpoint
 * rejects it, with `issued` if a broker or a certificate of the client adds the credentials, else with the outcome. Never rejects.
 */
export async function probeEndpoint(
  url: string,
  probe: WrittenRequest,
  transport: Transport,
  timeoutMs: number,
  clock: Clock,
  ended?: AbortSignal,
): Promise<FailedRequest | 'issued' | undefined> {
  const result = await requestToken(url, probe, transport, timeoutMs, clock, ended);
  // An operator that says how long to wait means every request.
  if (result.kind === 'released' && result.cause === 'rate_limited') return result;
  // With these reasons there was a token, though of no use.
  const reason = result.kind === 'ambiguous' ? result.reason : undefined;
  if (result.kind === 'token' || reason === 'token_type' || reason === 'expires_in') return 'issued';
  // If the same answer to a token request would be ambiguous, the endpoint does not work yet.
  if (result.kind === 'released' && result.cause !== 'unreachable') return undefined;
  return { ...result, kind: 'released', cause: 'unreachable' };
}

function isSuccess({ status }: TransportResponse): boolean {
  return status >= 200 && status < 300;
}

/** Returns the meaning of an answer, and what it says of the operator's count. */
function interpret(
  response: TransportResponse,
  body: string,
  clock: Clock,
  expected: ExpectedToken = {},
): TokenRequestResult {
  return {
    ...meaningOf(response, body, clock, expected),
    quota: quotaIn(response, clientQuota),
    organizationQuota: quotaIn(response, organizationQuota),
  };
}

/** Returns the meaning of an answer. If a token may have been issued, it counts as issued. */
function meaningOf(
  response: TransportResponse,
  body: string,
  clock: Clock,
  expected: ExpectedToken,
): TokenRequestResult {
  const { status } = response;
  // A transport of one's own may answer anything, and the status is kept in the record.
  if (!Number.isInteger(status) || status < 0 || status > 999)
    return { kind: 'ambiguous', charge: 1, error: 'TypeError INVALID_STATUS' };
  if (isSuccess(response)) {
    if (body.length > maxBodyLength) return { kind: 'ambiguous', charge: 1, status, reason: 'too_large' };
    const token = readTokenResponse(body, headerOf(response, 'content-type') ?? '', expected);
    if (typeof token === 'object') return { kind: 'token', token };
    return isRefusal(body)
      ? { kind: 'released', cause: 'credentials', status, oauthError: readOAuthError(body) }
      : { kind: 'ambiguous', charge: 1, status, reason: token };
  }
  const oauthError = readOAuthError(`${body}`.slice(0, maxBodyLength));
  if (isOfCredentials({ status, code: oauthError }))
    return { kind: 'released', cause: 'credentials', status, oauthError };
  if (status === 429) return { kind: 'released', cause: 'rate_limited', retryAfterMs: resetMs(response, clock) };
  if (status === 421) return misdirected;
  // A gateway may send these answers although the endpoint accepted the request: time-outs, "too early", 5xx and the like.
  if (status === 408 || status === 425 || !(status >= 300 && status < 500)) {
    const toldMs = status === 503 ? retryAfterMs(response, clock) : undefined;
    return { kind: 'ambiguous', charge: 1, status, retryAfterMs: toldMs };
  }
  return { kind: 'released', cause: 'misconfigured', status };
}

function failureOf(error: unknown, watch: ExchangeWatch, clock: Clock): TokenRequestResult {
  if (isServiceAuthError(error) && error.code === 'ERR_TOKEN_RESPONSE') {
    return { kind: 'ambiguous', charge: 1, reason: error.reason };
  }
  const answer = watch.answerIn(error);
  if (answer) return interpret(answer, '', clock);
  const what = describeError(error);
  return watch.neverConnected(error)
    ? { kind: 'released', cause: 'unreachable', error: what }
    : { kind: 'ambiguous', charge: 1, error: what };
}

/** Reads Retry-After (RFC 9110 section 10.2.3) in milliseconds: from a second to 25 hours. Undefined: it is missing or invalid. */
function retryAfterMs(response: TransportResponse, clock: Clock): number | undefined {
  const value = `${headerOf(response, 'retry-after') ?? ''}`.trim();
  let milliseconds = /^\d{1,15}$/.test(value) ? Number(value) * second : Number.NaN;
  if (/^[A-Z][a-z]{2}, /.test(value)) milliseconds = Date.parse(value) - serverNow(response, clock);
  return Number.isNaN(milliseconds) ? undefined : withinBounds(milliseconds);
}

/** Returns how long a 429 lasts: by `Retry-After`, or until the client's windows end of which nothing is left, or by `X-RateLimit-Reset`. Undefined: nothing says so. */
function resetMs(response: TransportResponse, clock: Clock): number | undefined {
  const told = retryAfterMs(response, clock);
  if (told !== undefined) return told;
  const spent = (quotaIn(response, clientQuota) ?? []).filter(([, , remaining]) => remaining === 0);
  if (spent.length > 0) return withinBounds(Math.max(...spent.map(([, , , endsInMs]) => endsInMs)));
  // Auth0, Okta and GitHub send an instant, in seconds since 1970. What a smaller number means differs from server to server.
  const value = `${headerOf(response, 'x-ratelimit-reset') ?? ''}`.trim();
  const inMs = /^\d{10}$/.test(value) ? Number(value) * second - serverNow(response, clock) : 0;
  return inMs > 0 ? withinBounds(inMs) : undefined;
}

/** Returns the time of the server, if the answer has a Date. */
function serverNow(response: TransportResponse, clock: Clock): number {
  const date = Date.parse(headerOf(response, 'date') ?? '');
  return Number.isNaN(date) ? clock.now() : date;
}

function withinBounds(milliseconds: number): number {
  return Math.min(90_000 * second, Math.max(second, Math.ceil(milliseconds)));
}

/** Reads what the operator counts. Undefined: a header of this name is missing, or cannot be understood. It is advice, so it cannot fail a request. */
function quotaIn(response: TransportResponse, name: string): readonly Quota[] | undefined {
  try {
    return readQuota(`${rawHeader(response, name)}`);
  } catch {
    return undefined;
  }
}

function headerOf(response: TransportResponse, name: string): string | undefined {
  const value = rawHeader(response, name);
  return Array.isArray(value) ? value[0] : (value ?? undefined);
}

function rawHeader({ headers }: TransportResponse, name: string): string | string[] | null | undefined {
  if (typeof headers?.get === 'function') return headers.get(name);
  return ownProperty(headers, name) as string | string[] | undefined;
}

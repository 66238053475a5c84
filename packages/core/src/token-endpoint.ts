import type { Clock } from './clock.ts';
import { type ConnectionWatch, watchConnections } from './connection-evidence.ts';
import { isServiceAuthError } from './errors.ts';
import { maxBodyLength } from './fetch-transport.ts';
import { describeForeign, own, ownProperties } from './foreign.ts';
import type { Outcome } from './ledger/settle.ts';
import { timedOut, within } from './pause.ts';
import { type IssuedToken, readOAuthError, readTokenResponse } from './token-response.ts';
import type { Transport, TransportResponse } from './transport.ts';

/** What the token request says (the service's interface, token request body). */
export interface Credentials {
  readonly audience: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** What an attempt counts as that brought no token. `error`: what there was in place of an answer. */
export type FailedRequest = Exclude<Outcome, { kind: 'issued' }> & {
  readonly status?: number | undefined;
  readonly error?: string | undefined;
};

/** A token, or what the attempt counts as. */
export type TokenRequestResult = { readonly kind: 'token'; readonly token: IssuedToken } | FailedRequest;

const second = 1_000;

/** fetch sends a request that is answered 421 once more, so two may have arrived, whatever the second answer says. */
const misdirected = { kind: 'ambiguous', charge: 2, status: 421 } as const;

/** The time for the body of a refusal. The status says all but `oauthError`. */
const errorBodyMs = 2 * second;

const requestHeaders = {
  'content-type': 'application/json',
  accept: 'application/json',
  'accept-encoding': 'identity',
};

/** Sends the token request once, a probe where there are no credentials, and says what the answer, or its absence, means for the ledger. Never rejects. */
export async function requestToken(
  url: string,
  credentials: Credentials | undefined,
  transport: Transport,
  timeoutMs: number,
  clock: Clock,
): Promise<TokenRequestResult> {
  const controller = new AbortController();
  const watch = watchConnections(url);
  let errorResponse: TransportResponse | undefined;

  async function exchange(): Promise<TokenRequestResult> {
    const { signal } = controller;
    const body = credentials ? bodyOf(credentials) : '{}';
    const response = await transport({ url, method: 'POST', headers: requestHeaders, body, signal });
    const { status } = response;
    // A transport of one's own may answer anything, and the status is kept in the record.
    if (!Number.isInteger(status) || status < 0 || status > 999)
      throw Object.assign(new TypeError('status'), { code: 'INVALID_STATUS' });
    if (isSuccess(response)) return interpret(response, await response.body, clock);
    errorResponse = response;
    const text = await within(errorBodyMs, clock, async () => response.body).catch(() => '');
    if (text === timedOut) controller.abort();
    return interpret(response, text === timedOut ? '' : text, clock);
  }

  // The deadline holds for transports that ignore their signal, too.
  const result = await within(timeoutMs, clock, exchange).catch((error: unknown) => failureOf(error, watch));
  watch.end();
  if (result === timedOut) controller.abort();
  if (watch.misdirected()) return misdirected;
  if (result !== timedOut) return result;
  return errorResponse ? interpret(errorResponse, '', clock) : { kind: 'ambiguous', charge: 1, error: 'TimeoutError' };
}

/**
 * Asks without any credentials, to which no token can be issued (RFC 6749 section 3.2.1), whether the token endpoint answers.
 * Resolves with what stands in the way, or undefined. Never rejects.
 */
export async function probeEndpoint(
  url: string,
  transport: Transport,
  timeoutMs: number,
  clock: Clock,
): Promise<FailedRequest | undefined> {
  const result = await requestToken(url, undefined, transport, timeoutMs, clock);
  // What would leave it open whether a token was issued is no answer.
  if (result.kind === 'token' || (result.kind === 'released' && result.cause !== 'unreachable')) return undefined;
  return { kind: 'released', cause: 'unreachable', status: result.status, error: result.error };
}

function bodyOf({ audience, clientId, clientSecret }: Credentials): string {
  // Without a prototype, so that no toJSON put on Object.prototype can replace or read it.
  const body = ownProperties({
    audience,
    grant_type: 'client_credentials',
    client_id: clientId,
    client_secret: clientSecret,
  });
  return JSON.stringify(body);
}

function isSuccess({ status }: TransportResponse): boolean {
  return status >= 200 && status < 300;
}

/** The meaning of every answer. What may have issued a token counts as if it had. */
function interpret(response: TransportResponse, body: string, clock: Clock): TokenRequestResult {
  const { status } = response;
  if (isSuccess(response)) {
    if (body.length > maxBodyLength) return { kind: 'ambiguous', charge: 1, status, reason: 'too_large' };
    const token = readTokenResponse(body, headerOf(response, 'content-type') ?? '');
    return typeof token === 'string'
      ? { kind: 'ambiguous', charge: 1, status, reason: token }
      : { kind: 'token', token };
  }
  if (status === 400 || status === 401 || status === 403) {
    return {
      kind: 'released',
      cause: 'credentials',
      status,
      oauthError: readOAuthError(`${body}`.slice(0, maxBodyLength)),
    };
  }
  if (status === 429) return { kind: 'released', cause: 'rate_limited', retryAfterMs: retryAfterMs(response, clock) };
  if (status === 421) return misdirected;
  // Timeouts, "too early" and everything a gateway may say after the request went through.
  if (status === 408 || status === 425 || !(status >= 300 && status < 500)) {
    return { kind: 'ambiguous', charge: 1, status };
  }
  return { kind: 'released', cause: 'misconfigured', status };
}

function failureOf(error: unknown, watch: ConnectionWatch): TokenRequestResult {
  if (isServiceAuthError(error) && error.code === 'ERR_TOKEN_RESPONSE') {
    return { kind: 'ambiguous', charge: 1, reason: error.reason };
  }
  const what = describeForeign(error);
  return watch.neverConnected(error)
    ? { kind: 'released', cause: 'unreachable', error: what }
    : { kind: 'ambiguous', charge: 1, error: what };
}

/** Retry-After (RFC 9110 section 10.2.3) between a second and 25 hours; undefined when it is unusable. */
function retryAfterMs(response: TransportResponse, clock: Clock): number | undefined {
  const value = `${headerOf(response, 'retry-after') ?? ''}`.trim();
  let milliseconds = /^\d{1,15}$/.test(value) ? Number(value) * second : Number.NaN;
  if (/^[A-Z][a-z]{2}, /.test(value)) {
    // A date is compared with the server's own clock where it is known.
    const date = Date.parse(headerOf(response, 'date') ?? '');
    milliseconds = Date.parse(value) - (Number.isNaN(date) ? clock.now() : date);
  }
  return Number.isNaN(milliseconds) ? undefined : Math.min(90_000 * second, Math.max(second, milliseconds));
}

function headerOf({ headers }: TransportResponse, name: string): string | undefined {
  if (typeof headers?.get === 'function') return headers.get(name) ?? undefined;
  const value = own(headers, name) as string | string[] | undefined;
  return Array.isArray(value) ? value[0] : value;
}

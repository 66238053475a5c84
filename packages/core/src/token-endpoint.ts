import type { Clock } from './clock.ts';
import { isServiceAuthError } from './errors.ts';
import { longestBody } from './fetch-transport.ts';
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

/** A token, or what the attempt counts as. `error`: what there was in place of an answer. */
export type TokenRequestResult =
  | { readonly kind: 'token'; readonly token: IssuedToken }
  | (Exclude<Outcome, { kind: 'issued' }> & { readonly status?: number | undefined; readonly error?: string });

const second = 1_000;

/**
 * Codes of errors that come before the first byte of a request is written: nothing was issued.
 * Node's system and TLS errors, undici's connect errors, Bun's names.
 */
const unsentCodes =
  /^(ECONNREFUSED|ENOTFOUND|EAI_[A-Z]+|EHOSTUNREACH|ENETUNREACH|EHOSTDOWN|EADDRNOTAVAIL|UND_ERR_CONNECT_TIMEOUT|CERT_[A-Z_]+|[A-Z_]*SELF_SIGNED_CERT[A-Z_]*|UNABLE_TO_[A-Z_]+|ERR_TLS_[A-Z_]+|HOSTNAME_MISMATCH|ConnectionRefused)$/;
/** The same from Deno, which has no codes: the address, and that it was not connected to. */
const unsentMessage = /\): client error \(Connect\): /;

/** Sends the token request once and says what the answer, or its absence, means for the ledger. Never rejects. */
export async function requestToken(
  url: string,
  credentials: Credentials,
  transport: Transport,
  timeoutMs: number,
  clock: Clock,
): Promise<TokenRequestResult> {
  const headers = { 'content-type': 'application/json', accept: 'application/json', 'accept-encoding': 'identity' };
  try {
    const body = bodyOf(credentials);
    // The deadline holds for transports that ignore their signal, too.
    const response = await within(timeoutMs, clock, async (signal) =>
      transport({ url, method: 'POST', headers, body, signal }),
    );
    return response === timedOut ? { kind: 'ambiguous', charge: 1, error: 'TimeoutError' } : interpret(response, clock);
  } catch (error) {
    return failureOf(error);
  }
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

/** The meaning of every answer. What may have issued a token counts as if it had. */
function interpret(response: TransportResponse, clock: Clock): TokenRequestResult {
  const { status, body } = response;
  if (status >= 200 && status < 300) {
    if (body.length > longestBody) return { kind: 'ambiguous', charge: 1, status, reason: 'too_large' };
    const token = readTokenResponse(body, headerOf(response, 'content-type') ?? '');
    return typeof token === 'string'
      ? { kind: 'ambiguous', charge: 1, status, reason: token }
      : { kind: 'token', token };
  }
  if (status === 400 || status === 401 || status === 403) {
    return { kind: 'released', cause: 'credentials', status, oauthError: readOAuthError(body.slice(0, longestBody)) };
  }
  if (status === 429) return { kind: 'released', cause: 'rate_limited', retryAfterMs: retryAfterMs(response, clock) };
  // fetch sends a request again when it is answered 421, so two may have arrived.
  if (status === 421) return { kind: 'ambiguous', charge: 2, status };
  // Timeouts, "too early" and everything a gateway may say after the request went through.
  if (status === 408 || status === 425 || !(status >= 300 && status < 500)) {
    return { kind: 'ambiguous', charge: 1, status };
  }
  return { kind: 'released', cause: 'misconfigured', status };
}

function failureOf(error: unknown): TokenRequestResult {
  if (isServiceAuthError(error) && error.code === 'ERR_TOKEN_RESPONSE') {
    return { kind: 'ambiguous', charge: 1, reason: error.reason };
  }
  const unsent = [error, own(error, 'cause')].some((candidate) => {
    const [code, message] = [own(candidate, 'code'), own(candidate, 'message')];
    return (
      (typeof code === 'string' && unsentCodes.test(code)) ||
      (typeof message === 'string' && unsentMessage.test(message))
    );
  });
  const what = describeForeign(error);
  return unsent
    ? { kind: 'released', cause: 'unreachable', error: what }
    : { kind: 'ambiguous', charge: 1, error: what };
}

/** Retry-After (RFC 9110 section 10.2.3) between a second and 25 hours; undefined when it is unusable. */
function retryAfterMs(response: TransportResponse, clock: Clock): number | undefined {
  const value = headerOf(response, 'retry-after')?.trim() ?? '';
  let milliseconds = /^\d{1,15}$/.test(value) ? Number(value) * second : Number.NaN;
  if (/^[A-Z][a-z]{2}, /.test(value)) {
    // A date is compared with the server's own clock where it is known.
    const date = Date.parse(headerOf(response, 'date') ?? '');
    milliseconds = Date.parse(value) - (Number.isNaN(date) ? clock.now() : date);
  }
  return Number.isNaN(milliseconds) ? undefined : Math.min(90_000 * second, Math.max(second, milliseconds));
}

function headerOf({ headers }: TransportResponse, name: string): string | undefined {
  if (typeof headers.get === 'function') return headers.get(name) ?? undefined;
  const value = own(headers, name) as string | string[] | undefined;
  return Array.isArray(value) ? value[0] : value;
}

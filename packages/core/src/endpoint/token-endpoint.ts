import type { WrittenRequest } from '../contract/client-authentication.ts';
import { isServiceAuthError } from '../contract/errors.ts';
import type { QuotaOwner } from '../contract/events.ts';
import type { Transport, TransportResponse } from '../contract/transport.ts';
import type { Quota } from '../ledger/record.ts';
import { second } from '../ledger/units.ts';
import type { Clock } from '../platform/clock.ts';
import { timedOut, within } from '../platform/pause.ts';
import { describeError } from '../platform/untrusted.ts';
import { type Meaning, meaningOf } from './meaning-of.ts';
import { headerOf, readQuota } from './response-headers.ts';
import type { ExpectedToken } from './token-response.ts';
import { answerIn, neverConnected } from './transport-error.ts';

/** A token, or the outcome of a request that brought none. */
export type TokenRequestResult = Meaning & Quotas;

/**
 * The provider's count as an answer states it: for this client, and for all clients of its
 * organization.
 */
export interface Quotas {
  readonly quota?: readonly Quota[] | undefined;
  readonly organizationQuota?: readonly Quota[] | undefined;
}

/** The headers with the provider's figures. */
const quotaHeaders: Readonly<Record<QuotaOwner, string>> = {
  client: 'auth0-client-quota-limit',
  organization: 'auth0-organization-quota-limit',
};

// The deadline for the body of an error response. Without it only `oauthError` is unknown.
const errorBodyMs = 2 * second;

const requestHeaders = { accept: 'application/json', 'accept-encoding': 'identity' };

/** The token endpoint, how a request gets there, and the token that is expected. */
export interface TokenEndpoint extends ExpectedToken {
  readonly tokenUrl: string;
  readonly transport: Transport;
  /** The deadline, from connecting to the last byte. */
  readonly timeoutMs: number;
  readonly clock: Clock;
}

/**
 * Sends a token request once. Resolves with the token, or with the outcome for the record. Never
 * rejects. `ended`: aborts when the client is closed.
 */
export async function requestToken(
  written: WrittenRequest,
  endpoint: TokenEndpoint,
  ended?: AbortSignal,
): Promise<TokenRequestResult> {
  const { tokenUrl: url, transport, timeoutMs, clock } = endpoint;
  const controller = new AbortController();
  const abort = () => controller.abort();
  if (ended?.aborted) abort();
  ended?.addEventListener('abort', abort);
  let rejection: TokenRequestResult | undefined;

  async function send(): Promise<TokenRequestResult | typeof timedOut> {
    const { signal } = controller;
    const headers = { ...requestHeaders, ...written.headers };
    const response = await transport({ url, method: 'POST', headers, body: written.body, signal });
    const text = Promise.resolve(response.body);
    // A status that cannot be read rejects before anybody waits for the body.
    text.catch(() => {});
    if (isSuccess(response)) return interpret(response, await text, clock, endpoint);
    const reading = within(errorBodyMs, clock, () => text).catch(() => '');
    // The status of a rejection is enough, even if its body never comes.
    rejection = interpret(response, '', clock);
    const read = await reading;
    return read === timedOut ? read : interpret(response, read, clock);
  }

  // A transport that ignores its signal has this deadline too.
  const result = await within(timeoutMs, clock, send).catch((error: unknown) => failureOf(error, clock));
  ended?.removeEventListener('abort', abort);
  if (result === timedOut) abort();
  return result === timedOut ? (rejection ?? { kind: 'ambiguous', error: 'TimeoutError' }) : result;
}

function isSuccess({ status }: TransportResponse): boolean {
  return status >= 200 && status < 300;
}

/** Returns the meaning of an answer, and the provider's figures in it. */
function interpret(
  response: TransportResponse,
  body: string,
  clock: Clock,
  expected: ExpectedToken = {},
): TokenRequestResult {
  const quota = readQuota(headerOf(response, quotaHeaders.client));
  return {
    ...meaningOf(response, body, clock, expected, quota),
    quota,
    organizationQuota: readQuota(headerOf(response, quotaHeaders.organization)),
  };
}

function failureOf(error: unknown, clock: Clock): TokenRequestResult {
  if (isServiceAuthError(error) && error.code === 'ERR_TOKEN_RESPONSE') {
    return { kind: 'ambiguous', reason: error.reason };
  }
  const what = describeError(error);
  // A proxy's refusal may come with the status of the proxy, so this check comes first.
  if (neverConnected(error)) return { kind: 'released', cause: 'unreachable', error: what };
  const answer = answerIn(error);
  return answer ? interpret(answer, '', clock) : { kind: 'ambiguous', error: what };
}

import { type AnyServiceAuthError, serviceAuthError, type TokenResponseReason } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { defaultTransport, isDirect } from '../endpoint/fetch-transport.ts';
import { jsonAuthentication } from '../endpoint/json-request.ts';
import type { FailedRequest } from '../endpoint/meaning-of.ts';
import { roomIn } from '../ledger/count.ts';
import type { Denial } from '../ledger/decide.ts';
import { isAboutClient, isOutageCode, type OAuthErrorCode } from '../ledger/oauth-error.ts';
import { type Asker, holdsOf } from '../ledger/pace.ts';
import type { Hint } from '../ledger/record.ts';
import type { Answer } from '../ledger/settle.ts';
import type { Clock } from '../platform/clock.ts';
import { environmentProxy } from '../platform/environment-proxy.ts';
import { toLocalTime, type View } from '../record/view.ts';
import type { Wait } from './running-attempt.ts';

/**
 * Returns the denial that follows from a failed request. `view`: the record with its outcome.
 * `asker`: the process that sent it.
 */
export function denialAfter(answer: Answer, view: View, asker: Asker): Denial {
  const released = answer.kind === 'released' ? answer.cause : 'unreachable';
  const cause = released === 'unreachable' || released === 'unavailable' ? 'backoff' : released;
  // The error of the next caller names the limit.
  const all = holdsOf(view, asker, 'cold').filter(({ kind }) => kind !== 'limit');
  const retryAt = Math.max(view.now, ...all.map(({ until }) => until));
  const holds = all.filter(({ kind }) => kind === cause).sort((one, other) => other.until - one.until);
  const { last, count = 0 } = holds[0] ?? {};
  return { cause, retryAt, reason: 'cold', count, last: hintOf(answer) ?? last };
}

/**
 * Returns the outcome of this request. The record may have the outcome of another request that
 * failed later.
 */
function hintOf(answer: Answer): Denial['last'] {
  if (answer.kind === 'ambiguous') return { kind: 'unknown', at: 0, status: answer.status, code: answer.reason };
  if (answer.kind !== 'released') return undefined;
  if (answer.cause === 'unreachable') return { kind: 'unreached', at: 0, status: answer.status };
  return { kind: 'refused', at: 0, status: answer.status, code: answer.oauthError };
}

/** Facts about a request of this process that the record lacks. */
export type Details = Pick<FailedRequest, 'error' | 'tokenType'>;

/** Creates the error of a denial. `details`: facts about the request that failed just now. */
export function errorOf(settings: Settings, denial: Denial, view: View, details?: Details): AnyServiceAuthError {
  const { clock, authentication } = settings;
  const { last } = denial;
  const retryAt = toLocalTime(denial.retryAt, view, clock);
  const when = new Date(retryAt).toISOString();
  switch (denial.cause) {
    case 'credentials': {
      const { status: endpointStatus = 0, code } = last ?? {};
      const oauthError = code as OAuthErrorCode | undefined;
      const about = isAboutClient({ status: endpointStatus, code }) ? 'client' : 'request';
      const answer = oauthError ? `${endpointStatus} ${oauthError}` : `${endpointStatus}`;
      const [credential, options] = authentication.usesSecret
        ? ['secret', 'clientId and clientSecret']
        : ['credential', 'clientId, issuer, and the key, the assertion or the certificate of the client'];
      const [what, where] =
        about === 'client' ? ['the credentials', options] : ['this request', 'scope, and what the client may have'];
      const message = `The token endpoint rejected ${what} (${answer}). Check audience, ${where}; a changed ${credential} is tried at once, this one at ${when}.${hintFor(settings, endpointStatus)}`;
      return serviceAuthError('ERR_CREDENTIALS_REJECTED', message, { about, endpointStatus, oauthError, retryAt });
    }
    case 'rate_limited': {
      const { status = 429 } = last ?? {};
      const later = status === 429 ? '' : ' and said that the request may succeed later';
      const message = `The token endpoint answered ${status}${later}. Look for programs that use this clientId without this store; the next attempt is possible at ${when}.`;
      return serviceAuthError('ERR_RATE_LIMITED', message, { retryAt });
    }
    case 'full': {
      const message = `The record has no room for the token of another audience, so no request was sent. Use fewer audiences for one client id, or a store that keeps larger records (maxRecordBytes); there may be room at ${when}.`;
      return serviceAuthError('ERR_STORE', message, { retryAt, reason: 'full' });
    }
    case 'misconfigured':
    case 'backoff':
      return backoffError(last, retryAt, when, settings, details);
    case 'deaths': {
      const message = `Several processes were killed, or froze, during a token request, and each of these counts as a token. Let a process run for longer than timeoutMs before you stop it; the next attempt is possible at ${when}.`;
      return serviceAuthError('ERR_TOKEN_ENDPOINT', message, { endpointStatus: undefined, ambiguous: true, retryAt });
    }
    case 'rejections': {
      const message = `The API answered 401 to tokens of this audience. Renewals after that are spaced; the next one is possible at ${when}.`;
      return serviceAuthError('ERR_TOKEN_REJECTED', message, { retryAt });
    }
    case 'renewal': {
      const message = `The last renewal brought no later expiry; the next one is possible at ${when}.`;
      return serviceAuthError('ERR_TOKEN_RESPONSE', message, { reason: 'expires_in', retryAt });
    }
    default:
      denial.cause satisfies 'limit';
      return limitError(denial, retryAt, when, view, settings);
  }
}

/**
 * Says what to try if a server may have wanted another kind of request. A server with an `authUrl`
 * wants JSON.
 */
function hintFor({ addressedBy, authentication }: Settings, status: number | undefined): string {
  const isGuess = addressedBy === 'tokenEndpoint' && authentication === jsonAuthentication;
  return isGuess && (status === 400 || status === 415)
    ? ' The request was JSON. Most servers want a form: give a clientAuthentication (SERVICE_AUTH_CLIENT_AUTHENTICATION).'
    : '';
}

// The errors of a server that was not reached. A missing proxy is no cause of other errors.
const unreached = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|UNREACH|TIMEDOUT|TIMEOUT|TimeoutError/;

/**
 * Says whether a proxy of the environment may be the cause of a failed connection. The transport of
 * an application may have another proxy.
 */
function proxyRemark({ transport, tokenUrl }: Settings, foreign: string | undefined): string {
  if (!foreign || transport !== defaultTransport || isDirect(new URL(tokenUrl))) return '';
  const proxy = environmentProxy(tokenUrl);
  return proxy && (proxy.isUsed || unreached.test(foreign)) ? ` ${proxy.remark}` : '';
}

function limitError(
  { enforced, reason }: Denial,
  retryAt: number,
  when: string,
  view: View,
  { clock, store }: Settings,
): AnyServiceAuthError {
  const room = enforced && roomIn(view, enforced, reason);
  const { term, used = 0, own = true, newRecord: restriction } = room ?? {};
  const { tokens: limit = 0, usable = 0, windowMs = 0, counts } = term ?? {};
  const newRecord = restriction && {
    allowed: restriction.allowed,
    until: toLocalTime(restriction.endsAt, view, clock),
  };
  const [what, may] =
    counts === 'requests'
      ? ['requests, refused ones among them,', 'requests may be sent']
      : ['tokens', 'tokens may be issued'];
  // Some tokens are kept for resets.
  const kept = used < usable ? ' The rest is kept for more urgent purposes, such as reset().' : '';
  // The number alone would look like the number of spent tokens.
  const why = newRecord
    ? `The record is new, so until ${new Date(newRecord.until).toISOString()} only ${newRecord.allowed} of ${limit} ${may}. No request was sent. If you know how many it has not seen, say so: service-auth record spent N --reason TEXT.`
    : `The limit is reached: ${used} of ${usable} usable ${what} are spent (limit ${limit} in ${lengthOf(windowMs)}), so no request was sent.${kept}`;
  // The program cannot read the memory of another process.
  const who = store.durability === 'process' ? 'getUsage()' : 'service-auth explain';
  const stated = own ? '' : ' Another process of the fleet states this limit; give all of them the same issuanceLimit.';
  const message = `${why} ${who} names who spent them.${stated} The next one is possible at ${when}.`;
  return serviceAuthError('ERR_ISSUANCE_LIMIT', message, { retryAt, limit, used, usable, windowMs, newRecord });
}

function lengthOf(windowMs: number): string {
  const [unit, name] =
    windowMs % 3_600_000 === 0 ? [3_600_000, 'h'] : windowMs % 60_000 === 0 ? [60_000, 'min'] : [1_000, 's'];
  return `${windowMs / unit} ${name}`;
}

/** True if a request of this outcome may have brought a token. */
const mayHaveIssued: Readonly<Record<Hint['kind'], boolean>> = {
  unreached: false,
  unknown: true,
  died: true,
  refused: false,
};

function backoffError(
  last: Partial<Hint> | undefined,
  retryAt: number,
  when: string,
  settings: Settings,
  details: Details = {},
): AnyServiceAuthError {
  const { addressedBy, timeoutMs } = settings;
  const { kind, status, code } = last ?? {};
  const ambiguous = kind !== undefined && mayHaveIssued[kind];
  if (kind === 'unknown' && code !== undefined) {
    const reason = code as TokenResponseReason;
    const message = `The token endpoint's answer ${flawOf(reason, details)}. A token was counted; the next attempt is possible at ${when}.`;
    return serviceAuthError('ERR_TOKEN_RESPONSE', message, { reason, retryAt });
  }
  const { error } = details;
  const silence =
    error === 'TimeoutError'
      ? `did not answer in time (timeoutMs is ${timeoutMs})`
      : `could not be reached or did not answer${error ? ` (${error})` : ''}`;
  const isOutage = isOutageCode(code);
  const answer = isOutage ? `says that it is out of order (${status} ${code})` : `answered ${status}`;
  const counted = ambiguous ? ' A token may have been issued, so one was counted.' : ' Nothing was counted.';
  const check = isOutage ? 'Ask its provider' : `Check ${addressedBy} and the endpoint`;
  const hint = isOutage ? '' : hintFor(settings, status);
  const message = `The token endpoint ${status === undefined ? silence : answer}.${counted}${isOutage ? '' : proxyRemark(settings, error)} ${check}; the next attempt is possible at ${when}.${hint}`;
  return serviceAuthError('ERR_TOKEN_ENDPOINT', message, { endpointStatus: status, ambiguous, retryAt });
}

/** Says what is wrong with an answer of 2xx, and what to do about it. */
function flawOf(reason: TokenResponseReason, { tokenType }: Details): string {
  if (reason === 'cached') return 'is an old token, so a cache is probably answering: exclude token requests from it';
  if (reason !== 'token_type') return `is no usable bearer token (${reason}): check the endpoint`;
  const type = tokenType === undefined ? 'not Bearer' : `"${tokenType}", not Bearer`;
  return `is no usable bearer token: its token_type is ${type}. If the API accepts it as a bearer token, name this type in recognizedTokenTypes (SERVICE_AUTH_TOKEN_TYPES)`;
}

/** Creates the error of a token that expired before it arrived. */
export function expiredOnArrival(): Error {
  const message = 'The token expired before it arrived. Check the expires_in that the token endpoint sends.';
  return serviceAuthError('ERR_TOKEN_RESPONSE', message, { reason: 'expires_in', retryAt: undefined });
}

/** Creates the error of a client that was closed. */
export function closedError(): Error {
  return serviceAuthError('ERR_CLOSED', 'This client was closed. Create another one.', {});
}

// A token endpoint hardly ever takes as long, so a process that has waited for it for this time is
// probably gone.
const longMs = 10_000;

/** Creates the error of a caller whose time ended while the attempt to get a token goes on. */
export function tokenPending({ waitsFor, process, since, until }: Wait, clock: Clock): AnyServiceAuthError {
  const [now, waitedMs] = [clock.now(), Math.max(0, clock.monotonic() - since)];
  const startedAt = Math.round(now - waitedMs);
  const asksAt = until === undefined ? undefined : Math.round(now + until - clock.monotonic());
  const waited = `${(waitedMs / 1_000).toFixed(1)} s`;
  const what: Readonly<Record<Wait['waitsFor'], string>> = {
    token_endpoint: `the token endpoint has not answered for ${waited}`,
    process: `another process, ${process ?? 'unknown'}, has been asking since ${new Date(startedAt).toISOString()} (${waited}). If it died, this one asks at ${new Date(asksAt ?? now).toISOString()}`,
    store: `the store has not answered for ${waited}`,
    client_secret: `the function for clientSecret, or clientAuthentication, has not answered for ${waited}`,
  };
  const message = `The caller's time ended before there was a token: ${what[waitsFor]}. The attempt goes on.`;
  const retryAt = waitedMs >= longMs ? asksAt : undefined;
  return serviceAuthError('ERR_TOKEN_PENDING', message, { waitsFor, process, startedAt, retryAt });
}

/**
 * Creates the error of a caller that waited too long. `longest`: the wait that took the most time.
 */
export function waitedTooLong(
  waitedMs: number,
  [waitsFor, ms]: readonly [Wait['waitsFor'], number],
  retryAt: number,
): AnyServiceAuthError {
  const seconds = (length: number) => `${Math.round(length / 1_000)} s`;
  const what: Readonly<Record<Wait['waitsFor'], string>> = {
    token_endpoint: 'requests to the token endpoint',
    process: 'other processes, which could not get one,',
    store: 'the store',
    client_secret: 'the function for clientSecret, or clientAuthentication,',
  };
  const message = `Gave up waiting for a token after ${seconds(waitedMs)}: ${what[waitsFor]} took ${seconds(ms)} of them. Try again at ${new Date(retryAt).toISOString()}.`;
  return serviceAuthError('ERR_TOKEN_ENDPOINT', message, { endpointStatus: undefined, ambiguous: false, retryAt });
}

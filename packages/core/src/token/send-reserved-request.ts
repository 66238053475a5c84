import type { WrittenRequest } from '../contract/client-authentication.ts';
import type { TokenResponseReason } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import type { FailedRequest } from '../endpoint/meaning-of.ts';
import { requestToken } from '../endpoint/token-endpoint.ts';
import { type LedgerRecord, reasonOf, resetUpTo, tokenOf } from '../ledger/record.ts';
import { instantOf } from '../platform/clock.ts';
import { maxElapsedMs } from '../platform/instant.ts';
import type { View } from '../record/record-access.ts';
import { fingerprintOf } from '../record/seal.ts';
import { isAlive } from './cached-token.ts';
import type { ClientParts } from './client-parts.ts';
import type { FlightResult } from './flight.ts';
import { isRepeated, repeatedAnswer } from './repeated-answer.ts';
import { reportIssuance, reportQuota } from './report-issuance.ts';
import type { ReservedRequest } from './reserved-request.ts';
import type { Wait } from './running-flight.ts';
import { denialAfter, errorOf, expiredOnArrival } from './token-errors.ts';
import type { UsableToken } from './usable-token.ts';

/** Sends the reserved request. Undefined: it came too late, or the token was reset on its way. */
export async function sendReservedRequest(
  parts: ClientParts,
  reserved: ReservedRequest,
): Promise<FlightResult | undefined> {
  if (isLate(parts, reserved)) return withdraw(parts, reserved);
  const written = await write(parts, reserved);
  return isLate(parts, reserved) ? withdraw(parts, reserved) : send(parts, reserved, written);
}

function begin({ settings }: ClientParts, { flight }: ReservedRequest, waitsFor: Wait['waitsFor']): void {
  flight.onWait({ waitsFor, since: settings.clock.monotonic() });
}

/** Writes the request. If that fails, nothing is sent and nothing is counted. */
async function write(parts: ClientParts, reserved: ReservedRequest): Promise<WrittenRequest> {
  begin(parts, reserved, 'client_secret');
  try {
    return withHeaders(parts.settings, await parts.secrets.write(reserved.secret, parts.sendWithinMs / 2));
  } catch (error) {
    await withdraw(parts, reserved);
    throw error;
  }
}

/** Adds the headers of the option. Those of the client authentication win. */
function withHeaders({ headers }: Settings, written: WrittenRequest): WrittenRequest {
  return { ...written, headers: { ...headers, ...written.headers } };
}

/**
 * Returns whether more than `sendWithinMs` has passed since the reservation, by any clock, or the client was closed. The machine may have slept, or the store may
 * have been slow. A late request must not be sent.
 */
function isLate(parts: ClientParts, { reserved, view, begunAt }: ReservedRequest): boolean {
  const { settings, sendWithinMs, request } = parts;
  const now = instantOf(settings.clock);
  const confirmedAfterMs = view.now - reserved.at;
  const elapsedMs = Math.max(maxElapsedMs(begunAt, now), confirmedAfterMs + maxElapsedMs(view.readAt, now));
  return elapsedMs > sendWithinMs || request.signal.aborted;
}

async function withdraw({ settlement }: ClientParts, { reserved, view }: ReservedRequest): Promise<undefined> {
  await settlement.enter(reserved, { kind: 'unsent' }, view);
}

/** Sends the one request of a reservation. Undefined: its token was reset on its way. */
async function send(
  parts: ClientParts,
  request: ReservedRequest,
  written: WrittenRequest,
): Promise<FlightResult | undefined> {
  const { settings, settlement, usableTokens } = parts;
  const { clock, tokenUrl, transport, timeoutMs } = settings;
  const { flight, secret, reserved, view } = request;
  const { name, keyId, generation } = reserved;
  const sentAt = instantOf(clock);
  begin(parts, request, 'token_endpoint');
  const answer = await requestToken(tokenUrl, written, transport, timeoutMs, clock, parts.request.signal, settings);
  const durationMs = clock.monotonic() - sentAt.monotonic;
  begin(parts, request, 'store');
  const hash = answer.kind === 'token' ? await fingerprintOf(answer.token.value).catch(() => undefined) : undefined;
  const repeats = answer.kind === 'token' && isRepeated(answer.token, hash, sentAt, request);
  const result = repeats ? repeatedAnswer : answer;
  if (result.kind !== 'token') return failed(parts, request, result, durationMs);
  const token = await usableTokens.stored(reserved, result.token, view, secret.key, hash);
  const { secretId } = secret.key;
  const settled = await settlement.enter(reserved, { kind: 'issued', token, secretId, quota: result.quota }, view);
  const usable = usableTokens.issued(reserved, result.token, sentAt);
  reportIssuance(settings, reasonOf(reserved), usable, result.token, settled, durationMs);
  reportQuota(parts, result, reserved, settled);
  const { record } = settled;
  if (resetUpTo(record, name) >= generation) return undefined;
  // The new token expires before the one that it was to replace.
  const present = tokenOf(record, name, keyId);
  const isVain = flight.reason === 'refresh' && present !== undefined && present.id === flight.cached?.token.id;
  if (isVain) return keepUntil(parts, present.renewAfter ?? 0, settled);
  if (!isAlive(usable, instantOf(clock))) throw expiredOnArrival();
  return { kind: 'token', usable, before: isGood(record, name, flight.cached) };
}

/** Returns whether a token was not reset. */
export function isGood(record: LedgerRecord, name: string, token: UsableToken | undefined): boolean {
  return token !== undefined && token.generation > resetUpTo(record, name);
}

/** Settles a request that brought no token. Rejects, or keeps the cached token. */
async function failed(
  parts: ClientParts,
  { flight, reserved, view, secret }: ReservedRequest,
  result: FailedRequest,
  durationMs: number,
): Promise<FlightResult> {
  const { settings, settlement } = parts;
  const { secretId } = secret.key;
  const settled = await settlement.enter(reserved, { ...result, secretId }, view);
  const denial = denialAfter(result, settled, { ...reserved, secretId }, settings.limits);
  const { status, error, tokenType } = result;
  // An endpoint may repeat the secret anywhere.
  const repeats = secret.value !== '' && tokenType?.includes(secret.value);
  const failure = errorOf(settings, denial, settled, { error, tokenType: repeats ? undefined : tokenType });
  const { code, retryAt } = failure;
  const ambiguous = result.kind === 'ambiguous';
  const reason = ambiguous ? (result.reason as TokenResponseReason | undefined) : undefined;
  settings.emit('token_request_failed', { code, status, error, reason, ambiguous, retryAt, durationMs });
  reportQuota(parts, result, reserved, settled);
  if (flight.reason === 'cold' || flight.reason === 'expired') throw failure;
  return keepUntil(parts, denial.retryAt, settled);
}

/** Keeps the cached token. `at`: an instant of the record from which another token is possible. The agreement may change, so the process asks again within an hour. */
export function keepUntil({ settings: { clock } }: ClientParts, at: number, view: View): FlightResult {
  return { kind: 'keep', retryAt: clock.monotonic() + Math.min(Math.max(0, at - view.now), 3_600_000) };
}

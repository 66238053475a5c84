import { isAlive } from './cached-token.ts';
import { instantOf } from './clock.ts';
import type { TokenResponseReason } from './errors.ts';
import { maxElapsedMs } from './instant.ts';
import { audienceStateOf } from './ledger/record.ts';
import type { FlightResult } from './memory.ts';
import { isRepeated, repeatedAnswer } from './repeated-answer.ts';
import { reportIssuance } from './reports.ts';
import { fingerprintOf } from './seal.ts';
import { type FailedRequest, probeEndpoint, requestToken } from './token-endpoint.ts';
import { denialAfter, errorOf, expiredOnArrival } from './token-errors.ts';
import { keepUntil, type ReservedRequest, type Work } from './work.ts';

/** Sends the reserved request. Undefined: it was too late for it, a probe got the token, or the token was reset on its way. */
export async function requestReserved(work: Work, reserved: ReservedRequest): Promise<FlightResult | undefined> {
  const { tokenUrl, transport, clock } = work.settings;
  if (isLate(work, reserved)) return withdraw(work, reserved);
  const probedAt = clock.monotonic();
  const outage = reserved.probesFirst && (await probeEndpoint(tokenUrl, transport, work.sendWithinMs / 2, clock));
  if (outage === 'issued') return withdraw(work, reserved, true);
  if (outage) return failed(work, reserved, outage, clock.monotonic() - probedAt);
  return isLate(work, reserved) ? withdraw(work, reserved) : send(work, reserved);
}

/** Returns whether more than `sendWithinMs` has passed since the reservation, by any clock. The machine may have slept, or the store may have been slow. A late request must not be sent. */
function isLate({ settings, sendWithinMs }: Work, { reservation, view, begunAt }: ReservedRequest): boolean {
  const now = instantOf(settings.clock);
  const confirmedAfterMs = view.now - reservation.entry.at;
  return Math.max(maxElapsedMs(begunAt, now), confirmedAfterMs + maxElapsedMs(view.readAt, now)) > sendWithinMs;
}

async function withdraw(
  { settlement }: Work,
  { reservation, view }: ReservedRequest,
  probed?: boolean,
): Promise<undefined> {
  await settlement.enter(reservation, { kind: 'unsent', probed }, view);
}

/** Sends the one request of a reservation. Undefined: its token was reset on its way. */
async function send(work: Work, reserved: ReservedRequest): Promise<FlightResult | undefined> {
  const { settings, settlement, usableTokens } = work;
  const { audience, clientId, clock, tokenUrl } = settings;
  const { flight, secret, reservation, generation, view } = reserved;
  const sentAt = instantOf(clock);
  const credentials = { audience, clientId, clientSecret: secret.value };
  const answer = await requestToken(tokenUrl, credentials, settings.transport, settings.timeoutMs, clock);
  const durationMs = clock.monotonic() - sentAt.monotonic;
  const hash = answer.kind === 'token' ? await fingerprintOf(answer.token.value).catch(() => undefined) : undefined;
  const repeats = answer.kind === 'token' && isRepeated(answer.token, hash, sentAt, reserved);
  const result = repeats ? repeatedAnswer : answer;
  if (result.kind !== 'token') {
    // If a probe came first, the endpoint answered it. Otherwise no request would have followed.
    const outcome = result.kind === 'ambiguous' ? { ...result, answered: reserved.probesFirst } : result;
    return failed(work, reserved, outcome, durationMs);
  }
  const { entry, keyId } = reservation;
  const token = await usableTokens.stored(entry.id, generation, result.token, view, secret.key);
  const settled = await settlement.enter(reservation, { kind: 'issued', token, hash }, view);
  const usable = usableTokens.issued(entry.id, generation, result.token, sentAt);
  reportIssuance(settings, entry.reason, usable, result.token, settled, durationMs);
  const state = audienceStateOf(settled.record, audience, keyId);
  if (state.revoked >= generation) return undefined;
  // The new token expires before the one that it was to replace.
  const inVain = flight.reason === 'refresh' && state.token?.id === flight.cached?.token.id;
  if (inVain) return keepUntil(work, state.renewAfter, settled);
  if (!isAlive(usable, instantOf(clock))) throw expiredOnArrival();
  return { kind: 'token', usable };
}

/** Settles a request that brought no token. Rejects, or keeps the cached token. */
async function failed(
  work: Work,
  { flight, reservation, view }: ReservedRequest,
  result: FailedRequest,
  durationMs: number,
): Promise<FlightResult> {
  const { settings, settlement } = work;
  const { audience, limits } = settings;
  const { keyId, secretId } = reservation;
  const settled = await settlement.enter(reservation, result, view);
  const denial = denialAfter(result, settled, { audience, keyId, secretId }, limits);
  const { status, error } = result;
  const failure = errorOf(settings, denial, settled, keyId, error);
  const { code, retryAt } = failure;
  const ambiguous = result.kind === 'ambiguous';
  const reason = ambiguous ? (result.reason as TokenResponseReason | undefined) : undefined;
  settings.emit('token_request_failed', { code, status, error, reason, ambiguous, retryAt, durationMs });
  if (flight.reason === 'cold' || flight.reason === 'expired') throw failure;
  return keepUntil(work, denial.retryAt, settled);
}

import type { WrittenRequest } from '../contract/client-authentication.ts';
import type { AnyServiceAuthError, TokenResponseReason } from '../contract/errors.ts';
import type { QuotaOwner } from '../contract/events.ts';
import type { Settings } from '../contract/settings.ts';
import type { FailedRequest } from '../endpoint/meaning-of.ts';
import { type Quotas, requestToken } from '../endpoint/token-endpoint.ts';
import type { IssuedToken } from '../endpoint/token-response.ts';
import { roomsIn, tightest } from '../ledger/count.ts';
import { foreignIn } from '../ledger/quota.ts';
import {
  type IssuanceReason,
  type LedgerRecord,
  type Quota,
  reasonOf,
  resetUpTo,
  type Spent,
  stateOf,
  tokenOf,
} from '../ledger/record.ts';
import { second } from '../ledger/units.ts';
import { instantOf } from '../platform/clock.ts';
import { type Instant, maxElapsedMs } from '../platform/instant.ts';
import { warn } from '../platform/warn.ts';
import { fingerprintOf } from '../record/seal.ts';
import type { View } from '../record/view.ts';
import { isAlive, type UsableToken } from './cached-token.ts';
import type { CurrentSecret } from './client-secret.ts';
import type { AttemptResult } from './memory.ts';
import type { AttemptInput, ClientParts, Wait } from './running-attempt.ts';
import { denialAfter, errorOf, expiredOnArrival } from './token-errors.ts';

/** A token request that is reserved in the record. */
export interface Reservation {
  readonly attempt: AttemptInput;
  readonly secret: CurrentSecret;
  readonly reserved: Spent;
  readonly view: View;
  /** The moment just before the read of the record on which the reservation was written. */
  readonly begunAt: Instant;
  /** True if the record has a token that this process could not open. */
  readonly couldNotOpen: boolean;
}

/**
 * Sends the reserved request. Undefined: the request was too late, or its token was reset before it
 * arrived.
 */
export async function sendRequest(parts: ClientParts, reservation: Reservation): Promise<AttemptResult | undefined> {
  if (isLate(parts, reservation)) return withdraw(parts, reservation);
  const written = await write(parts, reservation);
  return isLate(parts, reservation) ? withdraw(parts, reservation) : send(parts, reservation, written);
}

function begin({ settings }: ClientParts, { attempt }: Reservation, waitsFor: Wait['waitsFor']): void {
  attempt.onWait({ waitsFor, since: settings.clock.monotonic() });
}

/** Writes the request. If that fails, nothing is sent and nothing is counted. */
async function write(parts: ClientParts, reservation: Reservation): Promise<WrittenRequest> {
  begin(parts, reservation, 'client_secret');
  try {
    return withHeaders(parts.settings, await parts.secrets.write(reservation.secret, parts.sendWithinMs / 2));
  } catch (error) {
    await withdraw(parts, reservation);
    throw error;
  }
}

/** Adds the headers of the option. The headers of the client authentication win. */
function withHeaders({ headers }: Settings, written: WrittenRequest): WrittenRequest {
  return { ...written, headers: { ...headers, ...written.headers } };
}

/**
 * Returns whether more than `sendWithinMs` has passed since the reservation, by any clock, or the
 * client was closed. The machine may have slept, or the store may have been slow. A late request
 * must not be sent.
 */
function isLate(parts: ClientParts, { reserved, view, begunAt }: Reservation): boolean {
  const { settings, sendWithinMs, request } = parts;
  const now = instantOf(settings.clock);
  const confirmedAfterMs = view.now - reserved.at;
  const elapsedMs = Math.max(maxElapsedMs(begunAt, now), confirmedAfterMs + maxElapsedMs(view.readAt, now));
  return elapsedMs > sendWithinMs || request.signal.aborted;
}

async function withdraw({ settlement }: ClientParts, { reserved, view }: Reservation): Promise<undefined> {
  await settlement.enter(reserved, { kind: 'unsent' }, view);
}

/** Sends the one request of a reservation. Undefined: its token was reset before it arrived. */
async function send(
  parts: ClientParts,
  reservation: Reservation,
  written: WrittenRequest,
): Promise<AttemptResult | undefined> {
  const { settings, settlement, usableTokens } = parts;
  const { clock } = settings;
  const { attempt, secret, reserved, view } = reservation;
  const { name, keyId, generation } = reserved;
  const sentAt = instantOf(clock);
  begin(parts, reservation, 'token_endpoint');
  const answer = await requestToken(written, settings, parts.request.signal);
  const durationMs = clock.monotonic() - sentAt.monotonic;
  begin(parts, reservation, 'store');
  const hash = answer.kind === 'token' ? await fingerprintOf(answer.token.value).catch(() => undefined) : undefined;
  const repeats = answer.kind === 'token' && isRepeated(answer.token, hash, sentAt, reservation);
  const result = repeats ? repeatedAnswer : answer;
  if (result.kind !== 'token') return failed(parts, reservation, result, durationMs);
  const token = await usableTokens.stored(reserved, result.token, view, secret.key, hash);
  const { secretId } = secret.key;
  const settledView = await settlement.enter(reserved, { kind: 'issued', token, secretId, quota: result.quota }, view);
  const usable = usableTokens.issued(reserved, result.token, sentAt);
  reportIssuance(settings, reasonOf(reserved), usable, result.token, settledView, durationMs);
  reportQuota(parts, result, reserved, settledView);
  const { record } = settledView;
  if (resetUpTo(record, name) >= generation) return undefined;
  // The new token expires before the token that it was to replace.
  const present = tokenOf(record, name, keyId);
  const isVain = attempt.reason === 'refresh' && present !== undefined && present.id === attempt.cached?.token.id;
  if (isVain) return keepUntil(parts, present.renewAfter ?? 0, settledView);
  if (!isAlive(usable, instantOf(clock))) throw expiredOnArrival();
  return { kind: 'token', usable, before: isGood(record, name, attempt.cached) };
}

/** Returns whether a token was not reset. */
export function isGood(record: LedgerRecord, name: string, token: UsableToken | undefined): boolean {
  return token !== undefined && token.generation > resetUpTo(record, name);
}

/** Settles a request that brought no token. Rejects, or keeps the cached token. */
async function failed(
  parts: ClientParts,
  { attempt, reserved, view, secret }: Reservation,
  result: FailedRequest,
  durationMs: number,
): Promise<AttemptResult> {
  const { settings, settlement } = parts;
  const { secretId } = secret.key;
  const settledView = await settlement.enter(reserved, { ...result, secretId }, view);
  const denial = denialAfter(result, settledView, { ...reserved, secretId });
  const { status, error, tokenType } = result;
  // An endpoint may repeat the secret anywhere.
  const repeats = secret.value !== '' && tokenType?.includes(secret.value);
  const failure = errorOf(settings, denial, settledView, { error, tokenType: repeats ? undefined : tokenType });
  const { code, retryAt } = failure;
  const ambiguous = result.kind === 'ambiguous';
  const reason = ambiguous ? (result.reason as TokenResponseReason | undefined) : undefined;
  settings.emit('token_request_failed', { code, status, error, reason, ambiguous, retryAt, durationMs });
  reportQuota(parts, result, reserved, settledView);
  if (attempt.reason === 'cold' || attempt.reason === 'expired') throw failure;
  return keepUntil(parts, denial.retryAt, settledView);
}

/**
 * Keeps the cached token. `at`: an instant of the record from which another token is possible. The
 * agreement may change, so the process asks again within an hour.
 */
export function keepUntil({ settings: { clock } }: ClientParts, at: number, view: View): AttemptResult {
  return { kind: 'keep', retryAt: clock.monotonic() + Math.min(Math.max(0, at - view.now), 3_600_000) };
}

/**
 * The outcome of an answer that repeats a token. A cache may have answered, so it is unknown
 * whether the endpoint received the request.
 */
const repeatedAnswer = { kind: 'ambiguous', reason: 'cached' } as const;

/**
 * Returns whether an answer repeats a token that the fleet has already, or a token that was reset.
 * An endpoint may return one token until it expires, with the life that it has left. A cache
 * repeats the whole lifetime, so the token would seem to expire later. A process that could not
 * open the token in the record needs that token, so for such a process only a reset token is a
 * repetition.
 */
function isRepeated(
  { lifetimeMs }: IssuedToken,
  hash: string | undefined,
  sentAt: Instant,
  { attempt: { reason }, view: { record, now, readAt }, reserved: { name, keyId }, couldNotOpen }: Reservation,
): boolean {
  if (hash === undefined) return false;
  const { resetUpTo = 0, resetHash } = stateOf(record, name);
  if (resetHash === hash) return true;
  // Only the clock of the store counts, because the clocks of this machine may have been set.
  const expiresAt = now + sentAt.monotonic - readAt.monotonic + lifetimeMs;
  // An endpoint may round `expires_in` up by a second.
  const mayRepeat = (until: number) => couldNotOpen || (reason !== 'rejected' && expiresAt - second < until);
  return record.tokens.some(({ expiredBy = 0, ...token }) => {
    if (token.name !== name || token.hash !== hash) return false;
    return token.generation <= resetUpTo || (token.keyId === keyId && !mayRepeat(expiredBy));
  });
}

/** Reports a token that was issued to this process. `view`: the record with it. */
function reportIssuance(
  { clientId, emit }: Settings,
  reason: IssuanceReason,
  { token }: UsableToken,
  { warnings, missingScope }: IssuedToken,
  view: View,
  durationMs: number,
): void {
  const { used, term } = tightest(roomsIn(view, reason));
  const { id: tokenId, expiresAt } = token;
  const { usable } = term;
  const missing = missingScope ? { missingScope } : {};
  emit('token_issued', { reason, tokenId, expiresAt, used, usable, warnings, ...missing, durationMs });
  if (missingScope) warn(`The token for ${clientId} lacks the scope ${missingScope}.`, 'SERVICE_AUTH_MISSING_SCOPE');
}

/**
 * Reports the provider's figures in the answer to a request. `view`: the record with the request.
 * While the outcome is not written, other processes may know of more tokens.
 */
function reportQuota(
  { settings: { emit, clock }, sharedRecord }: ClientParts,
  { quota = [], organizationQuota = [] }: Quotas,
  reserved: Spent,
  { record, now }: View,
): void {
  const askedAt = record.spent.find(({ id }) => id === reserved.id)?.at ?? reserved.at;
  const isWritten = !sharedRecord.unsettled?.has(reserved);
  const said: Readonly<Record<QuotaOwner, readonly Quota[]>> = { client: quota, organization: organizationQuota };
  for (const [of, figures] of Object.entries(said) as [QuotaOwner, readonly Quota[]][]) {
    for (const figure of figures) {
      const { windowMs, tokens, remaining, endsInMs } = figure;
      const foreign = of === 'client' && isWritten ? foreignIn(record, figure, askedAt, now) : undefined;
      emit('quota_observed', { of, windowMs, tokens, remaining, resetAt: clock.now() + endsInMs, foreign });
    }
  }
}

/**
 * Reports a denial by the limit, or one that a limit which is not enforced would have caused.
 * `error`: the error of the denial.
 */
export function reportDenial(
  { emitRepeated }: Settings,
  reason: IssuanceReason,
  error: AnyServiceAuthError,
  type: 'issuance_refused' | 'issuance_over_limit' = 'issuance_refused',
): void {
  if (error.code !== 'ERR_ISSUANCE_LIMIT') return;
  const { retryAt, limit, used, usable, windowMs, newRecord } = error;
  emitRepeated(type, { reason, retryAt, limit, used, usable, windowMs, newRecord }, reason);
}

import type { AccessToken } from './access-token.ts';
import { cachedAnswer, isFromCache } from './cached-answer.ts';
import { isAlive, type UsableToken } from './cached-token.ts';
import type { ClientSecretSource, CurrentSecret } from './client-secret.ts';
import { instantOf } from './clock.ts';
import type { ServiceAuthError, TokenResponseReason } from './errors.ts';
import { type Instant, maxElapsedMs } from './instant.ts';
import { type Ask, confirms, type Denial, decide } from './ledger/decide.ts';
import { latestGeneration, revoke } from './ledger/generations.ts';
import { spent } from './ledger/limits.ts';
import { audienceStateOf, type IssuanceReason } from './ledger/record.ts';
import type { Reservation } from './ledger/settle.ts';
import type { Settings } from './options.ts';
import { pause, untilDone } from './pause.ts';
import { randomId } from './seal.ts';
import type { Settlement } from './settlement.ts';
import { type SharedLedger, toLocalTime, type View } from './shared-ledger.ts';
import { type FailedRequest, probeEndpoint, requestToken, type TokenRequestResult } from './token-endpoint.ts';
import { denialAfter, denialError, expiredOnArrival, waitedTooLong } from './token-errors.ts';
import type { IssuedToken } from './token-response.ts';
import { createUsableTokens } from './usable-token.ts';

/** A request of the client for a token. */
interface TokenRequest {
  readonly reason: Exclude<IssuanceReason, 'reset'>;
  /** False: only read whether the fleet has a newer token. */
  readonly mayIssue: boolean;
  /** The token in memory. With the reasons `refresh` and `rejected` it can be kept. */
  readonly cached: UsableToken | undefined;
  /** Tokens that this process has had, whatever became of them: none of them is a new one. */
  readonly known: readonly (AccessToken | undefined)[];
  /** Ids of tokens that must not be used. */
  readonly unusable: Ask['unusable'];
  /** Tokens up to this generation were reset here. */
  readonly revoked: number;
  /** Called when a read of the record showed that the cached token is still good: the fleet neither reset nor replaced it. */
  readonly onRead: (at: Instant) => void;
}

/** The result of a request. `keep`: keep the cached token; another one is possible after `retryAt`, a monotonic instant. `drop`: the cached token was reset. */
type TokenResult =
  | { readonly kind: 'token'; readonly usable: UsableToken }
  | { readonly kind: 'keep'; readonly retryAt: number }
  | { readonly kind: 'drop' };

/** Gets tokens from the record or from the token endpoint. */
export interface TokenAcquisition {
  /** Gets a token. Rejects with the errors of `getToken()`. */
  acquire(request: TokenRequest, signal: AbortSignal): Promise<TokenResult>;
  /** Writes that all tokens of this audience are compromised. Resolves with the generation up to which they are. */
  reset(cached: UsableToken | undefined): Promise<number>;
}

interface Attempt {
  readonly request: TokenRequest;
  readonly secret: CurrentSecret;
  readonly reservation: Reservation;
  readonly generation: number;
  readonly view: View;
  /** The moment just before the read of the record that allowed the attempt. */
  readonly begunAt: Instant;
  /** Whether a probe must be answered before the request is sent. */
  readonly probesFirst: boolean;
}

// The store needs up to two calls of 2 seconds before a request, and as many after it.
const storeCallsMs = 4_000;

/** Creates the acquisition: load, decide, swap, send, settle, swap. The functions in `ledger/` decide. It has no memory between calls. */
export function createTokenAcquisition(
  settings: Settings,
  ledger: SharedLedger,
  settlement: Settlement,
  secrets: ClientSecretSource,
): TokenAcquisition {
  const { audience, clientId, clock, emit, instance, limits, timeoutMs, tokenUrl } = settings;
  const usableTokens = createUsableTokens(settings);
  // The lease covers three steps: sending the request, its answer, and settling. With a short `timeoutMs` all of them have short deadlines.
  const deadlineMs = Math.max(storeCallsMs, timeoutMs);
  const sendWithinMs = Math.min(10_000, deadlineMs);
  const leaseMs = sendWithinMs + timeoutMs + Math.min(20_000, deadlineMs);

  async function acquire(request: TokenRequest, signal: AbortSignal): Promise<TokenResult> {
    const secret = await (request.mayIssue ? secrets.ask() : secrets.last());
    const { id: keyId, secretId } = secret.key;
    const cached = request.cached && { id: request.cached.token.id, generation: request.cached.generation };
    const asker = { audience, keyId, secretId, cached, instance, leaseMs };
    let ask: Ask = { ...request, ...asker, unreadable: false, id: randomId() };
    let waitedMs = 0;

    for (let pauseMs = 25; ; pauseMs = Math.min(2_000, pauseMs * 1.6)) {
      signal.throwIfAborted();
      await settlement.enterUnsettled();
      const begunAt = instantOf(clock);
      // A caller that only reads has a cached token, so one try is enough.
      let view = await ledger.load(request.mayIssue ? 2 : 1);
      const { readAt } = view;
      let decision = decide(view.record, view.now, ask, limits);
      if (decision.kind === 'write') {
        const swapped = await ledger.swap(view, decision.record);
        if (swapped) {
          view = swapped;
          decision = decide(view.record, view.now, ask, limits);
        }
      }
      if (confirms(decision, ask.cached)) request.onRead(readAt);
      switch (decision.kind) {
        case 'use': {
          const usable = await usableTokens.opened(decision.token, view, secret.key);
          if (usable) return { kind: 'token', usable };
          ask = { ...ask, unusable: [...ask.unusable, decision.token.id], unreadable: true };
          continue;
        }
        case 'admitted': {
          const { entry, generation, probesFirst } = decision;
          const reservation = { entry, keyId, secretId };
          const result = await perform({ request, secret, reservation, generation, view, probesFirst, begunAt });
          if (result) return result;
          ask = { ...ask, id: randomId() };
          break;
        }
        case 'keep': {
          const { denial, retryAt } = decision;
          if (denial?.cause === 'limit') reportDenial(request.reason, denial, view);
          return keepUntil(retryAt, view);
        }
        case 'drop':
          return { kind: 'drop' };
        case 'deny':
          if (decision.denial.cause === 'limit') reportDenial(decision.reason, decision.denial, view);
          throw errorOf(decision.denial, view, keyId);
      }
      // Others are asking, or came first; or the store was too slow for a request, or its clocks differ.
      const until = decision.kind === 'wait' ? decision.until : view.now + pauseMs;
      if (waitedMs > 3 * leaseMs) throw waitedTooLong(toLocalTime(until, view, clock));
      waitedMs += await waited(Math.min(pauseMs, until - view.now + 1), signal);
    }
  }

  /** Waits, and resolves with the time that it waited. Time in which the event loop stood still does not count. */
  async function waited(delayMs: number, signal: AbortSignal): Promise<number> {
    const from = clock.monotonic();
    await pause(clock, delayMs, signal);
    return Math.min(clock.monotonic() - from, 1.5 * delayMs + 1);
  }

  /** Sends the reserved request. Undefined: it was too late for it, or the token was reset on its way. */
  async function perform(attempt: Attempt): Promise<TokenResult | undefined> {
    if (isLate(attempt)) return withdraw(attempt);
    const outage = attempt.probesFirst && (await probeEndpoint(tokenUrl, settings.transport, sendWithinMs / 2, clock));
    if (outage) return failed(attempt, outage);
    return isLate(attempt) ? withdraw(attempt) : send(attempt);
  }

  /** Returns whether the machine slept, or found its reservation late: it must not send then. The later of both clocks and the store's time count. */
  function isLate({ reservation, view, begunAt }: Attempt): boolean {
    const now = instantOf(clock);
    const foundLateMs = view.now - reservation.entry.at;
    return Math.max(maxElapsedMs(begunAt, now), foundLateMs + maxElapsedMs(view.readAt, now)) > sendWithinMs;
  }

  /** Sends the one request of a reservation. Undefined: its token was reset on its way. */
  async function send(attempt: Attempt): Promise<TokenResult | undefined> {
    const { request, secret, reservation, generation, view } = attempt;
    const sentAt = instantOf(clock);
    const credentials = { audience, clientId, clientSecret: secret.value };
    const answer = await requestToken(tokenUrl, credentials, settings.transport, timeoutMs, clock);
    const result = (await isRepeated(attempt, answer, sentAt)) ? cachedAnswer : answer;
    const { entry, keyId } = reservation;
    if (result.kind === 'token') {
      const token = await usableTokens.stored(entry.id, generation, result.token, view, secret.key);
      const settled = await settlement.enter(reservation, { kind: 'issued', token }, view);
      const usable = usableTokens.issued(entry.id, generation, result.token, sentAt);
      reportIssuance(entry.reason, usable, result.token, settled);
      const state = audienceStateOf(settled.record, audience, keyId);
      if (state.revoked >= generation) return undefined;
      // The new token expires before the one that it was to replace.
      const inVain = request.reason === 'refresh' && state.token?.id === request.cached?.token.id;
      if (inVain) return keepUntil(state.renewAfter, settled);
      if (!isAlive(usable, instantOf(clock))) throw expiredOnArrival();
      return { kind: 'token', usable };
    }
    return failed(attempt, result.kind === 'ambiguous' ? { ...result, answered: attempt.probesFirst } : result);
  }

  async function isRepeated(
    { request, secret, reservation, view }: Attempt,
    answer: TokenRequestResult,
    sentAt: Instant,
  ) {
    const { token } = audienceStateOf(view.record, audience, reservation.keyId);
    const stored = token && (await usableTokens.opened(token, view, secret.key));
    const renewed = request.reason === 'refresh' ? request.cached?.token : undefined;
    return answer.kind === 'token' && isFromCache(answer.token, [...request.known, stored?.token], renewed, sentAt);
  }

  /** Settles a request that brought no token. Rejects, or keeps the cached token. */
  async function failed({ request, reservation, view }: Attempt, result: FailedRequest): Promise<TokenResult> {
    const { keyId } = reservation;
    const settled = await settlement.enter(reservation, result, view);
    const denial = denialAfter(result, settled.record, audienceStateOf(settled.record, audience, keyId));
    const { status, error } = result;
    const failure = errorOf(denial, settled, keyId, error);
    const { code, retryAt } = failure;
    const reason = result.kind === 'ambiguous' ? (result.reason as TokenResponseReason | undefined) : undefined;
    emit('token_request_failed', { code, status, error, reason, ambiguous: result.kind === 'ambiguous', retryAt });
    if (request.reason === 'cold' || request.reason === 'expired') throw failure;
    return keepUntil(denial.retryAt, settled);
  }

  async function withdraw({ reservation, view }: Attempt): Promise<undefined> {
    await settlement.enter(reservation, { kind: 'unsent' }, view);
  }

  async function reset(cached: UsableToken | undefined): Promise<number> {
    const { key } = await secrets.last();
    const { record } = await untilDone(clock, async () => {
      const view = await ledger.load();
      const latest = latestGeneration(view.record, audience, view.now);
      return ledger.swap(view, revoke(view.record, audience, key.id, Math.max(latest, cached?.generation ?? 0)));
    });
    return audienceStateOf(record, audience, key.id).revoked;
  }

  /** Keeps the cached token. `at`: an instant of the ledger from which another token is possible. */
  function keepUntil(at: number, view: View): TokenResult {
    return { kind: 'keep', retryAt: clock.monotonic() + Math.max(0, at - view.now) };
  }

  function reportIssuance(reason: IssuanceReason, { token }: UsableToken, { warnings }: IssuedToken, view: View): void {
    const { used } = spent(view.record);
    const { id: tokenId, expiresAt } = token;
    emit('token_issued', { reason, tokenId, expiresAt, used, usable: limits.usable, warnings });
  }

  function reportDenial(reason: IssuanceReason, { retryAt }: Denial, view: View): void {
    const { used } = spent(view.record);
    emit('issuance_refused', { reason, retryAt: toLocalTime(retryAt, view, clock), limit: limits.limit, used });
  }

  function errorOf(denial: Denial, view: View, keyId: string, foreign?: string): ServiceAuthError {
    const state = audienceStateOf(view.record, audience, keyId);
    return denialError(denial, view.record, state, limits, toLocalTime(denial.retryAt, view, clock), foreign);
  }

  return { acquire, reset };
}

import type { AccessToken } from './access-token.ts';
import { type Instant, instantOf, longestSince } from './clock.ts';
import { serviceAuthError } from './errors.ts';
import type { ServiceAuthEventFields } from './events.ts';
import { type Flight, takeOff } from './flight.ts';
import { type HeldToken, holdToken, isAlive, sleptMs } from './held-token.ts';
import { createIssuer, type Grant, type Want } from './issuer.ts';
import { resolveOptions, type ServiceAuthOptions } from './options.ts';
import { raced, within } from './pause.ts';
import { createSharedLedger } from './shared-ledger.ts';
import type { GetTokenOptions, TokenSource } from './token-source.ts';
import { type Usage, usageOf } from './usage.ts';

/** A client of the service: one audience, one client id, one budget. */
export interface ServiceAuth extends TokenSource {
  /**
   * This client's token is compromised. Once this resolves, no `getToken()` of this process returns it, and none in the fleet 30 seconds later.
   * The service itself accepts it until it expires or the operator revokes it.
   * @throws `ERR_STORE` when the fleet could not be told; this process has dropped the token all the same
   */
  reset(): Promise<void>;
  /**
   * What of the limit is spent, by whom, when and why. Reads the store, issues nothing.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`, `ERR_CLOSED`
   */
  getUsage(): Promise<Usage>;
  /** Ends all waits with `ERR_CLOSED`. A token request under way gets up to 2 seconds to be recorded. */
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

const second = 1_000;
const minute = 60 * second;
/** The record is read again this long after the last time, while callers go on … */
const lookAgainMs = 25 * second;
/** … but before a token is handed out that was not looked up for so long: whatever was reset is dropped in the whole fleet within 30 seconds. */
const lookFirstMs = 28 * second;
const retryMs = 5 * second;
const closeWithinMs = 2 * second;

/**
 * Creates the client. Nothing is sent or read before the first `getToken()`, and no timer is left running: callers set off renewals ahead of
 * expiry, and do not wait for them.
 * @throws `ERR_CONFIG` with all problems of the options
 */
export function createServiceAuth(options: ServiceAuthOptions): ServiceAuth {
  const settings = resolveOptions(options);
  const { clock, emit, limits } = settings;
  const ledger = createSharedLedger(settings);
  const issuer = createIssuer(settings, ledger);

  let held: HeldToken | undefined;
  // Within this second of the wall clock the held token is handed out unasked: a machine that slept, or a clock that was set, is outside of it.
  let unaskedFrom = 0;
  let unaskedUntil = 0;
  // One asks whether the fleet has something newer, or reset the token; the other gets a token. A look never waits for the token endpoint.
  let look: Flight | undefined;
  let issue: Flight | undefined;
  let lookedAt: Instant = { monotonic: 0, wall: 0 };
  // Monotonic instants.
  let lookAt = 0;
  let renewalRetryAt = 0;
  let rejectionRetryAt = 0;
  // What reset() ended, whatever the store says later.
  let compromised: string | undefined;
  let revoked = 0;
  let reported: ServiceAuthEventFields['token_rejected'] | undefined;
  let closed = false;

  function getToken(options?: GetTokenOptions): Promise<AccessToken> {
    const signal = options?.signal;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const now = clock.now();
    if (held && now >= unaskedFrom && now < unaskedUntil) return held.promise;
    // Once the wall clock has left the span, setting it back must not lead into it again.
    unaskedUntil = 0;
    if (!isUsable(held) || mustLookFirst()) return obtain(signal);
    takeCareOf(held);
    trustFrom(now, held);
    return held.promise;
  }

  async function obtain(signal: AbortSignal | undefined): Promise<AccessToken> {
    for (;;) {
      if (closed) throw closedError();
      if (!isUsable(held)) await raced(startIssue(reasonToIssue()), signal);
      // With a usable token a look that failed is no reason to fail: it is reported as an event.
      else if (mustLookFirst()) await raced(startLook().catch(ignore), signal);
      else {
        takeCareOf(held);
        return held.promise;
      }
    }
  }

  function reasonToIssue(): Want['reason'] {
    return !held ? 'cold' : held.rejected ? 'rejected' : 'expired';
  }

  function startIssue(reason: Want['reason']): Promise<void> {
    issue ??= takeOff(
      (signal) => fly(reason, true, signal),
      () => {
        issue = undefined;
      },
    );
    return issue.landed;
  }

  function startLook(): Promise<void> {
    look ??= takeOff(
      (signal) => fly('refresh', false, signal),
      () => {
        look = undefined;
      },
    );
    return look.landed;
  }

  function isUsable(token: HeldToken | undefined): token is HeldToken {
    return token !== undefined && !closed && !token.rejected && isAlive(token, clock);
  }

  function mustLookFirst(): boolean {
    return longestSince(lookedAt, clock) > lookFirstMs;
  }

  /** Sets off what is due, for nobody to wait for. */
  function takeCareOf(token: HeldToken): void {
    const now = clock.monotonic();
    if (now >= Math.max(token.renewAt, renewalRetryAt)) startIssue('refresh');
    if (now >= lookAt) startLook();
  }

  function trustFrom(now: number, token: HeldToken): void {
    const until = Math.min(lookAt, token.usableUntil - sleptMs(token, clock), Math.max(token.renewAt, renewalRetryAt));
    unaskedFrom = now;
    unaskedUntil = now + Math.min(second, until - clock.monotonic());
  }

  /** Looks for a token and keeps it. Fulfilled without one when the held token goes on, or was reset. */
  async function fly(reason: Want['reason'], mayIssue: boolean, signal: AbortSignal): Promise<void> {
    const before = held;
    const slept = before ? sleptMs(before, clock) : 0;
    if (before && slept > before.reportedSleepMs) {
      before.reportedSleepMs = slept + minute;
      emit('clock_anomaly', { clock: 'machine', byMs: Math.round(slept) });
    }
    // A store in this process slept as well and cannot tell that the token expired meanwhile.
    const unfit = before && (reason === 'rejected' || (slept > 0 && settings.store.durability === 'process'));
    const unusable = [compromised, unfit ? before.token.id : undefined].filter((id) => id !== undefined);
    try {
      const got = await issuer.acquire({ reason, held: before, unusable, mayIssue, onLook }, signal);
      if (got.kind === 'token') keep(got.grant);
      if (got.kind === 'drop' && held === before) drop();
      if (got.kind === 'keep' && reason === 'rejected') goOnWith(before, got.retryAt);
      if (got.kind === 'keep' && mayIssue) renewalRetryAt = Math.max(got.retryAt, clock.monotonic() + retryMs);
    } catch (error) {
      const retryAt = clock.monotonic() + retryMs;
      onLook(instantOf(clock));
      lookAt = retryAt;
      if (mayIssue) renewalRetryAt = retryAt;
      if (reason === 'rejected' && before && isAlive(before, clock)) goOnWith(before, retryAt);
      else throw error;
    }
  }

  function onLook(at: Instant): void {
    lookedAt = at;
    lookAt = at.monotonic + lookAgainMs;
  }

  function keep(grant: Grant): void {
    const { token, generation, adopted } = grant;
    // Reset while it was on its way.
    if (token.id === compromised || generation <= revoked) return;
    const before = held;
    const same = before?.token.id === token.id;
    // After sleep, or what looks like it, the store's word on the expiry counts anew.
    if (same && isUsable(before) && sleptMs(before, clock) === 0) return;
    const next = holdToken(grant);
    if (!adopted && !isAlive(next, clock)) throw deadOnArrival();
    held = next;
    unaskedUntil = 0;
    if (adopted && !same) emit('token_adopted', { tokenId: token.id, expiresAt: token.expiresAt });
  }

  function drop(): void {
    held = undefined;
    unaskedUntil = 0;
  }

  /** No other token is to be had: the rejected one is handed out on, and its next rejections are ignored for a while. */
  function goOnWith(token: HeldToken | undefined, retryAt: number): void {
    if (token) token.rejected = false;
    rejectionRetryAt = retryAt;
  }

  function peekToken(): AccessToken | undefined {
    const now = clock.now();
    if (held && now >= unaskedFrom && now < unaskedUntil) return held.token;
    return isUsable(held) && (!mustLookFirst() || settings.store.durability === 'process') ? held.token : undefined;
  }

  async function invalidate(token: AccessToken): Promise<void> {
    const current = held?.token.authorization === token.authorization ? held : undefined;
    const outcome: ServiceAuthEventFields['token_rejected']['outcome'] = !current
      ? 'replaced'
      : clock.monotonic() < rejectionRetryAt
        ? 'kept'
        : 'renew';
    if (current && outcome === 'renew') {
      current.rejected = true;
      unaskedUntil = 0;
    }
    // Once for all requests that were answered alike: a failing API must not flood the listener.
    if (reported?.tokenId === token.id && reported.outcome === outcome) return;
    reported = { tokenId: token.id, outcome };
    emit('token_rejected', reported);
  }

  async function reset(): Promise<void> {
    if (closed) throw closedError();
    const before = held;
    compromised = before?.token.id ?? compromised;
    drop();
    revoked = await issuer.reset(before);
    // One that a flight brought in the meantime.
    if (held && held.generation <= revoked) drop();
  }

  async function getUsage(): Promise<Usage> {
    if (closed) throw closedError();
    return usageOf(await ledger.load(), limits, clock);
  }

  async function close(): Promise<void> {
    closed = true;
    drop();
    const flights = [look, issue].filter((flight) => flight !== undefined);
    for (const flight of flights) flight.end(closedError());
    await within(closeWithinMs, clock, () => Promise.allSettled(flights.map(({ done }) => done)));
  }

  return {
    covers: settings.covers,
    getToken,
    peekToken,
    invalidate,
    reset,
    getUsage,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function ignore(): void {}

function deadOnArrival(): Error {
  const message = 'The token expired before it arrived. Check the expires_in that the token endpoint sends.';
  return serviceAuthError('ERR_TOKEN_RESPONSE', message, { reason: 'expires_in', retryAt: undefined });
}

function closedError(): Error {
  return serviceAuthError('ERR_CLOSED', 'This client was closed; create another one.', {});
}

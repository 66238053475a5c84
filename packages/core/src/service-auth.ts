import type { AccessToken } from './access-token.ts';
import { serviceAuthError } from './errors.ts';
import { type HeldToken, holdToken, isAlive, sleptMs } from './held-token.ts';
import { createIssuer, type Grant, type Want } from './issuer.ts';
import { resolveOptions, type ServiceAuthOptions } from './options.ts';
import { raced } from './pause.ts';
import { createSharedLedger } from './shared-ledger.ts';
import { type Usage, usageOf } from './usage.ts';

/** Options of {@link TokenSource.getToken}. */
export interface GetTokenOptions {
  /** Ends this caller's wait, and nobody else's: rejects with the signal's `reason`. */
  signal?: AbortSignal | undefined;
}

/** What an HTTP adapter needs of a {@link ServiceAuth}. */
export interface TokenSource {
  /** Whether the token may be sent to `url` (absolute): its origin and path lie within `baseUrl`. Always false without `baseUrl`. */
  covers(url: string | URL): boolean;
  /**
   * A token with at least 60 seconds of life left (a tenth of its lifetime, if that is less).
   * @throws any of the errors in `docs/errors.md`; the reason of `signal` when that aborts
   */
  getToken(options?: GetTokenOptions): Promise<AccessToken>;
  /** The token that `getToken()` would return without asking anybody; undefined if it would have to ask. No I/O. */
  peekToken(): AccessToken | undefined;
  /**
   * The API answered 401 to `token`. The next `getToken()` returns a newer token of the fleet if there is one, or has one issued if the spacing
   * of such renewals allows it (1, 2, 4 … 60 minutes, fleet-wide), or else returns the same token again. Never rejects.
   */
  invalidate(token: AccessToken): Promise<void>;
}

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
/** The record is read again this long after the last time, while callers go on … */
const lookAgainMs = 25 * second;
/** … but before a token is handed out that was not looked up for so long: whatever was reset is dropped in the whole fleet. */
const lookFirstMs = 30 * second;
const retryLookMs = 5 * second;
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
  // Within this span of the wall clock the held token is handed out unasked. It is short: a clock that steps, or a machine that slept, is outside.
  let unaskedFrom = 0;
  let unaskedUntil = 0;
  // Monotonic instants.
  let lookedAt = 0;
  let lookAt = 0;
  let renewalRetryAt = 0;
  let rejectionRetryAt = 0;
  let flight: { landed: Promise<void>; done: Promise<void>; controller: AbortController } | undefined;
  let compromised: string | undefined;
  let revoked = { keyId: '', generation: 0 };
  let closed = false;

  function getToken(options?: GetTokenOptions): Promise<AccessToken> {
    const signal = options?.signal;
    if (signal?.aborted) return Promise.reject(signal.reason);
    const now = clock.now();
    if (held && now >= unaskedFrom && now < unaskedUntil) return held.promise;
    if (!isUsable(held) || mustLookFirst()) return obtain(signal);
    lookIfDue(held);
    trustFrom(now, held);
    return held.promise;
  }

  async function obtain(signal: AbortSignal | undefined): Promise<AccessToken> {
    for (let looked = false; ; looked = true) {
      if (closed) throw closedError();
      const usable = isUsable(held) ? held : undefined;
      if (usable && (looked || !mustLookFirst())) return usable.promise;
      flight ??= takeOff(usable ? 'refresh' : !held ? 'cold' : held.rejected ? 'rejected' : 'expired');
      // With a usable token a look that failed is no reason to fail: it is reported as an event.
      await raced(usable ? flight.landed.catch(() => {}) : flight.landed, signal);
    }
  }

  function isUsable(token: HeldToken | undefined): token is HeldToken {
    return token !== undefined && !closed && !token.rejected && isAlive(token, clock);
  }

  function mustLookFirst(): boolean {
    return clock.monotonic() - lookedAt > lookFirstMs;
  }

  function isRenewalDue(token: HeldToken): boolean {
    return clock.monotonic() >= Math.max(token.renewAt, renewalRetryAt);
  }

  function lookIfDue(token: HeldToken): void {
    if (!flight && (clock.monotonic() >= lookAt || isRenewalDue(token))) flight = takeOff('refresh');
  }

  function trustFrom(now: number, token: HeldToken): void {
    const until = Math.min(lookAt, token.usableUntil, Math.max(token.renewAt, renewalRetryAt));
    unaskedFrom = now;
    unaskedUntil = now + until - clock.monotonic();
  }

  function takeOff(reason: Want['reason']): NonNullable<typeof flight> {
    const controller = new AbortController();
    const done = fly(reason, controller.signal).finally(() => {
      flight = undefined;
    });
    const landed = raced(done, controller.signal);
    // A look that nobody waits for must not end the process when it fails.
    landed.catch(() => {});
    return { landed, done, controller };
  }

  /** Looks for a token and keeps it. Fulfilled without one when the held token goes on, or was reset. */
  async function fly(reason: Want['reason'], signal: AbortSignal): Promise<void> {
    const before = held;
    const slept = before ? sleptMs(before, clock) : 0;
    if (slept > 0) emit('clock_anomaly', { clock: 'machine', byMs: Math.round(slept) });
    // A store in this process slept as well and cannot tell that the token expired meanwhile.
    const unfit = before && (reason === 'rejected' || (slept > 0 && settings.store.durability === 'process'));
    const unusable = [compromised, unfit ? before.token.id : undefined].filter((id) => id !== undefined);
    const mayIssue = reason !== 'refresh' || (before !== undefined && isRenewalDue(before));
    try {
      const got = await issuer.acquire({ reason, held: before, unusable, mayIssue }, signal);
      lookedAt = clock.monotonic();
      lookAt = lookedAt + lookAgainMs;
      if (got.kind === 'token') keep(got.grant);
      if (got.kind === 'drop' && held === before) drop();
      if (got.kind === 'keep' && reason === 'rejected') goOnWith(before, got.retryAt);
      if (got.kind === 'keep' && mayIssue) renewalRetryAt = Math.max(got.retryAt, lookedAt + retryLookMs);
    } catch (error) {
      lookedAt = clock.monotonic();
      lookAt = lookedAt + retryLookMs;
      renewalRetryAt = lookAt;
      if (reason === 'rejected' && before && isAlive(before, clock)) goOnWith(before, lookAt);
      else throw error;
    }
  }

  function keep(grant: Grant): void {
    const { token, keyId, generation, adopted } = grant;
    // Reset while it was on its way.
    if (token.id === compromised || (keyId === revoked.keyId && generation <= revoked.generation)) return;
    const before = held;
    const same = before?.token.id === token.id;
    if (same && isUsable(before)) return;
    held = holdToken(grant, clock);
    unaskedUntil = 0;
    if (!adopted && !isAlive(held, clock)) throw deadOnArrival();
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
    const outcome = !current ? 'replaced' : clock.monotonic() < rejectionRetryAt ? 'kept' : 'renew';
    if (current && outcome === 'renew') {
      current.rejected = true;
      unaskedUntil = 0;
    }
    emit('token_rejected', { tokenId: token.id, outcome });
  }

  async function reset(): Promise<void> {
    if (closed) throw closedError();
    const before = held;
    compromised = before?.token.id ?? compromised;
    drop();
    revoked = await issuer.reset(before);
    // One that a flight brought in the meantime.
    if (held && held.keyId === revoked.keyId && held.generation <= revoked.generation) drop();
  }

  async function getUsage(): Promise<Usage> {
    if (closed) throw closedError();
    return usageOf(await ledger.load(), limits, clock);
  }

  async function close(): Promise<void> {
    closed = true;
    drop();
    if (!flight) return;
    const { done, controller } = flight;
    controller.abort(closedError());
    await new Promise<void>((resolve) => {
      const cancel = clock.setTimer(resolve, closeWithinMs);
      done
        .catch(() => {})
        .then(() => {
          cancel();
          resolve();
        });
    });
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

function deadOnArrival(): Error {
  const message = 'The token expired before it arrived. Check the expires_in that the token endpoint sends.';
  return serviceAuthError('ERR_TOKEN_RESPONSE', message, { reason: 'expires_in', retryAt: undefined });
}

function closedError(): Error {
  return serviceAuthError('ERR_CLOSED', 'This client was closed; create another one.', {});
}

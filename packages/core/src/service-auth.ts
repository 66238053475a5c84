import type { AccessToken } from './access-token.ts';
import { clientSecretSource } from './client-secret.ts';
import { type Instant, instantOf, longestSince } from './clock.ts';
import type { ServiceAuthEventFields } from './events.ts';
import { createFlights } from './flight.ts';
import type { Grant } from './grant.ts';
import { type HeldToken, holdToken, isAlive, isTrusted, recount, sleptMs, type Trusted } from './held-token.ts';
import { createIssuer, type Want } from './issuer.ts';
import { resolveOptions, type ServiceAuthOptions } from './options.ts';
import { raced, within } from './pause.ts';
import { closedError, deadOnArrival } from './refusals.ts';
import { createSettlement } from './settlement.ts';
import { createSharedLedger } from './shared-ledger.ts';
import type { GetTokenOptions, ServiceAuth } from './token-source.ts';
import { type Usage, usageOf } from './usage.ts';

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
  const settlement = createSettlement(settings, ledger);
  const secrets = clientSecretSource(settings);
  // One for each flight: in between, thousands of clients in a process need not keep it.
  const issuer = () => createIssuer(settings, ledger, settlement, secrets);

  let held: HeldToken | undefined;
  let trusted: Trusted | undefined;
  // One asks whether the fleet has something newer, or reset the token; the other gets a token. A look never waits for the token endpoint.
  const look = createFlights((_: undefined, signal) => fly('refresh', false, signal), settings);
  const issue = createFlights((reason: Want['reason'], signal) => fly(reason, true, signal), settings);
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
    if (trusted && isTrusted(trusted, clock.now())) return trusted.promise;
    // Once the wall clock has left the span, setting it back must not lead into it again.
    trusted = undefined;
    const now = instantOf(clock);
    if (!isUsable(held, now) || mustLookFirst(now)) return obtain(signal);
    takeCareOf(held, now);
    trusted = trust(held, now);
    return held.promise;
  }

  async function obtain(signal: AbortSignal | undefined): Promise<AccessToken> {
    for (;;) {
      if (closed) throw closedError();
      const now = instantOf(clock);
      if (!isUsable(held, now)) await raced(issue.join(reasonToIssue()), signal);
      // With a usable token a look that failed is no reason to fail: it is reported as an event.
      else if (mustLookFirst(now)) await raced(look.join(undefined).catch(ignore), signal);
      else {
        takeCareOf(held, now);
        return held.promise;
      }
    }
  }

  function reasonToIssue(): Want['reason'] {
    return !held ? 'cold' : held.rejected ? 'rejected' : 'expired';
  }

  function isUsable(token: HeldToken | undefined, now: Instant): token is HeldToken {
    return token !== undefined && !closed && !token.rejected && isAlive(token, now);
  }

  function mustLookFirst(now: Instant): boolean {
    return longestSince(lookedAt, now) > lookFirstMs;
  }

  /** Sets off what is due, for nobody to wait for. */
  function takeCareOf(token: HeldToken, { monotonic }: Instant): void {
    // Unless it would end with the request that is served: half a token request costs a token.
    if (settings.requestBound && !settings.waitUntil) return;
    // Not with every call, where flights are not shared.
    if (monotonic >= Math.max(token.renewAt, renewalRetryAt)) {
      renewalRetryAt = monotonic + retryMs;
      void issue.join('refresh');
    }
    if (monotonic >= lookAt) {
      lookAt = monotonic + retryMs;
      void look.join(undefined);
    }
  }

  function trust(held: HeldToken, now: Instant): Trusted {
    const { token, promise, usableUntil, renewAt } = held;
    const until = Math.min(lookAt, usableUntil - sleptMs(held, now), Math.max(renewAt, renewalRetryAt));
    return { token, promise, from: now.wall, forMs: Math.min(second, until - now.monotonic) };
  }

  /** Looks for a token and keeps it. Fulfilled without one when the held token goes on, or was reset. */
  async function fly(reason: Want['reason'], mayIssue: boolean, signal: AbortSignal): Promise<void> {
    const before = held;
    const slept = before ? sleptMs(before, instantOf(clock)) : 0;
    if (before && slept > before.reportedSleepMs) {
      before.reportedSleepMs = slept + minute;
      emit('clock_anomaly', { clock: 'machine', byMs: Math.round(slept) });
    }
    // A store in this process slept as well and cannot tell that the token expired meanwhile.
    const unfit = before && (reason === 'rejected' || (slept > 0 && settings.store.durability === 'process'));
    const unusable = [compromised, unfit ? before.token.id : undefined];
    // What is read says nothing about a token that came meanwhile: it may be from an older record, of a look that took its time.
    const onLook = (at: Instant) => {
      if (held === before) looked(at);
    };
    try {
      const got = await issuer().acquire({ reason, held: before, unusable, revoked, mayIssue, onLook }, signal);
      if (got.kind === 'token') keep(got.grant);
      if (got.kind === 'drop' && held === before) drop();
      if (got.kind === 'keep' && reason === 'rejected') goOnWith(before, got.retryAt);
      if (got.kind === 'keep' && mayIssue) renewalRetryAt = Math.max(got.retryAt, clock.monotonic() + retryMs);
    } catch (error) {
      const retryAt = clock.monotonic() + retryMs;
      onLook(instantOf(clock));
      lookAt = retryAt;
      if (mayIssue) renewalRetryAt = retryAt;
      if (reason === 'rejected' && before && isAlive(before, instantOf(clock))) goOnWith(before, retryAt);
      else throw error;
    }
  }

  function looked(at: Instant): void {
    lookedAt = at;
    lookAt = at.monotonic + lookAgainMs;
  }

  function keep(grant: Grant): void {
    const { token, generation, adopted } = grant;
    // Reset while it was on its way.
    if (token.id === compromised || generation <= revoked) return;
    const before = held;
    const now = instantOf(clock);
    const same = before?.token.id === token.id;
    // Rejected while the record was read, which knows nothing of it.
    if (same && before?.rejected) return;
    if (same && isUsable(before, now)) {
      // After sleep, or what looks like it, the store's word on the expiry counts.
      if (sleptMs(before, now) > 0) held = recount(before, grant);
      return;
    }
    const next = holdToken(grant);
    if (!adopted && !isAlive(next, now)) throw deadOnArrival();
    held = next;
    trusted = undefined;
    if (!adopted) return;
    looked(grant.countedFrom);
    if (!same) emit('token_adopted', { tokenId: token.id, expiresAt: token.expiresAt });
  }

  function drop(): void {
    held = undefined;
    trusted = undefined;
  }

  /** No other token is to be had: the rejected one is handed out on, and its next rejections are ignored for a while. */
  function goOnWith(token: HeldToken | undefined, retryAt: number): void {
    if (token) token.rejected = false;
    rejectionRetryAt = retryAt;
  }

  function peekToken(): AccessToken | undefined {
    if (trusted && isTrusted(trusted, clock.now())) return trusted.token;
    const now = instantOf(clock);
    // What is due waits for a caller who can wait: then it is trusted for no time at all.
    trusted =
      isUsable(held, now) && (!mustLookFirst(now) || settings.store.durability === 'process')
        ? trust(held, now)
        : undefined;
    return trusted?.token;
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
      trusted = undefined;
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
    const upTo = await issuer().reset(before);
    // Another one may have ended meanwhile.
    revoked = Math.max(revoked, upTo);
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
    await within(closeWithinMs, clock, () => Promise.all([look, issue].map((flights) => flights.end(closedError()))));
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

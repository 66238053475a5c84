import type { AccessToken } from './access-token.ts';
import { createTokenAcquisition } from './acquire-token.ts';
import { clientSecretSource } from './client-secret.ts';
import { instantOf } from './clock.ts';
import type { ServiceAuthEventFields } from './events.ts';
import { createFlights } from './flight.ts';
import type { Instant } from './instant.ts';
import {
  type Attempt,
  after,
  attemptOf,
  compromised,
  due,
  emptyMemory,
  type Memory,
  need,
  outlivesFailure,
  rejected,
  reset,
  revalidated,
  servableForMs,
  unusable,
} from './memory.ts';
import { outsideRequest } from './next.ts';
import { resolveOptions, type ServiceAuthOptions } from './options.ts';
import { raced, within } from './pause.ts';
import { createSettlement } from './settlement.ts';
import { createSharedLedger } from './shared-ledger.ts';
import { closedError } from './token-errors.ts';
import type { GetTokenOptions, ServiceAuth } from './token-source.ts';
import { isTrusted, type TrustedToken, trustedToken } from './trusted-token.ts';
import { type Usage, usageOf } from './usage.ts';

const closeWithinMs = 2_000;
const minute = 60_000;

// The 401s of a token and of the token that replaced it can arrive in any order.
const maxReportedTokens = 4;
const noRejections: ReadonlyMap<string, ServiceAuthEventFields['token_rejected']['outcome']> = new Map();

/**
 * Creates a client. It does no I/O before the first call. No timer renews a token: calls of `getToken()` start renewals ahead of expiry and do not wait
 * for them. If the store fails while an outcome is written, timers try again for about two minutes; they do not keep the process running.
 * @throws `ERR_CONFIG` with all problems of the options
 */
export function createServiceAuth(options: ServiceAuthOptions): ServiceAuth {
  const settings = resolveOptions(options);
  const { clock, emit, limits, store } = settings;
  const ledger = createSharedLedger(settings);
  const settlement = createSettlement(settings, ledger);
  const secrets = clientSecretSource(settings);
  // Each attempt creates its own. Thousands of clients in a process would keep it in memory between attempts otherwise.
  const acquisition = () => createTokenAcquisition(settings, ledger, settlement, secrets);
  const isStoreInProcess = store.durability === 'process';

  let memory = emptyMemory;
  // The newest token that this process has had, and the newest that was issued to it. A cache can repeat either of them.
  let latest: AccessToken | undefined;
  let issued: AccessToken | undefined;
  // The resolved promise that every call returns until there is another token.
  let settled: Promise<AccessToken> | undefined;
  let trusted: TrustedToken | undefined;
  let closed = false;
  // The first only reads the record, so it never waits for the token endpoint. The second gets a token.
  const reading = createFlights((_: undefined, signal) => attempt('refresh', false, signal), settings);
  const acquiring = createFlights((reason: Attempt['reason'], signal) => attempt(reason, true, signal), settings);
  let reportedSleep: { readonly since: Instant; readonly ms: number } | undefined;
  let reportedRejections = noRejections;

  function getToken(options?: GetTokenOptions): Promise<AccessToken> {
    const signal = options?.signal;
    if (signal?.aborted) return Promise.reject(signal.reason);
    if (trusted && isTrusted(trusted, clock)) return trusted.promise;
    // A wall clock that has left the trusted span must not come back into it when it is set back.
    trusted = undefined;
    const now = instantOf(clock);
    return need(memory, now) === 'serve' ? serve(now).promise : obtain(signal);
  }

  async function obtain(signal: AbortSignal | undefined): Promise<AccessToken> {
    for (;;) {
      if (closed) throw closedError();
      const now = instantOf(clock);
      const needed = need(memory, now);
      if (needed === 'serve') return serve(now).token;
      // A usable token is served even if the record cannot be read; an event reports the failure.
      if (needed === 'revalidate') await raced(reading.join(undefined).catch(ignore), signal);
      else await raced(acquiring.join(needed), signal);
    }
  }

  /** Serves the cached token and starts the work that is due. Nobody waits for that work. */
  function serve(now: Instant): TrustedToken {
    // In request-bound runtimes the end of this request would abort a token request, which costs a token.
    if (!settings.requestBound || settings.waitUntil) {
      const work = due(memory, now);
      memory = work.memory;
      if (work.renew) void acquiring.join('refresh');
      if (work.revalidate) void reading.join(undefined);
    }
    return trust(now);
  }

  function trust(now: Instant): TrustedToken {
    const token = memory.cached?.token as AccessToken;
    settled ??= Promise.resolve(token);
    trusted = trustedToken(token, settled, now, servableForMs(memory, now));
    return trusted;
  }

  function remember(next: Memory): void {
    if (closed) return;
    if (next.cached?.token !== memory.cached?.token) settled = undefined;
    if (next.cached !== memory.cached || next.rejected) trusted = undefined;
    memory = next;
    latest = next.cached?.token ?? latest;
  }

  /** Gets a token, or only reads the record. Resolves without a new token if the cached one is kept or was reset. */
  async function attempt(reason: Attempt['reason'], mayIssue: boolean, signal: AbortSignal): Promise<void> {
    const begun = attemptOf(memory, reason, mayIssue, instantOf(clock));
    const { cached } = begun;
    reportSleep(begun);
    const request = {
      reason,
      mayIssue,
      cached,
      revoked: memory.revoked,
      known: [latest, issued],
      unusable: unusable(memory, begun, isStoreInProcess),
      onRead: (at: Instant) => remember(revalidated(memory, begun, at)),
    };
    try {
      const result = await acquisition().acquire(request, signal);
      const { cached: before } = memory;
      remember(after(memory, begun, result, instantOf(clock), Math.random()));
      if (result.kind !== 'token') return;
      const { token, adopted } = result.usable;
      if (!adopted) issued = token;
      const { id: tokenId, expiresAt } = token;
      if (adopted && memory.cached?.token === token && before?.token.id !== tokenId)
        emit('token_adopted', { tokenId, expiresAt });
    } catch (error) {
      const now = instantOf(clock);
      remember(after(memory, begun, { kind: 'failed' }, now, 0));
      if (!outlivesFailure(begun, now)) throw error;
    }
  }

  function reportSleep({ cached, sleptMs }: Attempt): void {
    if (!cached || sleptMs === 0) return;
    const { countedFrom } = cached;
    if (reportedSleep?.since === countedFrom && sleptMs <= reportedSleep.ms) return;
    // Report further sleep only if it is longer by a minute.
    reportedSleep = { since: countedFrom, ms: sleptMs + minute };
    emit('clock_anomaly', { clock: 'machine', byMs: Math.round(sleptMs) });
  }

  function peekToken(): AccessToken | undefined {
    if (trusted && isTrusted(trusted, clock)) return trusted.token;
    const now = instantOf(clock);
    const needed = need(memory, now);
    const isServable = needed === 'serve' || (needed === 'revalidate' && isStoreInProcess);
    // This call starts no work that is due. If some is due, the token is not trusted, and the next `getToken()` starts it.
    trusted = undefined;
    return isServable ? trust(now).token : undefined;
  }

  async function invalidate(token: AccessToken): Promise<void> {
    const { memory: next, outcome } = rejected(memory, token.authorization, clock.monotonic());
    remember(next);
    // One event for all 401s with the same outcome: a failing API must not flood the listener.
    const { id: tokenId } = token;
    if (reportedRejections.get(tokenId) === outcome) return;
    reportedRejections = new Map([...reportedRejections, [tokenId, outcome] as const].slice(-maxReportedTokens));
    emit('token_rejected', { tokenId, outcome });
  }

  async function resetToken(): Promise<void> {
    if (closed) throw closedError();
    const { cached } = memory;
    remember(compromised(memory));
    const upTo = await outsideRequest(() => acquisition().reset(cached));
    remember(reset(memory, upTo));
  }

  async function getUsage(): Promise<Usage> {
    if (closed) throw closedError();
    return usageOf(await outsideRequest(ledger.load), limits, clock);
  }

  async function close(): Promise<void> {
    remember(emptyMemory);
    closed = true;
    await within(closeWithinMs, clock, () => Promise.all([reading, acquiring].map((work) => work.end(closedError()))));
  }

  return {
    covers: settings.covers,
    getToken,
    peekToken,
    invalidate,
    reset: resetToken,
    getUsage,
    close,
    [Symbol.asyncDispose]: close,
  };
}

function ignore(): void {}

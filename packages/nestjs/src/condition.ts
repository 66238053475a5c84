import type { Clock, ServiceAuth, ServiceAuthErrorCode, ServiceAuthEvent } from '@service-auth/core';

/** The last failure, if nothing has succeeded since. */
interface Failure {
  readonly code: ServiceAuthErrorCode;
  /** The client sends no token request before this instant, in epoch milliseconds of its clock. */
  readonly retryAt: number;
}

/** The condition of a client, computed from its events, so that a health check needs no token. */
export interface Condition {
  readonly now: number;
  readonly failure: Failure | undefined;
  /** True if the newest token of this process is alive. */
  readonly hasToken: boolean;
}

/** A clock without timers. */
type Readings = Pick<Clock, 'now' | 'monotonic'>;

// Health checks of another build of this package find the condition by this symbol: a process may
// load the ES module and the CommonJS build.
const conditionKey: unique symbol = Symbol.for('@service-auth/nestjs');
const maxSleepMs = 7 * 86_400_000;
const machine: Readings = { now: Date.now, monotonic: () => performance.now() };

/** Tracks the condition of a client from now on. */
export function trackCondition(client: Pick<ServiceAuth, 'subscribe'>, clock: Readings = machine): void {
  let failure: (Failure & { leftMs(): number }) | undefined;
  let tokenLeftMs = () => 0;
  const condition: Condition = {
    get now() {
      return clock.now();
    },
    get failure() {
      if (!failure) return undefined;
      const { code, retryAt } = failure;
      const byThisClock = Math.round(clock.now() + failure.leftMs());
      return { code, retryAt: Math.abs(byThisClock - retryAt) < 1_000 ? retryAt : byThisClock };
    },
    get hasToken() {
      return tokenLeftMs() > 0;
    },
  };
  client.subscribe((event: ServiceAuthEvent) => {
    const fail = (code: ServiceAuthErrorCode, retryAt: number = event.at) => {
      failure = { code, retryAt, leftMs: countdown(retryAt - event.at, clock) };
    };
    switch (event.type) {
      case 'token_issued':
      case 'token_adopted':
        failure = undefined;
        tokenLeftMs = countdown(event.expiresAt - event.at, clock);
        break;
      case 'token_request_failed':
        fail(event.code, event.retryAt);
        break;
      case 'token_unavailable':
        // A caller whose time ended may have waited while the client looked whether its token is
        // still good.
        if (event.code !== 'ERR_TOKEN_PENDING') tokenLeftMs = () => 0;
        break;
      case 'token_reset':
        tokenLeftMs = () => 0;
        break;
      case 'client_secret_failed':
        fail('ERR_CLIENT_SECRET');
        break;
      case 'issuance_refused':
        fail('ERR_ISSUANCE_LIMIT', event.retryAt);
        // With 'refresh' and 'rejected' the client keeps serving its cached token.
        if (event.reason !== 'refresh' && event.reason !== 'rejected') tokenLeftMs = () => 0;
        break;
    }
  });
  Object.defineProperty(client, conditionKey, { value: condition });
}

/** Returns the condition of a client. Undefined: Nest did not create the client. */
export function conditionOf(client: object): Condition | undefined {
  return (client as { [conditionKey]?: Condition })[conditionKey];
}

/**
 * Counts milliseconds down, as core does for its token: by the monotonic clock, which may stand
 * still while the machine sleeps. A wall clock that is ahead of it by up to a week shows a sleep; a
 * wall clock that made any other step is ignored.
 */
function countdown(durationMs: number, clock: Readings): () => number {
  const [wall, monotonic] = [clock.now(), clock.monotonic()];
  return () => {
    const elapsedMs = clock.monotonic() - monotonic;
    const aheadMs = clock.now() - wall - elapsedMs;
    const sleptMs = aheadMs > 0 && aheadMs <= maxSleepMs ? aheadMs : 0;
    return Math.max(0, durationMs - elapsedMs - sleptMs);
  };
}

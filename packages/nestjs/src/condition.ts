import type { Clock, ServiceAuthErrorCode, ServiceAuthEvent } from '@service-auth/core';

/** What went wrong last, and has not gone right since. */
interface Failure {
  readonly code: ServiceAuthErrorCode;
  /** Before that nothing is asked for, in epoch milliseconds of the client's clock. */
  readonly retryAt: number;
}

/** How a client fares, from its events: what health can know without asking for a token. */
export interface Condition {
  readonly now: number;
  readonly failure: Failure | undefined;
  /** When the newest token that this process got expires, in epoch milliseconds of the client's clock; 0 without one. */
  readonly tokenExpiresAt: number;
  note(event: ServiceAuthEvent): void;
}

/** Follows one client. */
export function trackCondition(clock: Clock | undefined): Condition {
  let failure: Failure | undefined;
  let tokenExpiresAt = 0;
  return {
    get now() {
      return clock?.now() ?? Date.now();
    },
    get failure() {
      return failure;
    },
    get tokenExpiresAt() {
      return tokenExpiresAt;
    },
    note(event) {
      switch (event.type) {
        case 'token_issued':
        case 'token_adopted':
          failure = undefined;
          tokenExpiresAt = event.expiresAt;
          break;
        case 'token_request_failed':
          failure = { code: event.code, retryAt: event.retryAt ?? event.at };
          break;
        case 'issuance_refused':
          failure = { code: 'ERR_ISSUANCE_LIMIT', retryAt: event.retryAt };
          // With the other reasons a token is served on.
          if (event.reason !== 'refresh' && event.reason !== 'rejected') tokenExpiresAt = 0;
      }
    },
  };
}

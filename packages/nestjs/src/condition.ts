import type { Clock, ServiceAuthErrorCode, ServiceAuthEvent } from '@service-auth/core';

/** The last failure, if nothing has succeeded since. */
interface Failure {
  readonly code: ServiceAuthErrorCode;
  /** The client sends no token request before this instant, in epoch milliseconds of its clock. */
  readonly retryAt: number;
}

/** The condition of a client as its events tell it, so that a health check needs no token. */
export interface Condition {
  readonly now: number;
  readonly failure: Failure | undefined;
  /** The expiry of the newest token of this process, in epoch milliseconds of the client's clock; 0 without a token. */
  readonly tokenExpiresAt: number;
  note(event: ServiceAuthEvent): void;
}

/** Tracks the condition of one client. */
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
        case 'client_secret_failed':
          failure = { code: 'ERR_CLIENT_SECRET', retryAt: event.at };
          break;
        case 'issuance_refused':
          failure = { code: 'ERR_ISSUANCE_LIMIT', retryAt: event.retryAt };
          // With 'refresh' and 'rejected' the client keeps serving its cached token.
          if (event.reason !== 'refresh' && event.reason !== 'rejected') tokenExpiresAt = 0;
      }
    },
  };
}

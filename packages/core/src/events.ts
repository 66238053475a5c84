import type { Clock } from './clock.ts';
import type { ServiceAuthErrorCode, TokenResponseReason } from './errors.ts';
import type { IssuanceReason } from './ledger/record.ts';

/** What was odd about a token response that was accepted all the same. */
export type TokenResponseWarning =
  | 'lifetime_assumed'
  | 'lifetime_clamped'
  | 'lifetime_short'
  | 'token_type_missing'
  | 'content_type';

/** What each event carries besides `type` and `at`. No event contains a token or a secret. */
export interface ServiceAuthEventFields {
  /** This process had a token issued. `used` of `usable` tokens of the window are spent now. */
  token_issued: {
    readonly reason: IssuanceReason;
    readonly tokenId: string;
    readonly expiresAt: number;
    readonly used: number;
    readonly usable: number;
    readonly warnings: readonly TokenResponseWarning[];
  };
  /** A token that another process had issued is used from now on: no cost. */
  token_adopted: { readonly tokenId: string; readonly expiresAt: number };
  /**
   * A request to the token endpoint failed. `ambiguous`: it was counted, for a token may have been issued. `error`: name and code of what
   * came in place of an answer, such as `TypeError ECONNREFUSED` or `TimeoutError`. `reason`: why a 2xx answer was no new token.
   */
  token_request_failed: {
    readonly code: ServiceAuthErrorCode;
    readonly status: number | undefined;
    readonly error: string | undefined;
    readonly reason?: TokenResponseReason | undefined;
    readonly ambiguous: boolean;
    readonly retryAt: number | undefined;
  };
  /**
   * The API answered 401 to a token; reported once for all answers alike. `outcome`: `renew`: the next `getToken()` looks for another one; `replaced`: another one is in use already;
   * `kept`: renewals caused by 401s are spaced, and it is too early for one.
   */
  token_rejected: { readonly tokenId: string; readonly outcome: 'renew' | 'replaced' | 'kept' };
  /** The budget did not allow a token. With `reason: 'refresh'` nobody notices yet: the present token is served on. */
  issuance_refused: {
    readonly reason: IssuanceReason;
    readonly retryAt: number;
    readonly limit: number;
    readonly used: number;
  };
  /** The store could not be read or written. `error`: name and code of what it rejected with. `advice`: what the store says to do about it. */
  store_failed: {
    readonly operation: 'load' | 'swap';
    readonly error: string;
    readonly advice: string | undefined;
  };
  /** A setting of the store endangers the record; once for each warning. */
  store_warning: { readonly warning: string };
  /** The store answers again. */
  store_recovered: Record<never, never>;
  /** The store lost its record or went back to an older one. `restored`: entries put back from this process's memory. */
  ledger_lost: { readonly restored: number };
  /** The store's clock, or this machine's, moved by `byMs` against the other. */
  clock_anomaly: { readonly clock: 'store' | 'machine'; readonly byMs: number };
}

/** The types of all events. */
export type ServiceAuthEventType = keyof ServiceAuthEventFields;

/** What `onEvent` receives: tell kinds apart by `type`. `at`: epoch milliseconds of this machine's clock. */
export type ServiceAuthEvent = {
  [Type in ServiceAuthEventType]: {
    readonly type: Type;
    readonly at: number;
    readonly audience: string;
    readonly instance: string;
  } & ServiceAuthEventFields[Type];
}[ServiceAuthEventType];

/** Receives every event. What it throws is ignored, and so is what a promise that it returns rejects with. */
export type ServiceAuthEventListener = (event: ServiceAuthEvent) => void;

/** Reports one event to the listener, if there is one. */
export type Emit = <Type extends ServiceAuthEventType>(type: Type, fields: ServiceAuthEventFields[Type]) => void;

/**
 * Calls a listener. Ignores what it throws, and what a promise or thenable that it returns rejects with: also one of another realm (a `vm` context, Jest) or
 * of another library, and one whose `then` throws. For code that passes events on to several listeners.
 */
export function notify(listener: ServiceAuthEventListener | undefined, event: ServiceAuthEvent): void {
  try {
    ignoreRejection(listener?.(event));
  } catch {}
}

/** An {@link Emit} that completes events and lets no listener do harm. */
export function emitter(
  listener: ServiceAuthEventListener | undefined,
  source: { readonly audience: string; readonly instance: string },
  clock: Clock,
): Emit {
  return (type, fields) => {
    if (listener) notify(listener, { type, at: clock.now(), ...source, ...fields } as ServiceAuthEvent);
  };
}

function ignoreRejection(returned: unknown): void {
  let promise = returned;
  try {
    const { then } = returned as { then?: unknown };
    if (typeof then !== 'function') return;
    // A `then` that is an async function returns one more promise, which rejects when that function throws.
    promise = then.call(returned, ignore, ignore);
  } catch {
    // Its `then` throws; if it is a promise all the same, the method of all promises works.
  }
  // Throws for what is no promise.
  void Promise.prototype.then.call(promise, ignore, ignore);
}

function ignore(): void {}

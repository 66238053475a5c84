import type { IssuanceReason } from '../ledger/record.ts';
import type { ServiceAuthErrorCode, TokenResponseReason, TokenWait } from './errors.ts';

/** A flaw of a token response that was accepted nevertheless. */
export type TokenResponseWarning =
  | 'lifetime_assumed'
  | 'lifetime_clamped'
  | 'lifetime_short'
  | 'token_type_missing'
  | 'content_type'
  | 'scope_missing';

/** A window of an agreement with the provider. See `issuanceLimit`. */
export interface AgreedWindow {
  readonly tokens: number;
  readonly windowMs: number;
  readonly reserve: number;
  /** Every request that reached the endpoint counts. Undefined: only tokens count. */
  readonly counts?: 'requests' | undefined;
  /** False if no request is refused for it. Undefined: it is enforced. */
  readonly enforce?: false | undefined;
}

/**
 * Whose tokens a window of the provider counts: those of this client, or of all clients of its
 * organization.
 */
export type QuotaOwner = 'client' | 'organization';

/** Why an attempt began. `revalidate`: it only reads the record. */
export type AcquisitionReason = Exclude<IssuanceReason, 'reset'> | 'revalidate';

/**
 * The fields of each event, besides `type`, `at`, `audience` and `instance`. Instants are in epoch
 * milliseconds of this machine's clock. No event contains a token or a secret.
 */
export interface ServiceAuthEventFields {
  /**
   * A token was issued to this process. `used` of the `usable` tokens of the window are spent now.
   */
  token_issued: {
    readonly reason: IssuanceReason;
    readonly tokenId: string;
    readonly expiresAt: number;
    readonly used: number;
    readonly usable: number;
    readonly warnings: readonly TokenResponseWarning[];
    /**
     * With the warning `scope_missing`: the requested scopes that the answer leaves out, joined by
     * spaces.
     */
    readonly missingScope?: string | undefined;
    /** The duration of the token request. */
    readonly durationMs: number;
  };
  /**
   * This process uses a token from now on that was issued to another process. That costs nothing.
   */
  token_adopted: { readonly tokenId: string; readonly expiresAt: number };
  /**
   * A token request failed. `ambiguous`: a token may have been issued, so one was counted. `error`:
   * the name and code of the error if there was no answer, such as `TypeError ECONNREFUSED` or
   * `TimeoutError`. `reason`: why a 2xx answer was no new token.
   */
  token_request_failed: {
    readonly code: ServiceAuthErrorCode;
    readonly status: number | undefined;
    readonly error: string | undefined;
    readonly reason?: TokenResponseReason | undefined;
    readonly ambiguous: boolean;
    readonly retryAt: number | undefined;
    readonly durationMs: number;
  };
  /**
   * A `getToken()` of this process rejected with an error of this `code`. There is at most one
   * event a minute for each code, and for each `waitsFor`. `count`: the number of calls that
   * rejected since the last event. With `ERR_TOKEN_PENDING` the fields of {@link TokenWait} say
   * what the caller waited for. That event also comes if the caller's `signal` ended the wait: by a
   * time-out, or after a wait of at least a second.
   */
  token_unavailable: {
    readonly code: ServiceAuthErrorCode;
    readonly retryAt: number | undefined;
    readonly count: number;
  } & Partial<TokenWait>;
  /**
   * The API answered 401 to a token. Equal answers in a row are one event. `outcome`: `renew`: the
   * next `getToken()` tries to replace the token; `replaced`: another token is in use already;
   * `kept`: no replacement was available a moment ago, and it is too early to try again.
   */
  token_rejected: { readonly tokenId: string; readonly outcome: 'renew' | 'replaced' | 'kept' };
  /**
   * A request to an address that the client covers had an `Authorization` of its own, so it was
   * sent without the token. Reported once for each client, which also warns on standard error.
   */
  token_bypassed: Record<never, never>;
  /**
   * This process reported that the tokens of its audience are compromised. `tokenId`: the id of the
   * token that was in use, if there was one. `reason`: the one given to `reset()`.
   */
  token_reset: { readonly tokenId: string | undefined; readonly reason: string | undefined };
  /**
   * The budget did not allow a token. With `reason: 'refresh'` callers do not notice, because the
   * present token is still served. There is at most one event a minute for each `reason`, until
   * this process has another token. `count`: the number of attempts that were refused since the
   * last event. The other fields are those of `ERR_ISSUANCE_LIMIT` at the latest attempt.
   */
  issuance_refused: {
    readonly reason: IssuanceReason;
    readonly retryAt: number;
    readonly limit: number;
    readonly used: number;
    readonly usable: number;
    /** The window of the agreement that has no room. */
    readonly windowMs: number;
    readonly newRecord: { readonly allowed: number; readonly until: number } | undefined;
    readonly count: number;
  };
  /**
   * A token was requested that the agreement would have refused, if it were enforced: see `enforce`
   * of `issuanceLimit`. There is at most one event a minute for each `reason`. `count`: the number
   * of such tokens since the last event. `used` includes this token. The other fields are those
   * that `issuance_refused` would have had.
   */
  issuance_over_limit: ServiceAuthEventFields['issuance_refused'];
  /**
   * Other processes of the fleet stated another agreement within the last hour. Both are kept, so
   * the stricter one decides. `instance` stated it last, at `seenAt`. The same difference is
   * reported once.
   */
  agreement_differs: {
    readonly own: readonly AgreedWindow[];
    readonly others: readonly (AgreedWindow & { readonly instance: string; readonly seenAt: number })[];
  };
  /**
   * The token endpoint sent the provider's figures about one of its windows
   * (`Auth0-Client-Quota-Limit`, or `Auth0-Organization-Quota-Limit`, which counts all clients of
   * the organization). There is one event for each window of an answer. They are advice: no caller
   * waits or is refused because of them.
   */
  quota_observed: {
    readonly of: QuotaOwner;
    readonly windowMs: number;
    /** The tokens of the window, and those of them that remain. */
    readonly tokens: number;
    readonly remaining: number;
    /** When the window ends. */
    readonly resetAt: number;
    /**
     * The least number of tokens of the window that the record does not know: they were issued
     * without this store, or before the record began. Undefined with `organization`.
     */
    readonly foreign: number | undefined;
  };
  /**
   * The store could not be read or written. `error`: the name and code of its error. `advice`: the
   * store's own words about what to do. Until the store answers again, there is at most one event a
   * minute. `count`: the number of operations that failed since the last event.
   */
  store_failed: {
    readonly operation: 'load' | 'swap';
    readonly error: string;
    readonly advice: string | undefined;
    readonly count: number;
  };
  /**
   * The record under `key` is damaged. Nothing overwrites it, and no token is requested. Reported
   * once, until it can be read again.
   */
  store_damaged: { readonly key: string };
  /**
   * A setting of the store endangers the record, or the record is in memory although other
   * processes seem to run. Each warning is reported once.
   */
  store_warning: { readonly warning: string };
  /**
   * The function given as `clientSecret` returned no secret, even if no caller waits for one.
   * `error`: the name and code of its error, or the problem of its result. There is at most one
   * event a minute. `count`: the number of failures of the function since the last event.
   */
  client_secret_failed: { readonly error: string; readonly count: number };
  /**
   * The operation of the store that failed last succeeds again. A store that can be read but not
   * written has not recovered.
   */
  store_recovered: Record<never, never>;
  /**
   * The store lost its record or went back to an older one. `restored`: the number of tokens that
   * were put back from the memory of this process.
   */
  ledger_lost: { readonly restored: number };
  /** The clock of the store or of this machine stepped by `byMs` against the monotonic clock. */
  clock_anomaly: { readonly clock: 'store' | 'machine'; readonly byMs: number };
  /**
   * An operation of the store ended. `conflict`: another process had changed the record. Only for
   * listeners that subscribe with `operations`.
   */
  store_called: {
    readonly operation: 'load' | 'swap';
    readonly outcome: 'done' | 'conflict' | 'failed';
    /** The name and code of the store's error. */
    readonly error: string | undefined;
    readonly durationMs: number;
  };
  /**
   * An attempt to get a token began, or with the reason `revalidate` one that only reads the
   * record. `acquisition` identifies it within this process. `callers`: 1 if the call of
   * `getToken()` that began it waits, else 0. Only for listeners that subscribe with `operations`.
   * They are called during that call of `getToken()`, so the async context is that of the caller.
   */
  acquisition_started: {
    readonly acquisition: number;
    readonly reason: AcquisitionReason;
    readonly callers: 0 | 1;
  };
  /**
   * An attempt ended. `kept`: the present token is still served. `dropped`: it was reset. `code`:
   * the code of the error. `callers`: the number of calls of `getToken()` that waited. Only for
   * listeners that subscribe with `operations`.
   */
  acquisition_ended: {
    readonly acquisition: number;
    readonly reason: AcquisitionReason;
    readonly outcome: 'issued' | 'adopted' | 'kept' | 'dropped' | 'failed';
    readonly code: ServiceAuthErrorCode | undefined;
    readonly callers: number;
    readonly durationMs: number;
  };
}

/** The types of all events. */
export type ServiceAuthEventType = keyof ServiceAuthEventFields;

/**
 * An event of `onEvent`. `type` says which kind it is. `at`: epoch milliseconds of this machine's
 * clock.
 */
export type ServiceAuthEvent = {
  [Type in ServiceAuthEventType]: {
    readonly type: Type;
    readonly at: number;
    readonly audience: string;
    readonly instance: string;
  } & ServiceAuthEventFields[Type];
}[ServiceAuthEventType];

/** Options of `subscribe()`. */
export interface SubscribeOptions {
  /**
   * True if the listener gets an event for each operation of the store, and for each attempt to get
   * a token, too. Default false.
   */
  operations?: boolean | undefined;
}

/**
 * Receives every event. Errors that it throws are ignored, and so are rejections of a promise that
 * it returns.
 */
export type ServiceAuthEventListener = (event: ServiceAuthEvent) => void;

/** Reports an event to the listeners that are not in `heard`, and adds them to it. */
export type Emit = <Type extends ServiceAuthEventType>(
  type: Type,
  fields: ServiceAuthEventFields[Type],
  heard?: WeakSet<ServiceAuthEventListener>,
) => void;

/** The types of events that a failing service would repeat with each call. */
export type RepeatedEventType =
  | 'client_secret_failed'
  | 'issuance_over_limit'
  | 'issuance_refused'
  | 'store_failed'
  | 'token_unavailable';

/** The fields of such an event without its count. */
export type RepeatedEventFields<Type extends RepeatedEventType> = Omit<ServiceAuthEventFields[Type], 'count'>;

/**
 * Reports an event, but at most once a minute for one `cause`. It counts the events that it leaves
 * out.
 */
export type EmitRepeated = <Type extends RepeatedEventType>(
  type: Type,
  fields: RepeatedEventFields<Type>,
  cause?: string,
) => void;

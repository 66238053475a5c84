import type { Purpose } from '../ledger/forecast.ts';
import type { Hold as LedgerHold } from '../ledger/pace.ts';
import type { IssuanceReason } from '../ledger/record.ts';

/** A token that was issued, or may have been issued. */
export interface Issuance {
  /** The id of the token, as in `AccessToken.id`. */
  readonly id: string;
  /** When it was issued, in epoch milliseconds of this machine's clock. */
  readonly at: number;
  readonly reason: IssuanceReason;
  /** The `instance` option of the process that requested it. */
  readonly instance: string;
  readonly audience: string;
  /**
   * With the reason `rejected`: true if the API had accepted the last token, and answered 401 to it
   * later.
   */
  readonly died?: true | undefined;
  /** True if the agreement is not enforced, and would have refused it. */
  readonly overLimit?: true | undefined;
  /** True if the request is under way, or its outcome is unknown. The token counts as issued. */
  readonly pending: boolean;
  /**
   * While the request is under way: processes without a token wait for its outcome until then.
   * After that its process counts as dead.
   */
  readonly pendingUntil?: number | undefined;
}

/** One window of the agreement. */
export interface WindowUsage {
  /** The tokens of a window as agreed with the provider. */
  readonly tokens: number;
  readonly windowMs: number;
  /**
   * `requests`: the provider counts these, so `tokens`, `used` and the others are numbers of
   * requests, refused ones among them. Undefined: tokens.
   */
  readonly counts?: 'requests' | undefined;
  /** False if nothing is refused for this window. Undefined: it is enforced. */
  readonly enforce?: false | undefined;
  /** The tokens that the fleet may spend: `tokens` less the reserve. */
  readonly usable: number;
  /** The spent tokens, including pending ones. */
  readonly used: number;
  readonly pending: number;
  /** `usable` less `used`. */
  readonly remaining: number;
  /**
   * When the next spent token leaves the window, in epoch milliseconds of this machine's clock.
   * Undefined: no token is spent.
   */
  readonly nextFreeAt: number | undefined;
  /**
   * False: only another process of the fleet stated this window, within the last hour. It is kept
   * nevertheless.
   */
  readonly own: boolean;
}

/**
 * A time in which the fleet sends no token request, or none of some kind, although the limit has
 * room. `credentials`: the endpoint answered 400, 401 or 403 to them. `rate_limited`: it limits the
 * rate of requests. `backoff`: it failed. `deaths`: processes in a row died during their requests.
 * These four deny callers a token. With the others callers that have a token keep it: `rejections`:
 * renewals that 401s of the API cause are spaced. `renewal`: the last renewal ahead of expiry
 * brought no later expiry.
 */
export interface Hold {
  readonly kind: Exclude<LedgerHold['kind'], 'limit' | 'misconfigured'>;
  /** Epoch milliseconds of this machine's clock. */
  readonly until: number;
  /** The audience that the hold is for. Undefined: it is for all audiences. */
  readonly audience?: string | undefined;
  /** The status that the token endpoint answered. */
  readonly status?: number | undefined;
  /** With `credentials`: the `instance` option of the process that was refused last. */
  readonly instance?: string | undefined;
  /** When that process sent its request, in epoch milliseconds of this machine's clock. */
  readonly failedAt?: number | undefined;
}

/** A token that the fleet uses. Instants are in epoch milliseconds of this machine's clock. */
export interface TokenInUse {
  readonly id: string;
  readonly audience: string;
  readonly issuedAt: number;
  readonly expiresAt: number;
}

/** A call of `reset()`. */
export interface ResetInfo {
  /** Epoch milliseconds of this machine's clock. */
  readonly at: number;
  readonly audience: string;
  /** The id of the token that was in use. Undefined: none was. */
  readonly tokenId: string | undefined;
  /** The `instance` option of the process that called it. */
  readonly instance: string;
  /** The `reason` that was given. */
  readonly reason: string | undefined;
}

/**
 * Tokens that the record has not seen, stated by `service-auth record spent`. They count from `at`
 * on, like tokens that were issued then.
 */
export interface SpentElsewhereInfo {
  /** The instant of the statement, in epoch milliseconds of this machine's clock. */
  readonly at: number;
  /** The most tokens that were issued in the window before. */
  readonly count: number;
  /** The `instance` of the command that stated it. */
  readonly instance: string;
  /** The reason, in the words of the person who stated it. */
  readonly reason: string;
}

/**
 * The provider's last figures about one of its windows, as the token endpoint sent them
 * (`Auth0-Client-Quota-Limit`, https://auth0.com/docs/fine-grained-m2m-token-quotas). They may lag
 * behind, and are advice: no caller waits or is refused because of them.
 */
export interface QuotaUsage {
  readonly windowMs: number;
  /** The tokens of the window. */
  readonly tokens: number;
  /** The tokens of the window that remain, as the provider counts. */
  readonly remaining: number;
  /**
   * The least number of tokens of the window that the record does not know: they were issued
   * without this store, or before the record began.
   */
  readonly foreign: number;
  /** When the endpoint sent them, in epoch milliseconds of this machine's clock. */
  readonly observedAt: number;
  /** When the window ends, in epoch milliseconds of this machine's clock. */
  readonly resetAt: number;
}

/**
 * The tokens of the window that has the least room. All counts are those of the whole fleet that
 * shares the store.
 */
export interface Usage {
  /** The tokens of a window as agreed with the provider. */
  readonly limit: number;
  /**
   * `requests`: the provider counts these, so `limit`, `used` and the others are numbers of
   * requests, refused ones among them. Undefined: tokens.
   */
  readonly counts?: 'requests' | undefined;
  /** False: nothing is refused for this window. Undefined: it is enforced. */
  readonly enforce?: false | undefined;
  /** The tokens that the fleet may spend: `limit` less the reserve. */
  readonly usable: number;
  /** The spent tokens: those that were surely issued, and the `pending` ones. */
  readonly used: number;
  /** The tokens whose requests are under way. They count as issued. */
  readonly underWay: number;
  /**
   * The tokens of requests whose outcome is unknown, such as those that were answered 503 or not at
   * all. They count as issued.
   */
  readonly unknown: number;
  /** The tokens of unknown outcome up to now: `underWay` and `unknown` together. */
  readonly pending: number;
  /** `usable` less `used`. It does not say that a token can be had: see `availableNow`. */
  readonly remaining: number;
  /**
   * The number of callers without a token that could get one now. All shares, holds and
   * insurances are taken into account. If it is 0 and `refusedUntil` is undefined, the next request
   * waits for one that is under way.
   */
  readonly availableNow: number;
  /**
   * The same by purpose: for callers without a token, renewals ahead of expiry, renewals after a
   * 401 of the API, and tokens that were reset.
   */
  readonly available: Readonly<Record<Purpose, number>>;
  /**
   * The instant until which a caller without a token is refused, if nothing else happens, in epoch
   * milliseconds of this machine's clock. Undefined: it is not refused. A process that has a token,
   * or finds one in `tokens`, is served all the same.
   */
  readonly refusedUntil: number | undefined;
  /**
   * Why a caller without a token is refused until then. `full`: the record has no room for its
   * token. Undefined: it is not refused.
   */
  readonly refusedBecause: 'limit' | 'backoff' | 'rate_limited' | 'credentials' | 'full' | undefined;
  /**
   * When the next spent token leaves the window, in epoch milliseconds of this machine's clock.
   * Undefined: no token is spent. With a window of 24 hours that is 25 hours and 10 minutes after a
   * token was issued: a calendar day with a change of clocks has 25 hours, and the clocks of the
   * store and of the provider may differ by 10 minutes. A token of unknown outcome counts for 27
   * hours, because its request may have arrived late.
   */
  readonly nextFreeAt: number | undefined;
  /**
   * When the window has no more room for callers without a token at the pace of its last quarter,
   * in epoch milliseconds. Undefined: it will keep some.
   */
  readonly spentAt: number | undefined;
  /** The window in milliseconds. Tokens count for slightly longer, see `nextFreeAt`. */
  readonly windowMs: number;
  /**
   * The record is new, or followed a lost one: nobody knows which tokens were issued before, so it
   * allows callers without a token only `allowed` tokens `until` an instant in epoch milliseconds
   * of this machine's clock. `remaining` of them are left. `service-auth record spent` ends that.
   * Undefined: it allows all tokens that remain.
   */
  readonly newRecord: { readonly allowed: number; readonly remaining: number; readonly until: number } | undefined;
  /** All windows that the fleet keeps. Those of this process come first. */
  readonly windows: readonly WindowUsage[];
  /** The holds of the whole fleet. `retryNow()` ends them. */
  readonly holds: readonly Hold[];
  /** The tokens in use. */
  readonly tokens: readonly TokenInUse[];
  /**
   * Identifies the record. Processes of one client id that see different ids count in different
   * records. Undefined: the store has no record yet.
   */
  readonly recordId: string | undefined;
  /**
   * The lead of the store's clock over the clock of this machine, in milliseconds. The duration of
   * the read may be in it.
   */
  readonly storeAheadMs: number;
  /**
   * Problems of the configuration, and problems of the store that endanger the record. Each is a
   * sentence, the one of the event `store_warning`.
   */
  readonly warnings: readonly string[];
  /** The newest issuances that count in a window, at most 150. The newest comes first. */
  readonly issuances: readonly Issuance[];
  /** The newest resets, at most 20. The newest comes first. */
  readonly resets: readonly ResetInfo[];
  /**
   * The statement about tokens that the record has not seen. Undefined: there is none that still
   * counts.
   */
  readonly spentElsewhere: SpentElsewhereInfo | undefined;
  /**
   * The provider's figures about its windows that have not ended. Undefined: the token endpoint
   * sent none.
   */
  readonly quota?: readonly QuotaUsage[] | undefined;
  /**
   * The largest `foreign` of `quota`: tokens of this client that a program without this store got,
   * or that the record is too young to know. Undefined: the token endpoint sent no figures.
   */
  readonly foreign?: number | undefined;
}

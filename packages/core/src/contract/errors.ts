import type { OAuthErrorCode } from '../ledger/oauth-error.ts';
import { errorPage } from './error-page.ts';

const brand = Symbol.for('@service-auth/error');

/** A problem of one option. It never contains the value of the option. */
export interface ConfigProblem {
  /**
   * The name of the option, such as `clientSecret` or `issuanceLimit.tokens`, or of the environment
   * variable.
   */
  readonly option: string;
  /** The problem, in words that complete the sentence which begins with the name. */
  readonly message: string;
}

/** Why a 2xx answer of the token endpoint was no bearer token. */
export type TokenResponseReason =
  | 'not_json'
  | 'not_utf8'
  | 'too_large'
  | 'empty'
  | 'access_token'
  | 'token_type'
  | 'expires_in'
  /** This process knew the token already: a cache answered. */
  | 'cached';

/** What a caller of `getToken()` was waiting for when its time ended. */
export interface TokenWait {
  /**
   * `token_endpoint`: the answer to the token request of this process. `process`: the outcome of
   * another process's token request. `store`: an answer of the store. `client_secret`: the function
   * given as `clientSecret`, or `clientAuthentication`.
   */
  readonly waitsFor: 'token_endpoint' | 'process' | 'store' | 'client_secret';
  /** With `process`: the `instance` of that process, which may have died during its request. */
  readonly process?: string | undefined;
  /** When that wait began, in epoch milliseconds of this machine's clock. */
  readonly startedAt: number;
}

/**
 * The fields of each error code, besides `code` and `message`. `retryAt` is in epoch milliseconds
 * of this machine's clock. `endpointStatus`: the status of the token endpoint's answer. It is not
 * called `status`, because web frameworks answer their own users with the `status` of an error.
 */
export interface ServiceAuthErrorFields {
  /** The options have problems. `problems` lists all of them. */
  ERR_CONFIG: { readonly problems: readonly ConfigProblem[] };
  /**
   * The budget of a window is spent. No request was sent. `limit`: the tokens of this window as
   * agreed with the provider. `used`: the spent tokens. `usable`: the tokens less the reserve.
   * `windowMs`: which window it is. `newRecord`: the record may have replaced one that was lost, so
   * it allows only `allowed` tokens `until` an instant; undefined if that is not the reason.
   */
  ERR_ISSUANCE_LIMIT: {
    readonly retryAt: number;
    readonly limit: number;
    readonly used: number;
    readonly usable: number;
    readonly windowMs: number;
    readonly newRecord: { readonly allowed: number; readonly until: number } | undefined;
  };
  /**
   * The token endpoint answered 400, 401 or 403 as an authorization server does, or 2xx with an
   * error in the place of a token, and did not say "later". `oauthError`: the `error` code of the
   * answer (RFC 6749 section 5.2); `'other'` if it is not a registered one. `about`: `'client'` if
   * the client as a whole was refused (401, `invalid_client`, `unauthorized_client`), which holds
   * for every token of it; `'request'` if this token was.
   */
  ERR_CREDENTIALS_REJECTED: {
    readonly about: 'client' | 'request';
    readonly endpointStatus: number;
    readonly oauthError: OAuthErrorCode | undefined;
    readonly retryAt: number;
  };
  /**
   * The function given as `clientSecret` failed, did not answer within `timeoutMs`, or returned no
   * valid secret. No request was sent.
   */
  ERR_CLIENT_SECRET: { readonly retryAt: number };
  /**
   * The token endpoint limits the rate of requests: it answered 429, or said "later" in another
   * way, such as by `Retry-After` with 400, 401 or 403. The fleet sends no token request before
   * `retryAt`.
   */
  ERR_RATE_LIMITED: { readonly retryAt: number };
  /**
   * The token endpoint was not reached, timed out, redirected, failed, or said that it is out of
   * order. `ambiguous`: a token may have been issued, so one was counted.
   */
  ERR_TOKEN_ENDPOINT: {
    readonly endpointStatus: number | undefined;
    readonly ambiguous: boolean;
    readonly retryAt: number;
  };
  /** The token endpoint answered 2xx without a usable bearer token. A token was counted. */
  ERR_TOKEN_RESPONSE: { readonly reason: TokenResponseReason; readonly retryAt: number | undefined };
  /**
   * The store cannot be read or written. `getToken()` throws it only if memory has no valid token.
   */
  ERR_STORE: {
    readonly retryAt: number;
    /**
     * `full`: the record has no room for the token of another audience. No request was sent.
     * Audiences that have a token go on.
     */
    readonly reason?: 'full' | undefined;
  };
  /** The stored record is damaged or has an unknown version, and was not changed. */
  ERR_STORE_INTEGRITY: unknown;
  /**
   * The API answered 401 to the token, and the adapter had no other one to send. It is only the
   * `cause` of an error of an HTTP client.
   */
  ERR_TOKEN_REJECTED: { readonly retryAt: number | undefined };
  /**
   * The time of this caller (`maxWaitMs`) ended before there was a token. The attempt to get one
   * goes on. axios and got have it as the `cause` of their time-outs. `retryAt`: when this process
   * sends a request itself, if another process has been waiting for its answer for so long that it
   * is probably gone.
   */
  ERR_TOKEN_PENDING: TokenWait & { readonly retryAt: number | undefined };
  /** The client was used after `close()`. */
  ERR_CLOSED: unknown;
}

/** The codes of all errors of Service Auth. */
export type ServiceAuthErrorCode = keyof ServiceAuthErrorFields;

/**
 * Every error of Service Auth has this class. `code` says which kind it is, and the message ends
 * with a link to the part of the documentation about it. Recognise it by
 * {@link isServiceAuthError}, not by `instanceof`: a process that loads the ESM and the CommonJS
 * build has two such classes. No error contains a token or a secret.
 */
export class ServiceAuthError extends Error {
  override readonly name: 'ServiceAuthError' = 'ServiceAuthError';
  readonly code: ServiceAuthErrorCode;
  /**
   * When you can try again, in epoch milliseconds of this machine's clock. Undefined: no time is
   * known.
   */
  readonly retryAt?: number | undefined;

  constructor(code: ServiceAuthErrorCode, message: string, fields?: object, cause?: Error) {
    super(`[service-auth] ${message} See ${errorPage}#${code.toLowerCase()}`, cause && { cause });
    this.code = code;
    Object.assign(this, fields);
    Object.defineProperty(this, brand, { value: true });
  }
}

/** A {@link ServiceAuthError} with the fields of its `code`. */
export type AnyServiceAuthError = {
  [Code in ServiceAuthErrorCode]: ServiceAuthError & { readonly code: Code } & ServiceAuthErrorFields[Code];
}[ServiceAuthErrorCode];

/** Returns whether `value` is an error of Service Auth, from any copy of the package. */
export function isServiceAuthError(value: unknown): value is AnyServiceAuthError {
  // `instanceof Error` would be wrong: test runners and vm contexts have several classes `Error`.
  try {
    return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true;
  } catch {
    return false;
  }
}

/** Creates an error of one code with the fields of that code. */
export function serviceAuthError<Code extends ServiceAuthErrorCode>(
  code: Code,
  message: string,
  fields: ServiceAuthErrorFields[Code],
): AnyServiceAuthError {
  return new ServiceAuthError(code, message, fields as object) as AnyServiceAuthError;
}

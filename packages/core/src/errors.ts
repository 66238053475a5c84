import { ownProperties } from './foreign.ts';
import type { OAuthErrorCode } from './ledger/oauth-error.ts';

const brand = Symbol.for('@service-auth/error');

/** One thing that is wrong with the options: which, and what to do. Never contains the value. */
export interface ConfigProblem {
  /** The option's name, such as `clientSecret` or `issuanceLimit.tokens`; the variable's name for `createServiceAuthFromEnv`. */
  readonly option: string;
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
  /** The token is the one that was to be replaced: a cache answered. */
  | 'cached';

/** What each error code carries besides `code`, `message` and `retryAt`. */
export interface ServiceAuthErrorFields {
  /** The options are wrong; `problems` lists all of them. */
  ERR_CONFIG: { readonly problems: readonly ConfigProblem[] };
  /** The window's budget is spent; no request was sent. `limit`: tokens per window as agreed with the operator. `used`: spent of it. */
  ERR_ISSUANCE_LIMIT: { readonly retryAt: number; readonly limit: number; readonly used: number };
  /** The token endpoint answered 400, 401 or 403. `oauthError`: its `error` code (RFC 6749 section 5.2), if it sent one; `'other'` stands for every text that is no registered code. */
  ERR_CREDENTIALS_REJECTED: {
    readonly status: number;
    readonly oauthError: OAuthErrorCode | undefined;
    readonly retryAt: number;
  };
  /** The token endpoint answered 429; the whole fleet holds off until `retryAt`. */
  ERR_RATE_LIMITED: { readonly retryAt: number };
  /** The token endpoint could not be reached, timed out, redirected or failed. `ambiguous`: a token may have been issued, so one was counted. */
  ERR_TOKEN_ENDPOINT: { readonly status: number | undefined; readonly ambiguous: boolean; readonly retryAt: number };
  /** The token endpoint answered 2xx with something that is no bearer token; one was counted. */
  ERR_TOKEN_RESPONSE: { readonly reason: TokenResponseReason; readonly retryAt: number | undefined };
  /** The store cannot be read or written, and no valid token is in memory. */
  ERR_STORE: { readonly retryAt: number };
  /** The stored record is damaged or of an unknown version. It was left as it is. */
  ERR_STORE_INTEGRITY: unknown;
  /** Used after `close()`. */
  ERR_CLOSED: unknown;
}

/** The codes of all errors that Service Auth rejects with. */
export type ServiceAuthErrorCode = keyof ServiceAuthErrorFields;

/**
 * The one error class of Service Auth. Tell kinds apart by `code`; recognise it by {@link isServiceAuthError}, because the class
 * exists twice in a process that loads both the ESM and the CommonJS build. Contains neither token nor secret.
 */
export class ServiceAuthError extends Error {
  override readonly name: 'ServiceAuthError' = 'ServiceAuthError';
  readonly code: ServiceAuthErrorCode;
  /** When trying again makes sense, in epoch milliseconds of this machine's clock. */
  readonly retryAt?: number | undefined;

  constructor(code: ServiceAuthErrorCode, message: string, fields?: object, cause?: Error) {
    super(`[service-auth] ${message}`, cause && { cause });
    this.code = code;
    Object.assign(this, fields);
    Object.defineProperty(this, brand, ownProperties({ value: true }));
  }
}

/** A {@link ServiceAuthError} whose fields follow from its `code`. */
export type AnyServiceAuthError = {
  [Code in ServiceAuthErrorCode]: ServiceAuthError & { readonly code: Code } & ServiceAuthErrorFields[Code];
}[ServiceAuthErrorCode];

/** Whether `value` is an error of Service Auth, whichever copy of the package made it. */
export function isServiceAuthError(value: unknown): value is AnyServiceAuthError {
  // Not instanceof Error: test runners and vm contexts have several.
  try {
    return typeof value === 'object' && value !== null && (value as { [brand]?: unknown })[brand] === true;
  } catch {
    return false;
  }
}

/** Creates the error of one code with exactly the fields of that code. */
export function serviceAuthError<Code extends ServiceAuthErrorCode>(
  code: Code,
  message: string,
  fields: ServiceAuthErrorFields[Code],
  cause?: Error,
): ServiceAuthError {
  return new ServiceAuthError(code, message, fields as object, cause);
}

import type { ClientAuthentication } from '../contract/client-authentication.ts';
import { shownTokenName } from '../contract/token-parameters.ts';
import { resolveParameters } from '../endpoint/resolve-parameters.ts';
import { decodeRecord } from '../ledger/codec.ts';
import { type Answered, isAboutClient, isOfCredentials } from '../ledger/oauth-error.ts';
import { allHolds, type Hold } from '../ledger/pace.ts';
import { present } from '../ledger/present.ts';
import { type LedgerRecord, type Refusal, stateOf, tokensInUse } from '../ledger/record.ts';
import { sealingKey } from './seal.ts';

/** Decodes the text of a record. @throws TypeError if clients refuse it */
export function acceptedRecord(record: string): LedgerRecord {
  const decoded = decodeRecord(record);
  if (typeof decoded === 'string') throw new TypeError(`[service-auth] This record is refused: ${decoded}.`);
  return decoded;
}

/**
 * Returns why clients refuse the text of a record with `ERR_STORE_INTEGRITY`. Undefined: they
 * accept it.
 */
export function problemOfRecord(record: string): 'damaged' | 'unknown version' | undefined {
  const decoded = decodeRecord(record);
  return typeof decoded === 'string' ? decoded : undefined;
}

/**
 * Returns whether a record has nothing that could be lost: no token, and no issuance. False for a
 * record that clients refuse.
 */
export function isEmptyRecord(record: string): boolean {
  const decoded = decodeRecord(record);
  if (typeof decoded === 'string') return false;
  return [decoded.spent, decoded.tokens, decoded.log].every(({ length }) => length === 0);
}

/**
 * Failures in a row, as a record remembers them. They are remembered until a token is issued, even
 * after the wait that follows them is over.
 */
export interface RepeatedFailure {
  /**
   * `backoff`: token requests failed. `rate_limited`: the token endpoint limits the rate of
   * requests. `credentials`: it answered 400, 401 or 403 to the credentials for one audience.
   * `deaths`: processes died during their requests. `rejections`: the API answered 401 to new
   * tokens; the count starts again after an hour without one.
   */
  readonly kind: 'backoff' | 'rate_limited' | 'credentials' | 'deaths' | 'rejections';
  /** The number of failures in a row, at least 1. */
  readonly count: number;
  /** The end of the wait that follows the last one. Epoch milliseconds of the store's clock. */
  readonly retryAt: number;
  /** The last status of the token endpoint. Undefined: it gave no answer. */
  readonly status?: number | undefined;
  /** The audience of the failed requests. Undefined: those of all audiences. */
  readonly audience?: string | undefined;
  /** The `instance` option of the process whose `credentials` were rejected last. */
  readonly instance?: string | undefined;
  /** When that process sent its request. Epoch milliseconds of the store's clock. */
  readonly failedAt?: number | undefined;
  /**
   * Only for `credentials`: whether the answer is about the client and its secret, or about the
   * requested token, such as its audience.
   */
  readonly about?: 'client' | 'request' | undefined;
  /**
   * The end of the token that the programs with these `credentials` still have. Epoch milliseconds
   * of the store's clock. Undefined: they have none.
   */
  readonly tokenExpiresAt?: number | undefined;
}

/**
 * Returns the failures in a row that a record remembers. A record that clients refuse has none.
 * `now`: the store's clock, in epoch milliseconds. Processes that died by then count. Default: the
 * instant at which the record was written.
 */
export function failuresInRow(record: string, now?: number): readonly RepeatedFailure[] {
  const decoded = decodeRecord(record);
  if (typeof decoded === 'string') return [];
  const found = present(decoded, undefined, now ?? decoded.latestAt, decoded.id);
  const tokens = tokensInUse(found.record, found.now);
  const holds = allHolds({ record: found.record, limits: { terms: [], durability: 'durable' } });
  // If all of them are about one token, the failure names it.
  const isOfOne = (shared: Hold) =>
    holds.some(({ name, last, count }) => {
      return name !== undefined && count === shared.count && last?.at === shared.last?.at;
    });
  return holds.flatMap((hold): RepeatedFailure[] => {
    const { kind, count, until: retryAt, name, last, refused } = hold;
    if (count === 0 || kind === 'renewal' || kind === 'limit' || (name === undefined && isOfOne(hold))) return [];
    const failure = { count, retryAt, status: last?.status, audience: name && shownTokenName(name) };
    if (kind !== 'credentials') return [{ ...failure, kind: kind === 'misconfigured' ? 'backoff' : kind }];
    const inUse = tokens.find((token) => token.name === name && token.keyId === refused?.keyId);
    const about = last && subjectOf(last);
    const { instance } = refused ?? {};
    return [{ ...failure, kind, instance, about, failedAt: last?.at, tokenExpiresAt: inUse?.expiresAt }];
  });
}

function subjectOf(answered: Answered): 'client' | 'request' {
  return isAboutClient(answered) ? 'client' : 'request';
}

/** The options of `createServiceAuth()` that say which token is requested. */
export interface RequestedToken {
  /** Its query is a part of the token's name. */
  tokenEndpoint?: string | URL | undefined;
  audience?: string | undefined;
  scope?: string | readonly string[] | undefined;
  resource?: string | readonly string[] | undefined;
  parameters?: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the name of a token as `getUsage()` shows it: the audience, and the other requested
 * values.
 */
export function shownNameOf(token: RequestedToken): string {
  return shownTokenName(resolveParameters(token).tokenName);
}

/**
 * A client secret with the options that belong to it, as in the options of `createServiceAuth()`.
 */
export interface SecretOwner extends RequestedToken {
  clientId: string;
  clientSecret: string;
  clientAuthentication?: ClientAuthentication | undefined;
  storeKey?: string | Uint8Array | undefined;
}

/** The facts that a record shows about a client secret. */
export interface SecretInRecord {
  /**
   * The last rejection of this very secret, if the token endpoint has issued no token to it since.
   * Undefined: the record knows of none.
   */
  readonly rejection?:
    | {
        readonly status: number;
        /**
         * Whether the answer is about the client and its secret, or about the requested token, such
         * as its audience.
         */
        readonly about: 'client' | 'request';
        /**
         * The `instance` option of the process that was refused last, and when it sent its request,
         * in epoch milliseconds of the store's clock.
         */
        readonly instance?: string | undefined;
        readonly failedAt?: number | undefined;
      }
    | undefined;
  /**
   * True if programs with this secret, or this `storeKey`, can use the token of the record.
   * Undefined: the record has no such token.
   */
  readonly opensToken: boolean | undefined;
  /**
   * True if a program with this secret, or this `storeKey`, has used the record, for whatever
   * audience. False: only programs with other secrets have, or the record is that of another
   * client. Undefined: no program has used it.
   */
  readonly isKnown: boolean | undefined;
}

/**
 * Returns the facts that a record shows about a client secret. `record`: a text that clients
 * accept. `now`: the store's clock, in epoch milliseconds.
 */
export async function secretInRecord(
  record: string,
  { clientId, clientSecret, clientAuthentication, storeKey, ...token }: SecretOwner,
  now: number,
): Promise<SecretInRecord> {
  const tokenEndpoint = `${token.tokenEndpoint ?? ''}`;
  const { signal } = new AbortController();
  const request = { clientId, clientSecret, tokenEndpoint, issuer: undefined, parameters: [], now, signal };
  const credential = await clientAuthentication?.credentialId?.(request);
  const { id, secretId } = await sealingKey(clientSecret, storeKey, clientId, credential);
  const decoded = acceptedRecord(record);
  const { tokenName: name } = resolveParameters(token);
  const rejected = stateOf(decoded, name).refusals?.[secretId] ?? decoded.refusals[secretId];
  const inUse = tokensInUse(decoded, now).filter((token) => token.name === name);
  const { refusals } = decoded;
  const users = [
    ...decoded.spent.filter(({ keyId }) => keyId !== ''),
    ...decoded.tokens,
    ...[refusals, ...Object.values(decoded.states).map((state) => state.refusals ?? {})].flatMap(
      Object.values<Refusal>,
    ),
  ];
  return {
    rejection: rejected && isOfCredentials(rejected) ? rejectionIn(rejected) : undefined,
    opensToken: inUse.length > 0 ? inUse.some(({ keyId }) => keyId === id) : undefined,
    isKnown: users.length > 0 ? users.some(({ keyId }) => keyId === id) : undefined,
  };
}

function rejectionIn(refusal: Refusal): SecretInRecord['rejection'] {
  const { status, instance, at } = refusal;
  return { status, about: subjectOf(refusal), instance, failedAt: at };
}

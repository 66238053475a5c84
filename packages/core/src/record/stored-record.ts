import type { ClientAuthentication } from '../contract/client-authentication.ts';
import { configError, problemOfInteger, problemOfText, reportTo } from '../contract/config-problems.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { type IssuanceLimit, resolveLimits } from '../contract/issuance-limit.ts';
import type { Store } from '../contract/store.ts';
import { shownTokenName } from '../contract/token-parameters.ts';
import { resolveParameters } from '../endpoint/resolve-parameters.ts';
import { resolveTokenAddress } from '../endpoint/token-address.ts';
import { fitted } from '../ledger/bound.ts';
import { decodeRecord, encodeRecord } from '../ledger/codec.ts';
import { holdsOf } from '../ledger/forecast.ts';
import { type LedgerRecord, newRecord } from '../ledger/journal.ts';
import { withSpentElsewhere } from '../ledger/orders.ts';
import { isOfCredentials, refusalsOf } from '../ledger/refusals.ts';
import { reconcile } from '../ledger/repair.ts';
import { tokensInUse } from '../ledger/tokens.ts';
import { randomId, recordKeyOf, sealingKey } from './seal.ts';

export { authenticationVariables, secretVariables, unreadVariables, variables } from '../contract/variables.ts';

/** The client whose record is meant. */
export interface RecordOwner {
  /** The address of the authorization server, as in the options of `createServiceAuth()`. All spellings of an address name one record. */
  authUrl?: string | URL | undefined;
  /** In place of it, the address of the token endpoint. */
  tokenEndpoint?: string | URL | undefined;
  /** The issuer, if the clients have it. With it the record is found without an address. */
  issuer?: string | undefined;
  /** The identifier of the client: 1 to 512 characters. */
  clientId: string;
}

/**
 * Returns the key of a client's record, under which its store keeps it.
 * @throws `ERR_CONFIG` with all problems
 */
export async function recordKey({ clientId, ...server }: RecordOwner): Promise<string> {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  const address = resolveTokenAddress(server, true, false, report);
  report('clientId', problemOfText(clientId, 512));
  if (problems.length > 0 || !address) throw configError(problems);
  return recordKeyOf(address.endpoint, clientId);
}

/**
 * Returns the text of an empty record, to replace a damaged one with. Clients treat it like a new record of a shared store: it allows few tokens at
 * first, because it may replace a lost one. `now`: the store's clock, in epoch milliseconds.
 */
export function emptyRecord(now: number): string {
  return encodeRecord(newRecord(randomId(), now));
}

/**
 * Returns the record as one of which nobody knows what was issued after it was copied. Clients treat it like a new record of a shared store, in which the
 * tokens and issuances of the copy count. `now`: the store's clock, in epoch milliseconds. `record`: a text that clients accept.
 */
export function incompleteRecord(record: string, now: number): string {
  const decoded = acceptedRecord(record);
  return encodeRecord({ ...decoded, completeSince: Math.max(now, decoded.completeSince) });
}

function acceptedRecord(record: string): LedgerRecord {
  const decoded = decodeRecord(record);
  if (typeof decoded === 'string') throw new TypeError(`[service-auth] This record is refused: ${decoded}.`);
  return decoded;
}

/** What somebody knows of the tokens that a record has not seen. */
export interface SpentElsewhere {
  /** At most so many were issued in the last window: 0 to 1,000,000. */
  count: number;
  /** Who says so: 1 to 64 characters, as the option `instance` of a client. */
  instance: string;
  /** Why: 1 to 200 characters. Everybody who can read the store can read it. */
  reason: string;
  /** The store's clock, in epoch milliseconds. */
  now: number;
  /** The agreement with the operator. Default: that of the record, or 150 tokens in 24 hours. */
  issuanceLimit?: IssuanceLimit | undefined;
}

/**
 * Returns the record in which those tokens count, from now on, and which is not new any more: the rest of the limit may be used. The number contains what
 * was said before. `record`: a text that clients accept, or undefined if the store has none. `store`: the store that will keep it. Undefined: the record knows
 * of more such tokens, or of all tokens that were issued.
 * @throws `ERR_CONFIG` with all problems
 */
export function recordWithSpent(
  record: string | undefined,
  { count, instance, reason, now, issuanceLimit }: SpentElsewhere,
  { durability, maxRecordBytes: maxBytes }: Pick<Store, 'durability' | 'maxRecordBytes'>,
): string | undefined {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  report('count', problemOfInteger(count, 0, 1_000_000));
  report('instance', problemOfText(instance, 64));
  report('reason', problemOfText(reason, 200));
  const limits = { ...resolveLimits(issuanceLimit ?? 'inherit', durability, report), maxBytes };
  if (problems.length > 0) throw configError(problems);
  const loaded = record === undefined ? undefined : acceptedRecord(record);
  const found = reconcile(loaded, undefined, now, randomId(), limits);
  const said = { id: randomId(), by: instance, reason, tokens: count };
  const next = withSpentElsewhere(found.record, found.now, said, limits);
  return next && fitted({ ...next, sequence: next.sequence + 1 }, found.now, limits).text;
}

/** Returns why clients refuse the text of a record with `ERR_STORE_INTEGRITY`. Undefined: they accept it. */
export function problemOfRecord(record: string): 'damaged' | 'unknown version' | undefined {
  const decoded = decodeRecord(record);
  return typeof decoded === 'string' ? decoded : undefined;
}

/** Returns whether a record has nothing that could be lost: no token, and no issuance. False for a record that clients refuse. */
export function isEmptyRecord(record: string): boolean {
  const decoded = decodeRecord(record);
  if (typeof decoded === 'string') return false;
  return [decoded.attempts, decoded.buckets, decoded.tokens, decoded.orders].every(({ length }) => length === 0);
}

/** One failure after another, as a record remembers them. They are remembered until a token is issued, also when the wait that follows them is over. */
export interface RepeatedFailure {
  /**
   * `backoff`: token requests failed. `rate_limited`: the token endpoint answered 429. `credentials`: it answered 400, 401 or 403 to the credentials for one audience. `deaths`:
   * processes died during their requests. `rejections`: the API answered 401 to new tokens; the count starts again after an hour without one.
   */
  readonly kind: 'backoff' | 'rate_limited' | 'credentials' | 'deaths' | 'rejections';
  /** The number of failures in a row, at least 1. */
  readonly count: number;
  /** The end of the wait that follows the last one. Epoch milliseconds of the store's clock. */
  readonly retryAt: number;
  /** The last status of the token endpoint. Undefined: it gave no answer. */
  readonly status?: number | undefined;
  /** The audience that it is about. Undefined: it is about all. */
  readonly audience?: string | undefined;
  /** The `instance` option of the process whose `credentials` were rejected last. */
  readonly instance?: string | undefined;
  /** When that process asked. Epoch milliseconds of the store's clock. */
  readonly failedAt?: number | undefined;
  /** The end of the token that the programs with these `credentials` still have. Epoch milliseconds of the store's clock. Undefined: they have none. */
  readonly tokenExpiresAt?: number | undefined;
}

/**
 * Returns the failures in a row that a record remembers. A record that clients refuse has none. `now`: the store's clock, in epoch milliseconds. Processes that
 * died by then count. Default: the instant at which the record was written.
 */
export function failuresInRow(record: string, now?: number): readonly RepeatedFailure[] {
  const decoded = decodeRecord(record);
  if (typeof decoded === 'string') return [];
  const at = now ?? decoded.highWaterAt;
  const tokens = tokensInUse(decoded, at);
  return holdsOf(decoded, at, { terms: [], durability: 'durable' }).flatMap(
    ({ kind, count, until: retryAt, audience: name, attempt }): RepeatedFailure[] => {
      if (count === 0 || kind === 'renewal' || kind === 'unreadable') return [];
      const { status } = attempt?.outcome ?? {};
      const failure = { count, retryAt, status, audience: name && shownTokenName(name) };
      if (kind !== 'credentials') return [{ ...failure, kind: kind === 'misconfigured' ? 'backoff' : kind }];
      const inUse = tokens.find((token) => token.audience === name && token.keyId === attempt?.keyId);
      const { instance, outcome } = attempt ?? {};
      return [{ ...failure, kind, instance, failedAt: outcome?.at, tokenExpiresAt: inUse?.expiresAt }];
    },
  );
}

/** What a token is requested for, as in the options of `createServiceAuth()`. */
export interface RequestedToken {
  /** Its query is a part of what is asked for. */
  tokenEndpoint?: string | URL | undefined;
  audience?: string | undefined;
  scope?: string | readonly string[] | undefined;
  resource?: string | readonly string[] | undefined;
  parameters?: Readonly<Record<string, string>> | undefined;
}

/** Returns the name of such a token as `getUsage()` shows it: the audience, and what else is asked for. */
export function shownNameOf(token: RequestedToken): string {
  return shownTokenName(resolveParameters(token).audience);
}

/** A client secret with the options that belong to it, as in the options of `createServiceAuth()`. */
export interface SecretOwner extends RequestedToken {
  clientId: string;
  clientSecret: string;
  clientAuthentication?: ClientAuthentication | undefined;
  storeKey?: string | Uint8Array | undefined;
}

/** What a record shows of a client secret. */
export interface SecretInRecord {
  /** The token endpoint rejected this very secret, and has issued no token to it since. Undefined: the record knows of no rejection. */
  readonly rejection?:
    | {
        readonly status: number;
        /** The `instance` option of the process that was refused last, and when it asked, in epoch milliseconds of the store's clock. */
        readonly instance?: string | undefined;
        readonly failedAt?: number | undefined;
      }
    | undefined;
  /** True if programs with this secret, or this `storeKey`, can use the token of the record. Undefined: the record has no such token. */
  readonly opensToken: boolean | undefined;
  /**
   * True if a program with this secret, or this `storeKey`, has used the record, for whatever audience. False: only others have, so the secret is another one, or the
   * record is that of another client. Undefined: no program has.
   */
  readonly isKnown: boolean | undefined;
}

/** Returns what a record shows of a client secret. `record`: a text that clients accept. `now`: the store's clock, in epoch milliseconds. */
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
  const { audience } = resolveParameters(token);
  const rejected = refusalsOf(decoded).find((refused) => {
    return refused.audience === audience && refused.secretId === secretId && isOfCredentials(refused.outcome);
  });
  const { status = 0, at: failedAt } = rejected?.outcome ?? {};
  const inUse = tokensInUse(decoded, now).filter((token) => token.audience === audience);
  const users = [...decoded.attempts, ...decoded.tokens];
  return {
    rejection: rejected && { status, instance: rejected.instance, failedAt },
    opensToken: inUse.length > 0 ? inUse.some(({ keyId }) => keyId === id) : undefined,
    isKnown: users.length > 0 ? users.some(({ keyId }) => keyId === id) : undefined,
  };
}

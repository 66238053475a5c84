/**
 * Reads and repairs a stored record. It serves the command line and tools like it.
 *
 * @experimental It follows the form of the record, and may change in a minor version.
 * @module
 */

import { configError, problemOfInteger, problemOfText, reportTo } from '../contract/config-problems.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { type IssuanceLimit, resolveLimits } from '../contract/issuance-limit.ts';
import type { Store } from '../contract/store.ts';
import { resolveTokenAddress } from '../endpoint/token-address.ts';
import { encodeRecord } from '../ledger/codec.ts';
import { compact, fitted } from '../ledger/compact.ts';
import { termLimits } from '../ledger/limits.ts';
import { withStated } from '../ledger/orders.ts';
import { present } from '../ledger/present.ts';
import { newRecord } from '../ledger/record.ts';
import { acceptedRecord } from './record-findings.ts';
import { randomId, recordKeyOf } from './seal.ts';

export {
  authenticationVariables,
  secretVariables,
  serveVariables,
  unreadVariables,
  variables,
} from '../contract/variables.ts';
export { type TemporaryCause, temporaryCauseOf } from '../endpoint/meaning-of.ts';
export {
  failuresInRow,
  isEmptyRecord,
  problemOfRecord,
  type RepeatedFailure,
  type RequestedToken,
  type SecretInRecord,
  type SecretOwner,
  secretInRecord,
  shownNameOf,
} from './record-findings.ts';

/** The client whose record is meant. */
export interface RecordOwner {
  /**
   * The address of the authorization server, as in the options of `createServiceAuth()`. All
   * spellings of an address name one record.
   */
  authUrl?: string | URL | undefined;
  /** The address of the token endpoint, in place of `authUrl`. */
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
 * Returns the text of an empty record, to replace a damaged one with. Clients treat it like a new
 * record of a shared store: it allows few tokens at first, because it may replace a lost one.
 * `now`: the store's clock, in epoch milliseconds.
 */
export function emptyRecord(now: number): string {
  return encodeRecord(newRecord(randomId(), now));
}

/**
 * Returns the record as an old copy: nobody knows which tokens were issued after it was copied.
 * Clients treat it like a new record of a shared store, in which the tokens and issuances of the
 * copy count. `now`: the store's clock, in epoch milliseconds. `record`: a text that clients
 * accept.
 */
export function incompleteRecord(record: string, now: number): string {
  const decoded = acceptedRecord(record);
  return encodeRecord({ ...decoded, completeSince: Math.max(now, decoded.completeSince) });
}

/** A statement about tokens that a record has not seen. */
export interface SpentElsewhere {
  /** The most tokens that were issued in the last window: 0 to 1,000,000. */
  count: number;
  /**
   * The name of the person or program that states it: 1 to 64 characters, as the option `instance`
   * of a client.
   */
  instance: string;
  /**
   * The reason of the statement: 1 to 200 characters. Everybody who can read the store can read it.
   */
  reason: string;
  /** The store's clock, in epoch milliseconds. */
  now: number;
  /** The agreement with the provider. Default: that of the record, or 150 tokens in 24 hours. */
  issuanceLimit?: IssuanceLimit | undefined;
}

/**
 * Returns the record in which those tokens count from now on, and which counts as complete: the
 * rest of the limit may be used. The count replaces that of an earlier statement. `record`: a text
 * that clients accept, or undefined if the store has none. `store`: the store that will keep it.
 * Undefined: the record knows of more such tokens, or of all tokens that were issued.
 * @throws `ERR_CONFIG` with all problems
 */
export function recordWithSpent(
  record: string | undefined,
  { count, instance, reason, now, issuanceLimit }: SpentElsewhere,
  store: Pick<Store, 'durability' | 'maxRecordBytes'>,
): string | undefined {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  report('count', problemOfInteger(count, 0, 1_000_000));
  report('instance', problemOfText(instance, 64));
  report('reason', problemOfText(reason, 200));
  const limits = resolveLimits(issuanceLimit ?? 'inherit', store, report);
  if (problems.length > 0) throw configError(problems);
  const loaded = record === undefined ? undefined : acceptedRecord(record);
  const found = present(loaded, undefined, now, randomId());
  const statement = { id: randomId(), by: instance, reason, tokens: count };
  const situation = { record: found.record, now: found.now, limits };
  const next = withStated(situation, statement);
  const written = next && compact({ ...situation, record: { ...next, sequence: next.sequence + 1 } });
  return written && fitted({ ...situation, record: written }).text;
}

/**
 * Returns the milliseconds for which a token counts in a window of this length. They are longer
 * than the window, because clocks change and differ. `isUnknown`: true if it is unknown whether the
 * token was issued, so that its request may have arrived late.
 */
export function countsForMs(windowMs: number, isUnknown: boolean): number {
  const { settledMs, pendingMs } = termLimits({ tokens: 1, windowMs, reserve: 0 }, 'durable');
  return isUnknown ? pendingMs : settledMs;
}

import { configError, problemOfMethods, problemOfText, reportTo, reportUnknown } from '../contract/config-problems.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { type IssuanceLimit, resolveLimits } from '../contract/issuance-limit.ts';
import type { Store, StoreSnapshot } from '../contract/store.ts';
import { resolveTokenAddress } from '../endpoint/token-address.ts';
import { decodeRecord } from '../ledger/codec.ts';
import { present } from '../ledger/present.ts';
import { type Clock, instantOf, keepAlive, systemClock } from '../platform/clock.ts';
import { outsideRequest } from '../platform/nextjs.ts';
import { timedOut, within } from '../platform/pause.ts';
import { ownProperties } from '../platform/untrusted.ts';
import { randomId, recordKeyOf } from '../record/seal.ts';
import { checked, integrityError, silentStore, storeFailure } from '../record/store-calls.ts';
import type { Usage } from './usage.ts';
import { usageOf } from './usage-of.ts';

/** Options of {@link createUsageReader}. */
export interface UsageReaderOptions {
  /** The store of the fleet. */
  store: Store;
  /**
   * The address of the authorization server, as the fleet has it. Nothing is sent to it. It may be
   * missing with `tokenEndpoint` or `issuer`.
   */
  authUrl?: string | URL | undefined;
  /** The address of the token endpoint, as the fleet has it. Nothing is sent to it. */
  tokenEndpoint?: string | URL | undefined;
  /** The issuer, as the fleet has it. With it the record is found without an address. */
  issuer?: string | undefined;
  /** The identifier of the client, as the fleet has it: 1 to 512 characters. */
  clientId: string;
  /**
   * The agreement with the provider. Default: what the processes of the fleet wrote into the
   * record. Without any of it, 150 tokens in 24 hours.
   */
  issuanceLimit?: IssuanceLimit | 'unlimited' | undefined;
  /** The source of time, for tests. Default: the clocks of this machine. */
  clock?: Clock | undefined;
}

/** Reads the usage of a fleet. It needs no secret, requests no token and writes nothing. */
export interface UsageReader {
  /**
   * Returns what `getUsage()` of a client returns. `refusedUntil` speaks of all audiences: it is
   * set if one of them that has no token waits, such as after a failure, or because the credentials
   * were rejected for it. Then `available` is what a caller for that audience can have.
   * @throws `ERR_STORE`, `ERR_STORE_INTEGRITY`
   */
  getUsage(): Promise<Usage>;
  /** The key of the record in the store. A store may put a prefix before it. */
  readonly recordKey: Promise<string>;
}

const storeTimeoutMs = 2_000;

/**
 * Creates a reader of the usage, for monitoring and for people.
 * @throws `ERR_CONFIG` with all problems of the options
 */
export function createUsageReader(options: UsageReaderOptions): UsageReader {
  const { store, endpoint, clientId, limits, clock } = resolved(options);
  const recordKey = (): Promise<string> => recordKeyOf(endpoint, clientId);

  async function load(name: string): Promise<StoreSnapshot> {
    const snapshot = await within(storeTimeoutMs, clock, async (signal) => checked(await store.load(name, { signal })));
    if (snapshot === timedOut) throw silentStore(store);
    return snapshot;
  }

  async function getUsage(): Promise<Usage> {
    const failed = (error: unknown) => {
      throw storeFailure('load', error, { clock, store }).thrown;
    };
    const name = await recordKey().catch(failed);
    const readAt = instantOf(clock);
    const snapshot = await load(name).catch(failed);
    const loaded = snapshot.record === undefined ? undefined : decodeRecord(snapshot.record);
    if (typeof loaded === 'string') throw integrityError(loaded, name, store);
    const { record, now } = present(loaded, undefined, snapshot.now, randomId());
    const { version, warnings = [] } = snapshot;
    const storeAheadMs = snapshot.now - readAt.wall;
    return usageOf({ record, now, limits, readAt, storeAheadMs, version, warnings }, undefined, clock);
  }

  return {
    getUsage: () => outsideRequest(() => getUsage().finally(keepAlive(clock))),
    get recordKey() {
      return recordKey();
    },
  };
}

const names: readonly string[] = ['store', 'authUrl', 'tokenEndpoint', 'issuer', 'clientId', 'issuanceLimit', 'clock'];

function resolved(given: UsageReaderOptions) {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  const options = ownProperties(typeof given === 'object' && given) as Partial<UsageReaderOptions>;
  reportUnknown(options, names, report);
  // Nothing is sent to the address, so it need not be encrypted.
  const address = resolveTokenAddress(options, true, false, report);
  report('clientId', problemOfText(options.clientId, 512));
  report('store', problemOfMethods(options.store, ['load'], 'a Store, such as fileStore()'));
  const clock = options.clock ?? systemClock;
  report('clock', problemOfMethods(clock, ['now', 'monotonic', 'setTimer'], 'a Clock, such as createTestClock()'));
  const { store, clientId, issuanceLimit } = options as UsageReaderOptions;
  const limits = resolveLimits(issuanceLimit ?? 'inherit', Object(store) as Store, report);
  if (problems.length > 0 || !address) throw configError(problems);
  return { store, endpoint: address.endpoint, clientId, limits, clock };
}

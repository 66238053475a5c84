import { type Clock, systemClock } from './clock.ts';
import {
  configError,
  problemOfInteger,
  problemOfMethods,
  problemOfSecret,
  problemOfText,
  type Report,
} from './config-problems.ts';
import type { ConfigProblem } from './errors.ts';
import { type Emit, emitter, type ServiceAuthEventListener } from './events.ts';
import { fetchTransport } from './fetch-transport.ts';
import type { Lifeline } from './flight.ts';
import { ownProperties } from './foreign.ts';
import { type IssuanceLimit, resolveLimits } from './issuance-limit.ts';
import type { Limits } from './ledger/limits.ts';
import { memoryStore } from './memory-store.ts';
import { randomId } from './seal.ts';
import type { Store } from './store.ts';
import type { Transport } from './transport.ts';
import { ambiguityOf, endpointName, parseAddress, tokenEndpointOf, urlScope } from './url-scope.ts';

/** Options of `createServiceAuth`. */
export interface ServiceAuthOptions {
  /** The address of the authorization server: https, or http on loopback. Tokens are requested from `{authUrl}/oauth/token`. */
  authUrl: string | URL;
  /** The address of the API. Adapters send the token only to this origin, at or below this path. Default: they send it nowhere. */
  baseUrl?: string | URL | undefined;
  /** The identifier of the API, from the service's settings: 1 to 512 characters. */
  audience: string;
  /** The identifier of the client, from the service's settings: 1 to 512 characters. */
  clientId: string;
  /** The client secret, 1 to 4,096 characters, or a function that returns it. The function is called before every token request. */
  clientSecret: string | (() => string | Promise<string>);
  /** The agreement with the operator. Default: 150 tokens in 24 hours. */
  issuanceLimit?: IssuanceLimit | undefined;
  /** The store of the record. Default `memoryStore()`: only this process uses it, and the record is lost when the process ends. */
  store?: Store | undefined;
  /** Sends token requests. Default `fetchTransport()`. */
  transport?: Transport | undefined;
  /** The deadline of a token request, from connecting to the last byte of the answer: 1 to 300,000 ms. Default 30,000. */
  timeoutMs?: number | undefined;
  /** The key material that encrypts tokens in the store: at least 32 characters or bytes. Default: the client secret. */
  storeKey?: string | Uint8Array | undefined;
  /** Allows http: for hosts other than loopback. Default false. */
  allowInsecureHttp?: boolean | undefined;
  /** The name of this process in events and in `getUsage().issuances`: 1 to 64 characters. Default: a random id. */
  instance?: string | undefined;
  /** Receives every event. Default: none. */
  onEvent?: ServiceAuthEventListener | undefined;
  /**
   * Keeps the I/O of a request going until `work` settles. Set it in runtimes that end I/O with the request that began it. In Cloudflare Workers:
   * `import { waitUntil } from 'cloudflare:workers'`. Without it no token is renewed ahead of its expiry there. Default: none.
   */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
  /** The source of time, for tests. Default: the clocks of this machine. */
  clock?: Clock | undefined;
}

/** The checked options, with defaults. */
export interface Settings extends Lifeline {
  readonly tokenUrl: string;
  /** The name of the token endpoint. All spellings of `tokenUrl` have one name. */
  readonly endpoint: string;
  readonly covers: (url: string | URL) => boolean;
  readonly audience: string;
  readonly clientId: string;
  readonly clientSecret: ServiceAuthOptions['clientSecret'];
  readonly limits: Limits;
  readonly store: Store;
  readonly transport: Transport;
  readonly timeoutMs: number;
  readonly storeKey: string | Uint8Array | undefined;
  readonly instance: string;
  readonly emit: Emit;
  readonly clock: Clock;
}

const names: ReadonlySet<string> = new Set<keyof ServiceAuthOptions>([
  'authUrl',
  'baseUrl',
  'audience',
  'clientId',
  'clientSecret',
  'issuanceLimit',
  'store',
  'transport',
  'timeoutMs',
  'storeKey',
  'allowInsecureHttp',
  'instance',
  'onEvent',
  'waitUntil',
  'clock',
]);

/**
 * Checks all options and sets defaults. Messages name options and never contain their values.
 * @throws `ERR_CONFIG` with all problems
 */
export function resolveOptions(given: ServiceAuthOptions): Settings {
  const problems: ConfigProblem[] = [];
  const report: Report = (option, message) => {
    if (message !== undefined) problems.push({ option, message });
  };
  const options = ownProperties(typeof given === 'object' && given);
  for (const name of Object.keys(options)) if (!names.has(name)) report(name, 'is not an option');

  const insecure = options.allowInsecureHttp ?? false;
  if (typeof insecure !== 'boolean') report('allowInsecureHttp', 'must be a boolean');
  const authUrl = parseAddress(options.authUrl, insecure === true);
  report('authUrl', typeof authUrl === 'string' ? authUrl : ambiguityOf(authUrl));
  const baseUrl = options.baseUrl === undefined ? undefined : parseAddress(options.baseUrl, insecure === true);
  if (typeof baseUrl === 'string') report('baseUrl', baseUrl);

  report('audience', problemOfText(options.audience, 512));
  report('clientId', problemOfText(options.clientId, 512));
  if (typeof options.clientSecret !== 'function') report('clientSecret', problemOfSecret(options.clientSecret));
  if (options.instance !== undefined) report('instance', problemOfText(options.instance, 64));

  const timeoutMs = options.timeoutMs ?? 30_000;
  report('timeoutMs', problemOfInteger(timeoutMs, 1, 300_000));
  const { storeKey } = options;
  if (
    storeKey !== undefined &&
    !((typeof storeKey === 'string' || storeKey instanceof Uint8Array) && storeKey.length >= 32)
  ) {
    report('storeKey', 'must be a string or Uint8Array of at least 32 random characters or bytes');
  }

  const clock = options.clock ?? systemClock;
  report('clock', problemOfMethods(clock, ['now', 'monotonic', 'setTimer'], 'a Clock, such as createTestClock()'));
  const store = options.store ?? memoryStore({ clock });
  report('store', problemOfMethods(store, ['load', 'swap'], 'a Store, such as fileStore()'));
  const { durability } = store;
  if (options.store && durability !== 'process' && durability !== 'durable' && durability !== 'replicated') {
    report('store', "must have a durability of 'process', 'durable' or 'replicated'");
  }
  for (const name of ['transport', 'onEvent', 'waitUntil'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') report(name, 'must be a function');
  }
  const limits = resolveLimits(options.issuanceLimit, durability, report);

  if (problems.length > 0) throw configError(problems);
  const audience = options.audience as string;
  const { waitUntil } = options;
  let { instance } = options;
  const source = {
    audience,
    // The id is drawn at its first use, because workers have no randomness before their first request.
    get instance(): string {
      instance ??= randomId();
      return instance;
    },
  };
  return {
    tokenUrl: tokenEndpointOf(authUrl as URL),
    endpoint: endpointName(authUrl as URL),
    covers: urlScope(baseUrl as URL | undefined),
    audience,
    clientId: options.clientId as string,
    clientSecret: options.clientSecret as ServiceAuthOptions['clientSecret'],
    limits,
    store,
    transport: options.transport ?? fetchTransport(),
    timeoutMs,
    storeKey,
    get instance() {
      return source.instance;
    },
    emit: emitter(options.onEvent, source, clock),
    requestBound: waitUntil !== undefined || inWorker(),
    waitUntil,
    clock,
  };
}

/** Returns whether this is Cloudflare Workers, or another runtime on workerd. */
function inWorker(): boolean {
  const { navigator } = globalThis as { navigator?: { userAgent?: unknown } };
  return navigator?.userAgent === 'Cloudflare-Workers';
}

import type { ClientAuthentication } from '../contract/client-authentication.ts';
import {
  configError,
  problemOfInteger,
  problemOfMethods,
  problemOfSecret,
  problemOfText,
  type Report,
  reportTo,
  reportUnknown,
} from '../contract/config-problems.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { resolveLimits } from '../contract/issuance-limit.ts';
import type { ServiceAuthOptions, TokenOptions } from '../contract/options.ts';
import { problemsOfRequest } from '../contract/problems-of-request.ts';
import type { Addresses, CheckedOptions, CommonSettings } from '../contract/settings.ts';
import type { Store } from '../contract/store.ts';
import { defaultTransport } from '../endpoint/fetch-transport.ts';
import { jsonAuthentication } from '../endpoint/json-request.ts';
import { optionsOf, resolveHeaders, resolveParameters } from '../endpoint/resolve-parameters.ts';
import { resolveTokenAddress } from '../endpoint/token-address.ts';
import { urlScope } from '../endpoint/url-scope.ts';
import { durabilities } from '../ledger/limits.ts';
import { parseAddress } from '../platform/address.ts';
import { systemClock } from '../platform/clock.ts';
import { inWorker } from '../platform/in-worker.ts';
import { ownProperties } from '../platform/untrusted.ts';
import { memoryStore, sharedMemoryStore } from '../record/memory-store.ts';

export const optionNames: readonly (keyof ServiceAuthOptions)[] = Object.keys({
  authUrl: true,
  tokenEndpoint: true,
  issuer: true,
  scope: true,
  resource: true,
  parameters: true,
  clientAuthentication: true,
  recognizedTokenTypes: true,
  headers: true,
  scheme: true,
  lifetimeMs: true,
  baseUrl: true,
  audience: true,
  clientId: true,
  clientSecret: true,
  issuanceLimit: true,
  store: true,
  transport: true,
  timeoutMs: true,
  storeKey: true,
  allowInsecureHttp: true,
  instance: true,
  onEvent: true,
  waitUntil: true,
  clock: true,
} satisfies Record<keyof ServiceAuthOptions, true>) as (keyof ServiceAuthOptions)[];

/**
 * Checks all options and sets defaults. Messages name options and never contain their values.
 * @throws `ERR_CONFIG` with all problems
 */
export function resolveOptions(given: ServiceAuthOptions): CheckedOptions {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  const options = ownProperties(typeof given === 'object' && given);
  reportUnknown(options, optionNames, report);

  const addresses = addressesOf(options, report);
  const { audience, tokenEndpoint, clientAuthentication } = options;
  if (audience !== undefined || !(tokenEndpoint ?? clientAuthentication))
    report('audience', problemOfText(audience, 512));
  report('clientId', problemOfText(options.clientId, 512));
  const authentication = authenticationOf(options, report);
  if (options.instance !== undefined) report('instance', problemOfText(options.instance, 64));

  const { timeoutMs = 30_000, clock = systemClock } = options;
  report('timeoutMs', problemOfInteger(timeoutMs, 1, 300_000));
  const key = options.storeKey;
  // A copy, because a program may overwrite the bytes of its key after this call. `slice()` of a
  // Buffer does not copy.
  const storeKey = key instanceof Uint8Array ? new Uint8Array(key) : key;
  if (
    storeKey !== undefined &&
    !((typeof storeKey === 'string' || storeKey instanceof Uint8Array) && storeKey.length >= 32)
  ) {
    report('storeKey', 'must be a string or Uint8Array of at least 32 random characters or bytes');
  }

  report('clock', problemOfMethods(clock, ['now', 'monotonic', 'setTimer'], 'a Clock, such as createTestClock()'));
  // The clock of a test must not become that of other clients in this process.
  const usual = options.clock ? memoryStore({ clock }) : sharedMemoryStore;
  const store = options.store === undefined ? usual : (Object(options.store) as Store);
  report('store', problemOfMethods(store, ['load', 'swap'], 'a Store, such as fileStore()'));
  const { durability } = store;
  if (options.store !== undefined && !durabilities.includes(durability)) {
    report('store', "must have a durability of 'process', 'durable' or 'replicated'");
  }
  for (const name of ['transport', 'onEvent', 'waitUntil'] as const) {
    if (options[name] !== undefined && typeof options[name] !== 'function') report(name, 'must be a function');
  }
  if (options.transport && (options.transport as unknown) === globalThis.fetch) {
    report('transport', 'must be a Transport: for a fetch, give fetchTransport({ fetch })');
  }
  if (!authentication.usesSecret && storeKey === undefined && durability !== 'process')
    report('storeKey', 'must be given: it encrypts the tokens in the store, because there is no clientSecret');
  const { maxRecordBytes } = store;
  if (maxRecordBytes !== undefined && problemOfInteger(maxRecordBytes, 3_000, 4_000_000)) {
    report('store', 'must have maxRecordBytes of 3,000 to 4,000,000, or none');
  }
  const limits = resolveLimits(options.issuanceLimit, store, report);

  if (problems.length > 0 || !addresses) throw configError(problems);
  const { waitUntil, onEvent, clientId, clientSecret, instance } = options as ServiceAuthOptions;
  const common = Object.freeze({
    ...addresses,
    ...resolveParameters(options as ServiceAuthOptions),
    authentication,
    tokenTypes: `${[options.recognizedTokenTypes ?? [], options.scheme ?? []].flat()}`.toLowerCase(),
    headers: resolveHeaders(options.headers),
    scheme: options.scheme ?? 'Bearer',
    lifetimeMs: options.lifetimeMs,
    limits,
    store,
    transport: options.transport ?? defaultTransport,
    timeoutMs,
    storeKey,
    onEvent,
    requestBound: waitUntil !== undefined || inWorker(),
    waitUntil,
    clock,
  });
  return { common, clientId, clientSecret, instance };
}

/** Checks the addresses. Undefined: one of them has a problem. */
function addressesOf(options: Partial<ServiceAuthOptions>, report: Report): Addresses | undefined {
  const { allowInsecureHttp: insecure = false } = options;
  if (typeof insecure !== 'boolean') report('allowInsecureHttp', 'must be a boolean');
  const address = resolveTokenAddress(options, insecure === true, true, report);
  const baseUrl = options.baseUrl === undefined ? undefined : parseAddress(options.baseUrl, insecure === true);
  if (typeof baseUrl === 'string') report('baseUrl', baseUrl);
  if (!address || typeof baseUrl === 'string') return undefined;
  const { issuer } = options;
  const covers = urlScope(baseUrl, address.tokenUrl);
  return { ...address, issuer, baseUrl: baseUrl?.href, covers, allowInsecureHttp: insecure };
}

const tokenOptionNames = Object.keys({
  audience: true,
  scope: true,
  resource: true,
  parameters: true,
  baseUrl: true,
} satisfies Record<keyof TokenOptions, true>);

/**
 * Checks the options of another token of a client, and returns the settings for it.
 * @throws `ERR_CONFIG` with all problems
 */
export function resolveToken(common: CommonSettings, given: TokenOptions): CommonSettings {
  const problems: ConfigProblem[] = [];
  const report = reportTo(problems);
  // No option is required, so any other value would give the client's own token.
  if (typeof given !== 'object' || given === null) report('options', 'must be an object such as { audience }');
  const options = ownProperties(typeof given === 'object' && given);
  reportUnknown(options, tokenOptionNames, report);
  const present = Object.entries(options).filter(([, value]) => value !== undefined);
  const asked: TokenOptions = ownProperties({ ...optionsOf(common.parameters), ...Object.fromEntries(present) });
  const { audience, baseUrl: address = common.baseUrl } = asked;
  if (audience !== undefined) report('audience', problemOfText(audience, 512));
  problems.push(...problemsOfRequest(asked as Record<string, unknown>));
  const baseUrl = address === undefined ? undefined : parseAddress(address, common.allowInsecureHttp);
  if (typeof baseUrl === 'string') report('baseUrl', baseUrl);
  if (problems.length > 0 || typeof baseUrl === 'string') throw configError(problems);
  const { addressedBy, tokenUrl } = common;
  const tokenEndpoint = addressedBy === 'tokenEndpoint' ? tokenUrl : undefined;
  const named = resolveParameters({ ...asked, tokenEndpoint });
  return Object.freeze({ ...common, ...named, baseUrl: baseUrl?.href, covers: urlScope(baseUrl, tokenUrl) });
}

/**
 * Returns whether a client authentication has all members that it must have. Another author may
 * have written it.
 */
function isWhole({ usesSecret, problems, write, credentialId }: ClientAuthentication): boolean {
  const areFunctions = [problems, write, credentialId ?? write].every((each) => typeof each === 'function');
  return areFunctions && typeof usesSecret === 'boolean';
}

/** Checks the client authentication, and the secret that it needs or must not have. */
function authenticationOf(options: Partial<ServiceAuthOptions>, report: Report): ClientAuthentication {
  const { clientAuthentication: given, clientSecret } = options;
  if (given !== undefined && !isWhole(Object(given)))
    report(
      'clientAuthentication',
      'must be a ClientAuthentication, such as clientSecretBasic(), with all that its type has',
    );
  const authentication = given !== undefined && isWhole(Object(given)) ? given : jsonAuthentication;
  const client = options as Record<string, unknown>;
  for (const { option, message } of [problemsOfRequest(client), authentication.problems(client)].flat())
    report(`${option}`, `${message}`);
  if (authentication.usesSecret) {
    if (typeof clientSecret !== 'function') report('clientSecret', problemOfSecret(clientSecret));
  } else if (clientSecret !== undefined)
    report('clientSecret', 'must not be given: this clientAuthentication sends none');
  return authentication;
}

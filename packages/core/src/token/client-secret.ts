import { isWritten, type UnwrittenRequest, type WrittenRequest } from '../contract/client-authentication.ts';
import { problemOfSecret } from '../contract/config-problems.ts';
import { serviceAuthError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { timedOut, within } from '../platform/pause.ts';
import { describeError, ownText } from '../platform/untrusted.ts';
import { keyOfProcess } from '../record/memory-store.ts';
import { type SealingKey, sealingKey } from '../record/seal.ts';
import { storeFailure } from '../record/store-calls.ts';

/**
 * The present client secret, or the text that identifies another credential, and the keys derived
 * from it.
 */
export interface CurrentSecret {
  readonly value: string;
  readonly key: SealingKey;
}

/**
 * The source of the client's credential. Rejects with `ERR_CLIENT_SECRET` if a function of the
 * application, or a private key, brings no valid credential, and with `ERR_STORE` if WebCrypto
 * fails.
 */
export interface ClientSecretSource {
  /** Writes a token request with the credential, within `timeoutMs`. */
  write(secret: CurrentSecret, timeoutMs: number): Promise<WrittenRequest>;
  /**
   * Gets the secret before each attempt that may request a token, and derives the keys again if it
   * changed.
   */
  get(): Promise<CurrentSecret>;
  /**
   * Returns the secret of the last call of `get`. It is enough to read the record, for which the
   * application's vault should not be asked.
   */
  last(): Promise<CurrentSecret>;
}

/**
 * The secret and the credential that a client saw last, its keys, and the last failure of a
 * function of the application.
 */
export class SecretMemory {
  value: string | undefined;
  credential: string | undefined;
  key: Promise<SealingKey> | undefined;
  failure: { readonly error: Error; readonly at: number; readonly retryAt: number } | undefined;
}

// After two failures within this time the functions rest for the same time. Otherwise each request
// of a server would call them.
const retryMs = 1_000;

/** Creates the source for either form of the option `clientSecret`. */
export function clientSecretSource(settings: Settings, memory: SecretMemory): ClientSecretSource {
  const { authentication, clientSecret, clientId, clock, timeoutMs, emitRepeated } = settings;
  const { usesSecret } = authentication;
  // The store of the process needs no key that others have. Nobody else reads it.
  const storeKey = settings.storeKey ?? (usesSecret ? undefined : keyOfProcess());

  async function get(): Promise<CurrentSecret> {
    const { failure } = memory;
    if (failure && clock.monotonic() < failure.retryAt) throw failure.error;
    const value =
      typeof clientSecret === 'function'
        ? await result('function for the client secret', timeoutMs, async () => clientSecret(), problemOfSecret)
        : (clientSecret ?? '');
    const credential = authentication.credentialId ? await credentialOf(value) : value;
    if (memory.value !== value || memory.credential !== credential) memory.key = undefined;
    memory.value = value;
    memory.credential = credential;
    return withKey(value);
  }

  function credentialOf(value: string): Promise<string> {
    const run = async (signal: AbortSignal) => `${await authentication.credentialId?.(requestOf(value, signal))}`;
    return result('client authentication', timeoutMs, run, () => undefined);
  }

  function write({ value }: CurrentSecret, withinMs: number): Promise<WrittenRequest> {
    const run = async (signal: AbortSignal) => authentication.write(requestOf(value, signal));
    return result('client authentication', withinMs, run, (written) =>
      isWritten(written) ? undefined : 'must be headers and a text as body',
    );
  }

  function requestOf(value: string, signal: AbortSignal): UnwrittenRequest {
    const { tokenUrl: tokenEndpoint, issuer, parameters } = settings;
    const secret = usesSecret ? value : undefined;
    return { clientId, clientSecret: secret, tokenEndpoint, issuer, parameters, now: clock.now(), signal };
  }

  /** Calls a function of the application, with a deadline. */
  async function result<Value>(
    what: string,
    withinMs: number,
    run: (signal: AbortSignal) => Promise<Value>,
    problemOf: (value: Value) => string | undefined,
  ): Promise<Value> {
    let why: string;
    try {
      const value = await within(withinMs, clock, run);
      const problem = value === timedOut ? `does not come within ${withinMs} ms` : problemOf(value);
      if (problem === undefined) return value as Value;
      why = `its result ${problem}`;
    } catch (error) {
      // The message of the error may contain anything, so it is not passed on.
      why = [describeError(error), ownText(error, 'advice')].filter(Boolean).join(': ');
    }
    const retryAt = clock.now() + retryMs;
    const message = `The ${what} failed (${why}). Check it; the next attempt is possible at ${new Date(retryAt).toISOString()}.`;
    const error = serviceAuthError('ERR_CLIENT_SECRET', message, { retryAt });
    const at = clock.monotonic();
    const before = memory.failure;
    memory.failure = { error, at, retryAt: before && at - before.at < retryMs ? at + retryMs : 0 };
    emitRepeated('client_secret_failed', { error: why });
    throw error;
  }

  async function last(): Promise<CurrentSecret> {
    return memory.value === undefined ? get() : withKey(memory.value);
  }

  async function withKey(value: string): Promise<CurrentSecret> {
    memory.key ??= sealingKey(value, storeKey, clientId, memory.credential).catch((error: unknown) => {
      // The next call derives the keys again.
      memory.key = undefined;
      throw storeFailure('load', error, settings).thrown;
    });
    return { value, key: await memory.key };
  }

  return { get, last, write };
}

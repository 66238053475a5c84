import { problemOfSecret } from '../contract/config-problems.ts';
import { serviceAuthError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import { timedOut, within } from '../platform/pause.ts';
import { describeError } from '../platform/untrusted.ts';
import { type SealingKey, sealingKey } from '../record/seal.ts';
import { storeFailure } from '../record/store-answers.ts';

/** The present client secret and the keys derived from it. */
export interface CurrentSecret {
  readonly value: string;
  readonly key: SealingKey;
}

/** The source of the client secret. Rejects with `ERR_CLIENT_SECRET` if the function of the option returns no valid secret, and with `ERR_STORE` if WebCrypto fails. */
export interface ClientSecretSource {
  /** Gets the secret before each attempt that may request a token, and derives the keys again if it changed. */
  get(): Promise<CurrentSecret>;
  /** Returns the secret of the last call of `get`. That is enough to read the record, for which the application's vault should not be asked. */
  last(): Promise<CurrentSecret>;
}

/** The secret that a client saw last, its keys, and the failure of the function if it has returned no secret since. */
export class SecretMemory {
  value: string | undefined;
  key: Promise<SealingKey> | undefined;
  failure: { readonly error: Error; readonly at: number; readonly retryAt: number } | undefined;
}

// After two failures within this time the function rests for the same time. Otherwise each request of a server would call it.
const retryMs = 1_000;

// Keys take more memory than the rest of a client. So only the clients that were used last keep theirs, and the others derive them again.
const maxKeys = 1_000;
const withKeys = new Set<SecretMemory>();

/** Creates the source for either form of the option `clientSecret`. */
export function clientSecretSource(settings: Settings, memory: SecretMemory): ClientSecretSource {
  const { clientSecret, storeKey, clientId, clock, timeoutMs, emitRepeated } = settings;

  async function get(): Promise<CurrentSecret> {
    const value = typeof clientSecret === 'string' ? clientSecret : await fetched(clientSecret);
    if (memory.value !== value) memory.key = undefined;
    memory.value = value;
    return withKey(value);
  }

  async function fetched(getSecret: () => string | Promise<string>): Promise<string> {
    const { failure } = memory;
    if (failure && clock.monotonic() < failure.retryAt) throw failure.error;
    memory.failure = undefined;
    let why: string | undefined;
    try {
      const value = await within(timeoutMs, clock, async () => getSecret());
      const problem = value === timedOut ? `does not come within ${timeoutMs} ms` : problemOfSecret(value);
      if (problem === undefined) return value as string;
      why = `its result ${problem}`;
    } catch (error) {
      // The message of the error may contain anything, so it is not passed on.
      why = describeError(error);
    }
    const retryAt = clock.now() + retryMs;
    const message = `The function for the client secret failed (${why}). Check it; the next attempt is possible at ${new Date(retryAt).toISOString()}.`;
    const error = serviceAuthError('ERR_CLIENT_SECRET', message, { retryAt });
    const at = clock.monotonic();
    memory.failure = { error, at, retryAt: failure && at - failure.at < retryMs ? at + retryMs : 0 };
    emitRepeated('client_secret_failed', { error: why });
    throw error;
  }

  async function last(): Promise<CurrentSecret> {
    return memory.value === undefined ? get() : withKey(memory.value);
  }

  async function withKey(value: string): Promise<CurrentSecret> {
    memory.key ??= sealingKey(value, storeKey, clientId).catch((error: unknown) => {
      // The next call derives them again.
      forgetKey(memory);
      throw storeFailure('load', error, settings).thrown;
    });
    withKeys.delete(memory);
    withKeys.add(memory);
    const { key } = memory;
    const [oldest] = withKeys;
    if (withKeys.size > maxKeys && oldest) forgetKey(oldest);
    return { value, key: await key };
  }

  return { get, last };
}

/** Forgets the keys of a client. Its next request derives them again. */
export function forgetKey(memory: SecretMemory): void {
  memory.key = undefined;
  withKeys.delete(memory);
}

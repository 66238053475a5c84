import type { Clock } from './clock.ts';
import { configError, problemOfSecret } from './config-problems.ts';
import { timedOut, within } from './pause.ts';
import { type SealingKey, sealingKey } from './seal.ts';
import type { Settings } from './settings.ts';
import { storeFailure } from './store-answers.ts';

/** The present client secret and the keys derived from it. */
export interface CurrentSecret {
  readonly value: string;
  readonly key: SealingKey;
}

/** The source of the client secret. Rejects with `ERR_CONFIG` if the function of the option returns no valid secret, and with `ERR_STORE` if WebCrypto fails. */
export interface ClientSecretSource {
  /** Gets the secret before each attempt that may request a token, and derives the keys again if it changed. */
  ask(): Promise<CurrentSecret>;
  /** Returns the secret of the last call of `ask`. That is enough to read the record, for which the application's vault should not be asked. */
  last(): Promise<CurrentSecret>;
}

/** The secret that a client saw last, and its keys. */
export class SecretMemory {
  value: string | undefined;
  key: Promise<SealingKey> | undefined;
}

// Keys take more memory than the rest of a client. They are derived again for clients that are not among those that were used last.
const maxKeys = 1_000;
const withKeys = new Set<SecretMemory>();

/** Creates the source for either form of the option `clientSecret`. */
export function clientSecretSource(settings: Settings, memory: SecretMemory): ClientSecretSource {
  const { clientSecret, storeKey, clientId, clock, timeoutMs } = settings;

  async function ask(): Promise<CurrentSecret> {
    const value = typeof clientSecret === 'string' ? clientSecret : await fetched(clientSecret, timeoutMs, clock);
    if (memory.value !== value) memory.key = undefined;
    memory.value = value;
    return withKey(value);
  }

  async function last(): Promise<CurrentSecret> {
    return memory.value === undefined ? ask() : withKey(memory.value);
  }

  async function withKey(value: string): Promise<CurrentSecret> {
    memory.key ??= sealingKey(value, storeKey, clientId).catch((error: unknown) => {
      // The next call derives them again.
      forgetKey(memory);
      throw storeFailure('load', error, clock).thrown;
    });
    withKeys.delete(memory);
    withKeys.add(memory);
    const { key } = memory;
    const [oldest] = withKeys;
    if (withKeys.size > maxKeys && oldest) forgetKey(oldest);
    return { value, key: await key };
  }

  return { ask, last };
}

/** Forgets the keys of a client. Its next request derives them again. */
export function forgetKey(memory: SecretMemory): void {
  memory.key = undefined;
  withKeys.delete(memory);
}

async function fetched(ask: () => string | Promise<string>, timeoutMs: number, clock: Clock): Promise<string> {
  let problem: string | undefined;
  try {
    const value = await within(timeoutMs, clock, async () => ask());
    problem = value === timedOut ? `is a function that did not answer within ${timeoutMs} ms` : problemOfSecret(value);
    if (problem === undefined) return value as string;
  } catch {
    // The error of the function may contain anything, so it is not passed on.
    problem = 'is a function that failed; call it to see why';
  }
  throw configError([{ option: 'clientSecret', message: problem }]);
}

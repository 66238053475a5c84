import type { Clock } from './clock.ts';
import { configError, problemOfSecret } from './config-problems.ts';
import type { Settings } from './options.ts';
import { timedOut, within } from './pause.ts';
import { type SealingKey, sealingKey } from './seal.ts';

/** The present client secret and the keys derived from it. */
export interface CurrentSecret {
  readonly value: string;
  readonly key: SealingKey;
}

/** The source of the client secret. Rejects with `ERR_CONFIG` if the function of the option returns no valid secret. */
export interface ClientSecretSource {
  /** Gets the secret before a token request, and derives the keys again if it changed. */
  ask(): Promise<CurrentSecret>;
  /** Returns the secret of the last call of `ask`. That is enough to read the record, for which the application's vault should not be asked. */
  last(): Promise<CurrentSecret>;
}

/** Creates the source for either form of the option `clientSecret`. */
export function clientSecretSource(settings: Settings): ClientSecretSource {
  const { clientSecret, storeKey, clientId, clock, timeoutMs } = settings;
  let derived: { value: string; key: Promise<SealingKey> } | undefined;

  async function ask(): Promise<CurrentSecret> {
    const value = typeof clientSecret === 'string' ? clientSecret : await fetched(clientSecret, timeoutMs, clock);
    if (derived?.value !== value) derived = { value, key: sealingKey(value, storeKey, clientId) };
    return { value, key: await derived.key };
  }

  async function last(): Promise<CurrentSecret> {
    return derived ? { value: derived.value, key: await derived.key } : ask();
  }

  return { ask, last };
}

async function fetched(ask: () => string | Promise<string>, timeoutMs: number, clock: Clock): Promise<string> {
  let problem: string | undefined;
  try {
    const value = await within(timeoutMs, clock, async () => ask());
    problem = value === timedOut ? `is a function that did not answer within ${timeoutMs} ms` : problemOfSecret(value);
    if (problem === undefined) return value as string;
  } catch {
    // What it threw may contain anything, so it is not passed on.
    problem = 'is a function that failed; call it to see why';
  }
  throw configError([{ option: 'clientSecret', message: problem }]);
}

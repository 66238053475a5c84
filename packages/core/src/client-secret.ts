import type { Clock } from './clock.ts';
import { configError, problemOfSecret } from './config-problems.ts';
import type { Settings } from './options.ts';
import { timedOut, within } from './pause.ts';
import { type SealingKey, sealingKey } from './seal.ts';

/** The client secret as it is now, and the keys derived from it. */
export interface CurrentSecret {
  readonly value: string;
  readonly key: SealingKey;
}

/** Where the client secret comes from. Rejects with `ERR_CONFIG` when a function does not return one. */
export interface ClientSecretSource {
  /** Asks for the secret, and derives keys when it changed: before a token may be requested. */
  ask(): Promise<CurrentSecret>;
  /** As it was last: enough to look for tokens, for which no vault should be asked. */
  last(): Promise<CurrentSecret>;
}

/** The option `clientSecret`, whichever form it has. */
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

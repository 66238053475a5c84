import { configError, problemOfSecret, type Settings } from './options.ts';
import { type SealingKey, sealingKey } from './seal.ts';

/** The client secret as it is now, and the keys derived from it. */
export interface CurrentSecret {
  readonly value: string;
  readonly key: SealingKey;
}

/** Asks for the secret, and derives keys when it changed. Rejects with `ERR_CONFIG` when a function does not return one. */
export function clientSecretSource(settings: Settings): () => Promise<CurrentSecret> {
  const { clientSecret, storeKey, clientId } = settings;
  let derived: { value: string; key: Promise<SealingKey> } | undefined;
  return async () => {
    const value = typeof clientSecret === 'string' ? clientSecret : await fetched(clientSecret);
    if (derived?.value !== value) derived = { value, key: sealingKey(value, storeKey, clientId) };
    return { value, key: await derived.key };
  };
}

async function fetched(ask: () => string | Promise<string>): Promise<string> {
  let problem: string | undefined;
  try {
    const value = await ask();
    problem = problemOfSecret(value);
    if (problem === undefined) return value;
  } catch {
    // What it threw may contain anything, so it is not passed on.
    problem = 'is a function that failed';
  }
  throw configError([{ option: 'clientSecret', message: problem }]);
}

import type { ConfigProblem } from '../contract/errors.ts';
import { toBase64Url } from '../platform/bytes.ts';
import {
  describeKey,
  isSigningAlgorithm,
  type KeyDescription,
  type PlatformAlgorithm,
  type PlatformKey,
  type PrivateJwk,
  type PrivateKey,
  platformAlgorithms,
  type SigningAlgorithm,
} from './private-key.ts';

/** A private key that WebCrypto keeps. */
export interface SigningKey {
  readonly algorithm: SigningAlgorithm;
  /** Undefined: the key has none. */
  readonly keyId: string | undefined;
  /** Identifies the key and reveals nothing about it. Empty: WebCrypto does not export it. */
  readonly id: string;
  sign(text: string): Promise<Uint8Array>;
}

/** The source of a signing key. */
export interface SigningKeys {
  /** The problem of the key. Undefined: none is known. A function is called only later. */
  readonly problem: ConfigProblem | undefined;
  /**
   * Gets the key: from the function each time, and otherwise the same one. Rejects with an error
   * that contains no part of the key.
   */
  get(): Promise<SigningKey>;
}

/** Creates the source. `algorithm`: the option, if it was given. */
export function signingKeys(
  key: PrivateKey | (() => PrivateKey | Promise<PrivateKey>),
  algorithm: SigningAlgorithm | undefined,
): SigningKeys {
  if (typeof key === 'function') {
    const get = async () => imported(described(await key(), algorithm));
    return { problem: undefined, get };
  }
  const checked = describe(key, algorithm);
  if ('option' in checked) return { problem: checked, get: () => Promise.reject(unusable(checked)) };
  // The given key is kept only until WebCrypto has it.
  let found: ChosenKey | undefined = checked;
  let signing: Promise<SigningKey> | undefined;
  const get = () => {
    signing ??= imported(found as ChosenKey).then((kept) => {
      found = undefined;
      return kept;
    });
    signing.catch(() => {
      signing = undefined;
    });
    return signing;
  };
  return { problem: undefined, get };
}

/** A key with the algorithm that it signs with. */
interface ChosenKey extends KeyDescription {
  readonly chosen: SigningAlgorithm;
}

function described(key: unknown, algorithm: SigningAlgorithm | undefined): ChosenKey {
  const found = describe(key, algorithm);
  if ('option' in found) throw unusable(found);
  return found;
}

/** Describes the key and chooses its algorithm, or returns the problem. */
function describe(key: unknown, algorithm: SigningAlgorithm | undefined): ChosenKey | ConfigProblem {
  const found = describeKey(key);
  if (typeof found === 'string') return { option: 'clientAuthentication.key', message: found };
  const { algorithms, algorithm: stated } = found;
  const wanted = algorithm ?? stated;
  const option = 'clientAuthentication.algorithm';
  if (wanted !== undefined) {
    if (isSigningAlgorithm(wanted) && algorithms.includes(wanted)) return { ...found, chosen: wanted };
    return { option, message: `does not fit the key, which signs with ${algorithms.join(', ')}` };
  }
  const [chosen] = algorithms;
  if (chosen !== undefined && (algorithms.length === 1 || chosen === 'EdDSA')) return { ...found, chosen };
  return { option, message: `must be given, because the key fits several: ${algorithms.join(', ')}` };
}

function unusable({ option, message }: ConfigProblem): Error {
  const advice = `${option.replace('clientAuthentication.', '') || 'key'} ${message}`;
  return Object.assign(new TypeError(advice), { code: 'UNUSABLE_KEY', advice });
}

async function imported({ chosen, material, keyId }: ChosenKey): Promise<SigningKey> {
  const platform = platformAlgorithms[chosen];
  const key = await importKey(material, platform).catch(() => undefined);
  const { modulusLength = minRsaBits } = (key?.algorithm ?? {}) as { modulusLength?: number };
  if (!key || modulusLength < minRsaBits)
    throw unusable({ option: '', message: 'is damaged, too short, or of a kind that this runtime lacks' });
  return {
    algorithm: chosen,
    keyId,
    id: await idOf(material),
    sign: async (text) => {
      const signature = await crypto.subtle.sign(platform as { name: string }, key, new TextEncoder().encode(text));
      return new Uint8Array(signature);
    },
  };
}

// The least sizes of keys for a JWT (RFC 7518 sections 3.3 and 3.5). Most runtimes take shorter
// keys.
const minRsaBits = 2_048;

const members = ['kty', 'crv', 'd', 'x', 'y', 'n', 'e', 'p', 'q', 'dp', 'dq', 'qi'] as const;
const publicMembers = ['kty', 'crv', 'x', 'y', 'n', 'e'] as const;

async function importKey(material: KeyDescription['material'], platform: PlatformAlgorithm): Promise<PlatformKey> {
  if ('usages' in material) return material;
  const { subtle } = crypto;
  if (material instanceof Uint8Array) return subtle.importKey('pkcs8', material, platform, false, ['sign']);
  // Other members of a JWK, such as `alg`, were checked before.
  return subtle.importKey('jwk', picked(material, members), platform, false, ['sign']);
}

function picked(jwk: PrivateJwk, names: readonly string[]): Record<string, string> {
  const own = names.filter((name) => Object.hasOwn(jwk, name));
  return Object.fromEntries(own.map((name) => [name, jwk[name as keyof PrivateJwk] as string]));
}

/**
 * Returns a hash of the public key if there is one, and otherwise of the whole key, which is too
 * random to be guessed.
 */
async function idOf(given: KeyDescription['material']): Promise<string> {
  const material = 'usages' in given ? await crypto.subtle.exportKey('jwk', given).catch(() => undefined) : given;
  if (!material) return '';
  const bytes =
    material instanceof Uint8Array
      ? material
      : new TextEncoder().encode(JSON.stringify(picked(material, publicMembers)));
  const digest = await crypto.subtle.digest({ name: 'SHA-256' }, bytes);
  return toBase64Url(new Uint8Array(digest, 0, 9));
}

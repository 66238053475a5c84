import { fromBase64Url, randomBytes, toBase64Url } from '../platform/bytes.ts';

// This is CryptoKey, a name that the types of some platforms lack.
type Key = Awaited<ReturnType<typeof crypto.subtle.deriveKey>>;

/** Keys that are derived from the client secret, or from `storeKey`. */
export interface SealingKey {
  /** Identifies the key and reveals nothing about it. */
  readonly id: string;
  /** Identifies the credential and reveals nothing about it. */
  readonly secretId: string;
  readonly key: Key;
}

// The encoder is created when it is used. Jest's jsdom has no TextEncoder, and code that is tested
// there may import this module.
const utf8 = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);
const nonceLength = 12;

/** Joins parts to bytes. The length precedes each part, so no two lists give the same bytes. */
export function joined(parts: readonly string[]): Uint8Array<ArrayBuffer> {
  const encoded = parts.map(utf8);
  const bytes = new Uint8Array(encoded.reduce((sum, part) => sum + 4 + part.length, 0));
  let offset = 0;
  for (const part of encoded) {
    new DataView(bytes.buffer).setUint32(offset, part.length);
    bytes.set(part, offset + 4);
    offset += 4 + part.length;
  }
  return bytes;
}

/**
 * Derives the keys of one client (HKDF-SHA-256, RFC 5869) for AES-256-GCM with a 128-bit tag.
 * `credential`: the text that identifies the client's credential.
 */
export async function sealingKey(
  secret: string,
  storeKey: string | Uint8Array | undefined,
  clientId: string,
  credential: string = secret,
): Promise<SealingKey> {
  const { subtle } = crypto;
  const material = async (bytes: Uint8Array<ArrayBuffer>) =>
    subtle.importKey('raw', bytes, { name: 'HKDF' }, false, ['deriveBits', 'deriveKey']);
  const algorithm = (purpose: string) => ({
    name: 'HKDF',
    hash: 'SHA-256',
    salt: new Uint8Array(0),
    info: joined(['service-auth', purpose, clientId]),
  });
  const idOf = async (source: Key, purpose: string) =>
    toBase64Url(new Uint8Array(await subtle.deriveBits(algorithm(purpose), source, 72)));

  const keyBytes = typeof storeKey === 'string' ? utf8(storeKey) : storeKey && new Uint8Array(storeKey);
  const keyMaterial = await material(keyBytes ?? utf8(secret));
  const aes = { name: 'AES-GCM', length: 256 };
  const key = await subtle.deriveKey(algorithm('seal'), keyMaterial, aes, false, ['encrypt', 'decrypt']);

  return {
    id: await idOf(keyMaterial, 'key id'),
    secretId: await idOf(await material(utf8(credential)), 'secret id'),
    key,
  };
}

/** Encrypts and authenticates `text`. It can be opened only with the same `context`. */
export async function seal({ key }: SealingKey, text: string, context: readonly string[]): Promise<string> {
  const iv = randomBytes(nonceLength);
  const sealed = await crypto.subtle.encrypt(parametersOf(iv, context), key, utf8(text));
  // The nonce has 12 bytes, a multiple of three. Its text has no padding, so the sealed bytes can
  // follow it.
  return toBase64Url(iv) + toBase64Url(new Uint8Array(sealed));
}

function parametersOf(iv: Uint8Array<ArrayBuffer>, context: readonly string[]) {
  return { name: 'AES-GCM', iv, additionalData: joined(context), tagLength: 128 };
}

/**
 * Opens a text that was sealed with this key and context. Undefined: the key, the context or the
 * text differs.
 */
export async function open(
  { key }: SealingKey,
  sealed: string,
  context: readonly string[],
): Promise<string | undefined> {
  try {
    const bytes = bytesIn(sealed);
    const parameters = parametersOf(bytes.subarray(0, nonceLength), context);
    return new TextDecoder().decode(await crypto.subtle.decrypt(parameters, key, bytes.subarray(nonceLength)));
  } catch {
    return undefined;
  }
}

/**
 * Returns the key of a client's record. `endpoint`: the result of `endpointName()`. The key reveals
 * neither the endpoint nor the client id.
 */
export async function recordKeyOf(endpoint: string, clientId: string): Promise<string> {
  const digest = await digestOf(['service-auth 1', endpoint, clientId], 20);
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

/**
 * Returns a hash by which an answer that repeats a token is recognised: 72 bits of SHA-256. A token
 * is too random to be guessed, and countless texts have the same 72 bits, so the hash tells nobody
 * the token.
 */
export async function fingerprintOf(token: string): Promise<string> {
  return toBase64Url(await digestOf([token], 9));
}

async function digestOf(parts: readonly string[], length: number): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', joined(parts)), 0, length);
}

/** Returns a random id of 72 bits. It is safe in URLs, file names and logs. */
export function randomId(): string {
  return toBase64Url(randomBytes(9));
}

function bytesIn(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(fromBase64Url(text), (character) => character.charCodeAt(0));
}

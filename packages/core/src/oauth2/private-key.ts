import { ownProperties } from '../platform/untrusted.ts';

/** A `CryptoKey`, a name that the types of some platforms lack. */
export type PlatformKey = Awaited<ReturnType<typeof crypto.subtle.deriveKey>>;

/** A private key as a JWK (RFC 7517). */
export interface PrivateJwk {
  readonly kty?: string | undefined;
  readonly crv?: string | undefined;
  readonly d?: string | undefined;
  readonly alg?: string | undefined;
  readonly kid?: string | undefined;
}

/**
 * A private key: a `CryptoKey` that may sign, a JWK, or a text: PKCS #8 as PEM, or the JSON of a
 * JWK.
 */
export type PrivateKey = PlatformKey | PrivateJwk | string;

/** An algorithm of a signature (RFC 7518 section 3.1, RFC 8037, RFC 9864). */
export type SigningAlgorithm =
  | 'ES256'
  | 'ES384'
  | 'ES512'
  | 'RS256'
  | 'RS384'
  | 'RS512'
  | 'PS256'
  | 'PS384'
  | 'PS512'
  | 'EdDSA'
  | 'Ed25519';

/** The algorithm as WebCrypto imports a key for it and signs with it. */
export interface PlatformAlgorithm {
  readonly name: string;
  readonly hash?: string;
  readonly namedCurve?: string;
  readonly saltLength?: number;
}

const ecdsa = (namedCurve: string, hash: string): PlatformAlgorithm => ({ name: 'ECDSA', namedCurve, hash });
const pkcs1 = (hash: string): PlatformAlgorithm => ({ name: 'RSASSA-PKCS1-v1_5', hash });
const pss = (hash: string, saltLength: number): PlatformAlgorithm => ({ name: 'RSA-PSS', hash, saltLength });

export const platformAlgorithms: Readonly<Record<SigningAlgorithm, PlatformAlgorithm>> = {
  ES256: ecdsa('P-256', 'SHA-256'),
  ES384: ecdsa('P-384', 'SHA-384'),
  ES512: ecdsa('P-521', 'SHA-512'),
  RS256: pkcs1('SHA-256'),
  RS384: pkcs1('SHA-384'),
  RS512: pkcs1('SHA-512'),
  PS256: pss('SHA-256', 32),
  PS384: pss('SHA-384', 48),
  PS512: pss('SHA-512', 64),
  EdDSA: { name: 'Ed25519' },
  Ed25519: { name: 'Ed25519' },
};

const all = Object.keys(platformAlgorithms) as SigningAlgorithm[];
const edwards = all.slice(-2);
const rsa = all.slice(3, 9);
const byCurve: ReadonlyMap<string, readonly SigningAlgorithm[]> = new Map([
  ['EC P-256', ['ES256']],
  ['EC P-384', ['ES384']],
  ['EC P-521', ['ES512']],
  ['OKP Ed25519', edwards],
]);

export function isSigningAlgorithm(value: unknown): value is SigningAlgorithm {
  return all.includes(value as SigningAlgorithm);
}

/** The facts about a private key that are known before its use. */
export interface KeyDescription {
  /** The key in the form in which WebCrypto takes it. */
  readonly material: PlatformKey | PrivateJwk | Uint8Array<ArrayBuffer>;
  readonly algorithms: readonly SigningAlgorithm[];
  /** The members of a JWK that describe it. */
  readonly algorithm?: string | undefined;
  readonly keyId?: string | undefined;
}

/**
 * Describes a private key, or returns its problem in words that complete a sentence. The words
 * contain no part of the key.
 */
export function describeKey(key: unknown): KeyDescription | string {
  if (typeof key === 'string') return key.trim().startsWith('{') ? describeJson(key) : describePem(key);
  if (typeof key !== 'object' || key === null) return 'must be a CryptoKey, a JWK or PKCS #8 as PEM';
  return isPlatformKey(key) ? describePlatformKey(key) : describeJwk(key);
}

function isPlatformKey(key: object): key is PlatformKey {
  const { algorithm, usages } = key as Partial<PlatformKey>;
  return typeof algorithm === 'object' && Array.isArray(usages);
}

function describePlatformKey(key: PlatformKey): KeyDescription | string {
  if (key.type !== 'private' || !key.usages.includes('sign')) return "must be a private key with the usage 'sign'";
  const { name, namedCurve, hash } = key.algorithm as { name: string; namedCurve?: string; hash?: { name: string } };
  const algorithms = all.filter((each) => {
    const platform = platformAlgorithms[each];
    const fits = platform.name === name && (name === 'ECDSA' || !hash || platform.hash === hash.name);
    return fits && platform.namedCurve === namedCurve;
  });
  return algorithms.length > 0 ? { material: key, algorithms } : 'has an algorithm that signs no JWT';
}

function describeJson(text: string): KeyDescription | string {
  try {
    return describeJwk(JSON.parse(text));
  } catch {
    return 'begins like a JWK, and is no JSON';
  }
}

function describeJwk(jwk: PrivateJwk): KeyDescription | string {
  const { kty, crv = '', d, alg: algorithm, kid: keyId } = ownProperties(jwk);
  if (typeof d !== 'string') return 'must be a private key: this JWK has no member d';
  const ofType = kty === 'RSA' ? rsa : byCurve.get(`${kty} ${crv}`);
  return ofType
    ? { material: jwk, algorithms: ofType, algorithm, keyId }
    : 'must be a JWK of P-256, P-384, P-521, RSA or Ed25519';
}

// The identifiers of the algorithms in PKCS #8, in DER (RFC 5208 section 5, RFC 5480, RFC 8017, RFC
// 8410).
const identifiers: readonly (readonly [der: string, algorithms: readonly SigningAlgorithm[]])[] = [
  ['06082a8648ce3d030107', ['ES256']],
  ['06052b81040022', ['ES384']],
  ['06052b81040023', ['ES512']],
  ['06092a864886f70d010101', rsa],
  ['06032b6570', edwards],
];

function describePem(text: string): KeyDescription | string {
  // Variables of an environment often have the line ends as `\n`.
  const pem = text.replaceAll('\\n', '\n').trim();
  const label = /^-----BEGIN ([A-Z0-9 ]+)-----/.exec(pem)?.[1];
  if (label === undefined) return 'must be PKCS #8 as PEM, which begins with -----BEGIN PRIVATE KEY-----, or a JWK';
  if (label !== 'PRIVATE KEY')
    return 'must be PKCS #8 without a password: openssl pkcs8 -topk8 -nocrypt -in KEY writes it';
  const material = derOf(pem);
  if (!material) return 'is PEM that is incomplete or damaged';
  const head = Array.from(material.subarray(0, 40), (byte) => byte.toString(16).padStart(2, '0')).join('');
  const algorithms = identifiers.find(([der]) => head.includes(der))?.[1];
  return algorithms ? { material, algorithms } : 'must be a key of P-256, P-384, P-521, RSA or Ed25519';
}

function derOf(pem: string): Uint8Array<ArrayBuffer> | undefined {
  const base64 = /^-+BEGIN PRIVATE KEY-+([A-Za-z\d+/=\s]+)-+END PRIVATE KEY-+$/.exec(pem)?.[1];
  try {
    return base64 === undefined ? undefined : Uint8Array.from(atob(base64.replace(/\s/g, '')), (c) => c.charCodeAt(0));
  } catch {
    return undefined;
  }
}

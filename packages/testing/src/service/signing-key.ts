import { createHash, generateKeyPair, type KeyObject, sign } from 'node:crypto';
import { promisify } from 'node:util';

/** The claims of a token of the test service (RFC 7519 section 4.1). */
export interface TokenClaims {
  readonly iss: string;
  readonly sub: string;
  readonly aud: string;
  /** Seconds since the epoch, as is `exp`. */
  readonly iat: number;
  readonly exp: number;
  readonly jti: string;
}

/** The public half of a key as a JSON Web Key (RFC 7517), as `/.well-known/jwks.json` lists it. */
interface PublicSigningKey {
  readonly kty: 'RSA';
  readonly use: 'sig';
  readonly alg: 'RS256';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

/** Signs tokens with RS256 (RFC 7518 section 3.3). */
export interface SigningKey {
  readonly publicKey: PublicSigningKey;
  sign(claims: TokenClaims): string;
}

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

function publicSigningKey(key: KeyObject): PublicSigningKey {
  const { n = '', e = '' } = key.export({ format: 'jwk' });
  // The thumbprint of RFC 7638 needs the members in this order, without white space.
  const kid = createHash('sha256')
    .update(JSON.stringify({ e, kty: 'RSA', n }))
    .digest('base64url');
  return { kty: 'RSA', use: 'sig', alg: 'RS256', kid, n, e };
}

let keyOfProcess: Promise<SigningKey> | undefined;

/**
 * Returns the key that all services of this process share: to create an RSA key of 2,048 bits takes
 * about 100 ms.
 */
export function signingKey(): Promise<SigningKey> {
  keyOfProcess ??= createSigningKey();
  return keyOfProcess;
}

async function createSigningKey(): Promise<SigningKey> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const publicKey = publicSigningKey(pair.publicKey);
  const header = encode({ alg: 'RS256', typ: 'JWT', kid: publicKey.kid });
  return {
    publicKey,
    sign(claims) {
      const content = `${header}.${encode(claims)}`;
      return `${content}.${sign('RSA-SHA256', Buffer.from(content), pair.privateKey).toString('base64url')}`;
    },
  };
}

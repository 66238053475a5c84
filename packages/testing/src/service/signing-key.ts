import { createHash, generateKeyPair, type KeyObject, sign, verify } from 'node:crypto';
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
export interface PublicSigningKey {
  readonly kty: 'RSA';
  readonly use: 'sig';
  readonly alg: 'RS256';
  readonly kid: string;
  readonly n: string;
  readonly e: string;
}

/** Signs tokens with RS256 (RFC 7518 section 3.3). Several test services may share one key, because creating a key takes time. */
export interface SigningKey {
  readonly publicKey: PublicSigningKey;
  sign(claims: TokenClaims): string;
  /** Returns the claims if the token was signed with this key, otherwise undefined. */
  verify(token: string): TokenClaims | undefined;
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

/** Creates an RSA key of 2,048 bits. This takes about 100 ms in another thread. */
export async function createSigningKey(): Promise<SigningKey> {
  const pair = await promisify(generateKeyPair)('rsa', { modulusLength: 2048 });
  const publicKey = publicSigningKey(pair.publicKey);
  const header = encode({ alg: 'RS256', typ: 'JWT', kid: publicKey.kid });
  return {
    publicKey,
    sign(claims) {
      const content = `${header}.${encode(claims)}`;
      return `${content}.${sign('RSA-SHA256', Buffer.from(content), pair.privateKey).toString('base64url')}`;
    },
    verify(token) {
      const [first, payload = '', signature = '', ...rest] = token.split('.');
      // The comparison of the whole header excludes every other algorithm, including "none".
      if (first !== header || rest.length > 0) return undefined;
      const content = Buffer.from(`${header}.${payload}`);
      if (!verify('RSA-SHA256', content, pair.publicKey, Buffer.from(signature, 'base64url'))) return undefined;
      return JSON.parse(Buffer.from(payload, 'base64url').toString()) as TokenClaims;
    },
  };
}

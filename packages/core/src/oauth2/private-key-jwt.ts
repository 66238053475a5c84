import type { ClientAuthentication, UnwrittenRequest } from '../contract/client-authentication.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { randomBytes, toBase64Url } from '../platform/bytes.ts';
import { ownProperties } from '../platform/untrusted.ts';
import { withJwt } from './client-assertion.ts';
import { isSigningAlgorithm, type PrivateKey, type SigningAlgorithm } from './private-key.ts';
import { type SigningKey, signingKeys } from './signing-key.ts';
import { unknownOptions } from './unknown-options.ts';

/** Options of {@link privateKeyJwt}. */
export interface PrivateKeyJwtOptions {
  /**
   * The private key: a `CryptoKey`, a JWK, PKCS #8 as PEM (`-----BEGIN PRIVATE KEY-----`), or a
   * function that returns one of them. The function is called when a token is requested. RSA of at
   * least 2,048 bits, P-256, P-384, P-521, and Ed25519 where the runtime has it.
   */
  key: PrivateKey | (() => PrivateKey | Promise<PrivateKey>);
  /**
   * The algorithm of the signature (RFC 7518 section 3.1, RFC 8037). Default: that of the JWK, or
   * the one that fits the key. Several fit an RSA key, so it needs this option or a JWK with `alg`.
   */
  algorithm?: SigningAlgorithm | undefined;
  /** The `kid` in the header of the assertion. Default: that of the JWK, or none. */
  keyId?: string | undefined;
  /**
   * The `aud` of the assertion. Default: the option `issuer` of the client (RFC 10070). Some
   * servers want the address of the token endpoint.
   */
  audience?: string | undefined;
  /**
   * Further members of the header, such as `x5t#S256`. Default:
   * `{ typ: 'client-authentication+jwt' }` (RFC 10070); `{ typ: 'JWT' }` suits servers that refuse
   * that.
   */
  header?: Readonly<Record<string, unknown>> | undefined;
}

const names = ['key', 'algorithm', 'keyId', 'audience', 'header'];
const lifetimeSeconds = 60;

/**
 * Sends an assertion that this client signs with its private key (`private_key_jwt`, RFC 7523): a
 * new one for each request, valid for 60 seconds. WebCrypto keeps the key from the first request
 * on. Its options are checked by `createServiceAuth`; a key that cannot sign is found out at the
 * first request, which is not sent then: `ERR_CLIENT_SECRET`.
 */
export function privateKeyJwt(options: PrivateKeyJwtOptions): ClientAuthentication {
  const { key, algorithm, keyId, audience, header = {} } = ownProperties(options);
  const keys = signingKeys(key, algorithm);

  return {
    usesSecret: false,
    problems(client) {
      const problems = unknownOptions(options, names);
      const report = (name: string, message: string) =>
        problems.push({ option: `clientAuthentication.${name}`, message });
      if (algorithm !== undefined && !isSigningAlgorithm(algorithm))
        report('algorithm', 'must be one of ES256, RS256, PS256, EdDSA and the like (RFC 7518 section 3.1)');
      else if (keys.problem) problems.push(keys.problem);
      if (keyId !== undefined && !isText(keyId)) report('keyId', 'must be a string that is not empty');
      if (audience !== undefined && !isText(audience)) report('audience', 'must be a string that is not empty');
      if (audience === undefined && client['issuer'] === undefined)
        report(
          'audience',
          'must be given, or the option issuer: the assertion is for the one of them that the server accepts',
        );
      problems.push(...problemsOfHeader(header));
      return problems;
    },
    async credentialId({ issuer }) {
      const signing = await keys.get();
      return `private_key_jwt ${JSON.stringify([signing.id, headOf(signing), audience ?? issuer])}`;
    },
    async write(request) {
      const signing = await keys.get();
      const signed = `${partOf(headOf(signing))}.${partOf(claimsOf(request, audience))}`;
      return withJwt(request, `${signed}.${toBase64Url(await signing.sign(signed))}`);
    },
  };

  function headOf({ algorithm: alg, keyId: kidOfKey }: SigningKey): object {
    const kid = keyId ?? kidOfKey;
    return { typ: 'client-authentication+jwt', ...(kid && { kid }), ...header, alg };
  }
}

/** Returns the claims of an assertion (RFC 7523 section 3). */
function claimsOf({ clientId, issuer, now }: UnwrittenRequest, audience: string | undefined): object {
  const iat = Math.floor(now / 1_000);
  const jti = toBase64Url(randomBytes(18));
  const aud = audience ?? issuer;
  return { iss: clientId, sub: clientId, aud, jti, iat, exp: iat + lifetimeSeconds };
}

function problemsOfHeader(header: unknown): ConfigProblem[] {
  const option = 'clientAuthentication.header';
  if (typeof header !== 'object' || header === null || Array.isArray(header))
    return [{ option, message: "must be an object such as { typ: 'JWT' }" }];
  if ('alg' in header) return [{ option, message: 'must not have alg: give algorithm' }];
  try {
    JSON.stringify(header);
    return [];
  } catch {
    return [{ option, message: 'must be an object that JSON can express' }];
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** Writes a part of a JWT. */
function partOf(value: object): string {
  return toBase64Url(new TextEncoder().encode(JSON.stringify(value)));
}

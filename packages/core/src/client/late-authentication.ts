import type { ClientAuthentication } from '../contract/client-authentication.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { authenticationVariables } from '../contract/variables.ts';
import { ownProperty } from '../platform/untrusted.ts';

/** The algorithms of a signature, as `SigningAlgorithm` of core/oauth2 has them. */
const algorithm = /^([ERP]S(256|384|512)|EdDSA|Ed25519)$/;

/**
 * Returns what keeps a private key from signing, as far as its text shows it without the code that reads keys. `read`: reads a variable.
 */
export function problemOfKey(text: string, read: (name: string) => string | undefined): string | undefined {
  const { keyAlgorithm } = authenticationVariables;
  const stated = read(keyAlgorithm);
  if (stated !== undefined && !algorithm.test(stated))
    return `needs ${keyAlgorithm} to be one such as ES256, RS256, PS256 or EdDSA (RFC 7518 section 3.1)`;
  const key = text.trim();
  const jwk = key.startsWith('{') ? parsed(key) : undefined;
  if (jwk && typeof ownProperty(jwk, 'd') !== 'string')
    return 'must be a private key: this JWK has no member d, or is no JSON';
  if (!jwk && !/^-----BEGIN PRIVATE KEY-----/.test(key))
    return key.startsWith('-----BEGIN')
      ? 'must be PKCS #8 without a password: openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW writes it'
      : 'must be PKCS #8 as PEM, which begins with -----BEGIN PRIVATE KEY-----, or a JWK';
  // So the identifier of RSA is written in PKCS #8 (RFC 8017 appendix C), in Base64.
  const isRsa = jwk ? ownProperty(jwk, 'kty') === 'RSA' : key.includes('BgkqhkiG9w0BAQ');
  return isRsa && (stated ?? ownProperty(jwk, 'alg')) === undefined
    ? `is an RSA key, which can sign in several ways: set ${keyAlgorithm} to that of the server, such as RS256 or PS256`
    : undefined;
}

function parsed(json: string): object {
  try {
    return Object(JSON.parse(json));
  } catch {
    return {};
  }
}

const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth'];

/**
 * Returns the client authentication that the variables describe. Its code is loaded at the first request, so that who needs none of it loads nothing. Undefined: they
 * describe none. `readFile`: reads a file for each request.
 */
export function lateAuthentication(
  read: (name: string) => string | undefined,
  readFile: (file: string) => Promise<string>,
  report: (problem: ConfigProblem) => void,
): ClientAuthentication | undefined {
  const variables = authenticationVariables;
  const [key, keyFile, assertionFile] = [read(variables.key), read(variables.keyFile), read(variables.assertionFile)];
  const hasKey = (key ?? keyFile) !== undefined;
  const method = read(variables.method) ?? (hasKey ? 'private_key_jwt' : undefined);
  if (method === undefined && assertionFile === undefined) return undefined;
  if (method !== undefined && !methods.includes(method))
    report({ option: variables.method, message: `must be one of ${methods.join(', ')}` });
  if (hasKey !== (method === 'private_key_jwt'))
    report({
      option: variables.key,
      message: hasKey
        ? `must not be set with ${variables.method}=${methods.find((name) => name === method) ?? '…'}`
        : `is not set, nor ${variables.keyFile}`,
    });
  if (key !== undefined && keyFile !== undefined)
    report({ option: variables.keyFile, message: `must not be set together with ${variables.key}` });
  if (method !== undefined && assertionFile !== undefined)
    report({
      option: variables.assertionFile,
      message: `must not be set with ${hasKey ? variables.key : variables.method}`,
    });
  if (method !== 'private_key_jwt')
    for (const name of [variables.keyId, variables.keyAlgorithm])
      if (read(name) !== undefined) report({ option: name, message: 'belongs to a private key, and there is none' });
  const problem = key === undefined ? undefined : problemOfKey(key, read);
  if (hasKey && problem) report({ option: variables.key, message: problem });
  const file = keyFile ?? assertionFile;
  const described = {
    method,
    keyId: read(variables.keyId),
    keyAlgorithm: read(variables.keyAlgorithm),
    read: async () => key ?? (file === undefined ? '' : readFile(file)),
  };
  const load = async () => (await import('@service-auth/core/oauth2')).authenticationOf(described);
  return {
    usesSecret: method !== undefined && method !== 'private_key_jwt' && method !== 'tls_client_auth',
    probe: {
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: 'grant_type=client_credentials',
    },
    // The assertion is addressed to the issuer.
    problems: ({ issuer }) =>
      method === 'private_key_jwt' && issuer === undefined
        ? [{ option: 'issuer', message: 'must be given: assertions are addressed to it' }]
        : [],
    credentialId: async (request) => `${await (await load()).credentialId?.(request)}`,
    write: async (request) => (await load()).write(request),
  };
}

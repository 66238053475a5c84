import type { ClientAuthentication } from '../contract/client-authentication.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { authenticationVariables } from '../contract/variables.ts';
import { ownProperty } from '../platform/untrusted.ts';
import { contentOf, readLater } from './files.ts';
import { mistakeIn } from './variable-problems.ts';

/**
 * Returns the reason why a private key can't sign, as far as its text shows it without the code
 * that reads keys. `algorithm`: the one that a variable states. The words complete a sentence.
 */
function problemOfKey(text: string, algorithm: string | undefined): string | undefined {
  const key = text.trim();
  const jwk = key.startsWith('{') ? parsed(key) : undefined;
  const isPrivate = jwk ? ownProperty(jwk, 'd') : key.startsWith('-----BEGIN PRIVATE KEY-----');
  if (!isPrivate)
    return 'must be a private key: PKCS #8 as PEM without a password (openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW), or a JWK';
  // In Base64, the identifier of RSA in PKCS #8 looks like this (RFC 8017 appendix C).
  const isRsa = jwk ? ownProperty(jwk, 'kty') === 'RSA' : key.includes('BgkqhkiG9w0BAQ');
  return isRsa && !(algorithm ?? ownProperty(jwk, 'alg'))
    ? `is an RSA key, which can sign in several ways: set ${authenticationVariables.keyAlgorithm} to RS256, PS256 or another one, as the server has it`
    : undefined;
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return {};
  }
}

const methods = ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'tls_client_auth'];

/**
 * Returns the client authentication that the variables describe. Its code is loaded at the first
 * request, so a client that needs none of it loads nothing. A file is read for each request.
 * Undefined: the variables describe no authentication.
 */
export function lateAuthentication(
  read: (name: string) => string | undefined,
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
      if (read(name) !== undefined) report({ option: name, message: 'needs a private key, but none is set' });
  const mistake = mistakeIn(read(variables.keyId));
  if (mistake) report({ option: variables.keyId, message: mistake });
  const keyAlgorithm = read(variables.keyAlgorithm);
  const problem = key === undefined ? undefined : problemOfKey(key, keyAlgorithm);
  if (problem) report({ option: variables.key, message: problem });
  // As the type `SigningAlgorithm` of core/oauth2 has them.
  if (keyAlgorithm !== undefined && !/^([ERP]S(256|384|512)|EdDSA|Ed25519)$/.test(keyAlgorithm))
    report({ option: variables.keyAlgorithm, message: 'must be like ES256, RS256, PS256 or EdDSA' });
  const file = keyFile ?? assertionFile;
  if (file !== undefined) {
    const { text = '', problem } = contentOf(file);
    const isEmpty = text.trim() === '';
    const wrong = keyFile === undefined || isEmpty ? undefined : problemOfKey(text, keyAlgorithm);
    const message =
      problem ?? (isEmpty ? 'names a file that is empty' : wrong && `names a file whose content ${wrong}`);
    const option = keyFile === undefined ? variables.assertionFile : variables.keyFile;
    if (message !== undefined) report({ option, message });
  }
  const described = {
    method,
    keyId: read(variables.keyId),
    keyAlgorithm,
    read: async () => key ?? (file === undefined ? '' : readLater(file)),
  };
  const load = async () => (await import('@service-auth/core/oauth2')).authenticationOf(described);
  return {
    usesSecret: method !== undefined && method !== 'private_key_jwt' && method !== 'tls_client_auth',
    // The assertion is addressed to the issuer.
    problems: ({ issuer }) =>
      method === 'private_key_jwt' && issuer === undefined
        ? [{ option: 'issuer', message: 'must be given: assertions are addressed to it' }]
        : [],
    credentialId: async (request) => `${await (await load()).credentialId?.(request)}`,
    write: async (request) => (await load()).write(request),
  };
}

import type { ClientAuthentication } from '../contract/client-authentication.ts';
import type { ConfigProblem } from '../contract/errors.ts';
import { authenticationVariables } from '../contract/variables.ts';

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
        : 'is not set',
    });
  if (key !== undefined && keyFile !== undefined)
    report({ option: variables.keyFile, message: `must not be set together with ${variables.key}` });
  if (method !== undefined && assertionFile !== undefined)
    report({
      option: variables.assertionFile,
      message: `must not be set with ${hasKey ? variables.key : variables.method}`,
    });
  const file = keyFile ?? assertionFile;
  const described = {
    method,
    keyId: read(variables.keyId),
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
      method === 'private_key_jwt' && issuer === undefined ? [{ option: 'issuer', message: 'must be given' }] : [],
    credentialId: async (request) => `${await (await load()).credentialId?.(request)}`,
    write: async (request) => (await load()).write(request),
  };
}

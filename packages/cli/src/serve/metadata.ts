import { type Answer, json } from './answer.ts';

/** The metadata of the token endpoint (RFC 8414), under the address that the caller used. */
export function metadataAnswer(host: string): Answer {
  const issuer = `http://${host}`;
  const methods = ['client_secret_basic', 'client_secret_post'];
  return json(200, {
    issuer,
    token_endpoint: `${issuer}/oauth/token`,
    token_endpoint_auth_methods_supported: methods,
    revocation_endpoint: `${issuer}/oauth/revoke`,
    revocation_endpoint_auth_methods_supported: methods,
    grant_types_supported: ['client_credentials'],
    response_types_supported: [],
  });
}

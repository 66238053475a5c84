import type { WrittenRequest } from '../../src/contract/client-authentication.ts';
import { jsonAuthentication } from '../../src/endpoint/json-request.ts';

/** A token request as the service wants it. */
export function writtenRequest(clientSecret = 'secret'): WrittenRequest {
  return jsonAuthentication.write({
    clientId: 'client "1"',
    clientSecret,
    tokenEndpoint: 'https://auth.example.com/oauth/token',
    issuer: undefined,
    parameters: [
      ['audience', 'orders'],
      ['grant_type', 'client_credentials'],
    ],
    now: 0,
    signal: new AbortController().signal,
  }) as WrittenRequest;
}

import type { TestService } from '../src/index.ts';

/** A token request by the letter of the interface, unless told otherwise. */
export function requestToken(
  service: TestService,
  fields: Record<string, unknown> = {},
  init: RequestInit = {},
): Promise<Response> {
  const { audience, clientId, clientSecret } = service.credentials;
  const right = { audience, grant_type: 'client_credentials', client_id: clientId, client_secret: clientSecret };
  const body = JSON.stringify({ ...right, ...fields });
  const headers = { 'content-type': 'application/json' };
  return fetch(`${service.authUrl}/oauth/token`, { method: 'POST', headers, body, redirect: 'manual', ...init });
}

export async function issueToken(service: TestService, fields: Record<string, unknown> = {}): Promise<string> {
  const response = await requestToken(service, fields);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return token;
}

export function callApi(service: TestService, token?: string, init: RequestInit = {}): Promise<Response> {
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetch(`${service.baseUrl}/api/v1/`, { headers, redirect: 'manual', ...init });
}

import type { ClientAuthentication, UnwrittenRequest, WrittenRequest } from '../../src/oauth2/index.ts';

export const issuer = 'https://auth.example.com/';

/** A token request that asks for one scope. */
export function unwritten(change: Partial<UnwrittenRequest> = {}): UnwrittenRequest {
  return {
    clientId: 'client-1',
    clientSecret: undefined,
    tokenEndpoint: 'https://auth.example.com/token',
    issuer,
    parameters: [
      ['grant_type', 'client_credentials'],
      ['scope', 'read write'],
    ],
    now: Date.parse('2026-01-01T00:00:00.900Z'),
    signal: new AbortController().signal,
    ...change,
  };
}

/** The form of a written request, as a server reads it. */
export function fieldsOf({ headers, body }: WrittenRequest): Record<string, string> {
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') throw new TypeError('no form');
  return Object.fromEntries(new URLSearchParams(body));
}

/** The problems of a client authentication, each as a text. */
export function problemsOf(authentication: ClientAuthentication, client: object = {}): string[] {
  const whole = { clientId: 'client-1', issuer, ...client };
  return authentication.problems(whole).map(({ option, message }) => `${option} ${message}`);
}

import { generateKeyPairSync } from 'node:crypto';
import type { ServiceAuthOptions } from '@service-auth/core';
import { privateKeyJwt } from '@service-auth/core/oauth2';

/** A server as its operator describes it. Each is a part of docs/servers.md, and a test. */
export interface ServerShape {
  readonly name: string;
  /** A block of variables to copy. */
  readonly variables: Readonly<Record<string, string>>;
  /** Further options in code, as written on the page and as given in the test. */
  readonly options?: { readonly code: string; readonly value: Partial<ServiceAuthOptions> };
  /** What its assertion says, for a server that takes no secret. */
  readonly assertion?: Readonly<Record<'alg' | 'kid' | 'typ' | 'aud', string>>;
  /** What is special about it, in Markdown. */
  readonly special: string;
  /** What it answers to a good request. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** The lifetime of that token. */
  readonly lifetimeSeconds: number;
  readonly refusals: readonly ServerRefusal[];
  readonly source: string;
}

/** What a server answers to a request that it refuses. */
interface ServerRefusal {
  readonly status: number;
  readonly body: string;
  readonly means: string;
  /** What core says about it: whom the refusal is about, or the code of the error. */
  readonly about: 'client' | 'request' | 'ERR_RATE_LIMITED' | 'ERR_TOKEN_ENDPOINT';
}

const json = (error: string, description: string, more: object = {}) =>
  JSON.stringify({ error, error_description: description, ...more });

const secret = { SERVICE_AUTH_CLIENT_ID: 'your-client', SERVICE_AUTH_CLIENT_SECRET: 'your-secret' };
const basic = { ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_basic' };
const post = { ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_post' };

const ofApple = { kid: 'your-key-id', aud: 'https://account.apple.com/auth/oauth2/v2/token', typ: 'JWT' };
const key = String(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }),
);

export const serverShapes: readonly ServerShape[] = [
  {
    name: 'Keycloak',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://sso.example.com/realms/your-realm/protocol/openid-connect/token',
      SERVICE_AUTH_ISSUER: 'https://sso.example.com/realms/your-realm',
      SERVICE_AUTH_TOKEN_LIMIT: 'unlimited',
      ...basic,
    },
    special:
      'A wrong secret is answered with 401 and `unauthorized_client`, not `invalid_client`. The client needs a service account. With *Signed JWT* as its authenticator, set `SERVICE_AUTH_CLIENT_AUTHENTICATION=private_key_jwt`, and `SERVICE_AUTH_PRIVATE_KEY` and `SERVICE_AUTH_STORE_KEY` in place of the secret. It has no limit, and its tokens live for five minutes, so the default of 150 a day would be spent by the evening. Keycloak 16 does not decode Basic: there, take `client_secret_post`.',
    answer: {
      access_token: 'eyJh.eyJz.c2ln',
      expires_in: 300,
      refresh_expires_in: 0,
      token_type: 'Bearer',
      'not-before-policy': 0,
      scope: 'profile email',
    },
    lifetimeSeconds: 300,
    refusals: [
      {
        status: 401,
        body: json('unauthorized_client', 'Invalid client or Invalid client credentials'),
        means: 'wrong secret',
        about: 'client',
      },
      {
        status: 400,
        body: json('invalid_client', 'Missing client_id parameter'),
        means: 'no credentials arrived',
        about: 'client',
      },
      {
        status: 401,
        body: json('unauthorized_client', 'Client not enabled to retrieve service account'),
        means: 'no service account',
        about: 'client',
      },
    ],
    source:
      'https://github.com/keycloak/keycloak, `ClientIdAndSecretAuthenticator.java`, `ClientCredentialsGrantType.java`',
  },
  {
    name: 'Auth0',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://your-tenant.eu.auth0.com/oauth/token',
      SERVICE_AUTH_ISSUER: 'https://your-tenant.eu.auth0.com/',
      SERVICE_AUTH_AUDIENCE: 'https://your-api.example.com/',
      ...post,
    },
    special:
      'It takes JSON as well: `SERVICE_AUTH_URL=https://your-tenant.eu.auth0.com` without `SERVICE_AUTH_TOKEN_ENDPOINT` and `SERVICE_AUTH_CLIENT_AUTHENTICATION` does the same. `SERVICE_AUTH_PARAMETERS=organization=org_…` asks for an organization. An operator may limit the tokens of an application by hour and day.',
    answer: { access_token: 'eyJh.eyJz.c2ln', scope: 'read:orders', expires_in: 86_400, token_type: 'Bearer' },
    lifetimeSeconds: 86_400,
    refusals: [
      { status: 401, body: json('access_denied', 'Unauthorized'), means: 'wrong secret', about: 'client' },
      {
        status: 403,
        body: json('access_denied', 'Client is not authorized to access the audience'),
        means: 'this audience is not granted',
        about: 'request',
      },
      {
        status: 403,
        body: json('unauthorized_client', "Grant type 'client_credentials' not allowed for the client."),
        means: 'the grant is off',
        about: 'client',
      },
      {
        status: 429,
        body: json('too_many_requests', 'Client quota exceeded'),
        means: 'the quota is spent',
        about: 'ERR_RATE_LIMITED',
      },
    ],
    source:
      'https://auth0.com/docs/get-started/authentication-and-authorization-flow/client-credentials-flow, https://auth0.com/docs/fine-grained-m2m-token-quotas, auth0/node-auth0#682, auth0/auth0-python#173',
  },
  {
    name: 'Okta',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://your-org.okta.com/oauth2/your-server/v1/token',
      SERVICE_AUTH_ISSUER: 'https://your-org.okta.com/oauth2/your-server',
      SERVICE_AUTH_SCOPE: 'your-scope',
      ...basic,
    },
    special:
      "A scope has to be named: one of your own, of a custom authorization server. `/oauth2/v1/token` without a server's id is for Okta's own API, takes Okta's scopes alone, and wants a key: [A key in place of a secret](#a-key-in-place-of-a-secret). The requests of a minute are limited for the whole organization, so a 429 need not come from this client.",
    answer: {
      access_token: 'eyJh.eyJz.c2ln',
      token_type: 'Bearer',
      expires_in: 3_600,
      scope: 'your-scope',
    },
    lifetimeSeconds: 3_600,
    refusals: [
      {
        status: 400,
        body: json('invalid_scope', 'Custom scopes are not allowed for this request.'),
        means: "this scope, at the organization's own server",
        about: 'request',
      },
      { status: 429, body: '{}', means: 'the limit of the minute', about: 'ERR_RATE_LIMITED' },
    ],
    source:
      'https://developer.okta.com/docs/guides/implement-client-creds/, https://developer.okta.com/docs/reference/rl2-token-oauth, https://devforum.okta.com/t/13539',
  },
  {
    name: 'Microsoft Entra ID',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://login.microsoftonline.com/your-tenant/oauth2/v2.0/token',
      SERVICE_AUTH_SCOPE: 'api://your-api/.default',
      ...post,
    },
    special:
      "One resource for each token, by its `/.default` scope. A certificate needs code: `privateKeyJwt({ key, algorithm: 'PS256', audience: tokenEndpoint, header: { typ: 'JWT', 'x5t#S256': thumbprint } })`. With workload identity federation, set `SERVICE_AUTH_CLIENT_ASSERTION_FILE` in place of the secret and of `SERVICE_AUTH_CLIENT_AUTHENTICATION`, and `SERVICE_AUTH_STORE_KEY`.",
    answer: { token_type: 'Bearer', expires_in: 3_599, access_token: 'eyJh.eyJz.c2ln' },
    lifetimeSeconds: 3_599,
    refusals: [
      {
        status: 400,
        body: json('invalid_scope', 'AADSTS70011: The provided value for the input parameter scope is not valid.', {
          error_codes: [70_011],
          trace_id: 'x',
        }),
        means: 'this scope',
        about: 'request',
      },
    ],
    source:
      'https://learn.microsoft.com/en-us/entra/identity-platform/v2-oauth2-client-creds-grant-flow, https://learn.microsoft.com/en-us/entra/identity-platform/certificate-credentials',
  },
  {
    name: 'Amazon Cognito',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://your-domain.auth.eu-central-1.amazoncognito.com/oauth2/token',
      SERVICE_AUTH_SCOPE: 'your-api/read',
      ...basic,
    },
    special:
      'Each token costs money. Without a scope the token has all scopes of the client. A wrong secret is answered with 400.',
    answer: { access_token: 'eyJh.eyJz.c2ln', expires_in: 3_600, token_type: 'Bearer' },
    lifetimeSeconds: 3_600,
    refusals: [
      { status: 400, body: '{"error":"invalid_client"}', means: 'unknown client or wrong secret', about: 'client' },
    ],
    source: 'https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html',
  },
  {
    name: 'Ory Hydra',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://hydra.example.com/oauth2/token',
      SERVICE_AUTH_ISSUER: 'https://hydra.example.com/',
      SERVICE_AUTH_AUDIENCE: 'your-api',
      SERVICE_AUTH_SCOPE: 'your-scope',
      SERVICE_AUTH_TOKEN_LIMIT: 'unlimited',
      ...basic,
    },
    special:
      'The audience and the scopes have to be among those of the client. A client has one kind of authentication, `client_secret_basic` if it was created without saying another one: a request of another kind is answered like a wrong secret.',
    answer: { access_token: 'ory_at_c2lnbmF0dXJl.c2ln', expires_in: 3_599, scope: 'your-scope', token_type: 'bearer' },
    lifetimeSeconds: 3_599,
    refusals: [
      {
        status: 401,
        body: json(
          'invalid_client',
          'Client authentication failed (e.g., unknown client, no client authentication included, or unsupported authentication method).',
        ),
        means: 'unknown client, wrong secret, or another kind of authentication',
        about: 'client',
      },
      {
        status: 400,
        body: json('invalid_scope', 'The requested scope is invalid, unknown, or malformed.'),
        means: 'this scope',
        about: 'request',
      },
    ],
    source: 'https://github.com/ory/fosite, `errors.go`',
  },
  {
    name: 'Salesforce',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://your-domain.my.salesforce.com/services/oauth2/token',
      ...post,
    },
    special:
      'The answer has no `expires_in`, so a token counts as one of 24 hours: give `lifetimeMs` in code if your sessions are shorter.',
    answer: {
      access_token: '00Dxx0000001gPL!AR8AQJXg5oj8jXSgxJfA0lBog.39AsX',
      signature: 'c2lnbmF0dXJl',
      instance_url: 'https://your-domain.my.salesforce.com',
      id: 'https://login.salesforce.com/id/00Dxx0000001gPLEAY/005xx000001SwiUAAS',
      token_type: 'Bearer',
      issued_at: '1278448832702',
    },
    lifetimeSeconds: 86_400,
    refusals: [
      {
        status: 400,
        body: json('invalid_client', 'invalid client credentials'),
        means: 'wrong secret',
        about: 'client',
      },
    ],
    source: 'https://help.salesforce.com/apex/HTViewHelpDoc?id=xcloud.remoteaccess_oauth_flow_errors.htm',
  },
  {
    name: 'eBay',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://api.ebay.com/identity/v1/oauth2/token',
      SERVICE_AUTH_SCOPE: 'https://api.ebay.com/oauth/api_scope',
      SERVICE_AUTH_TOKEN_LIMIT: '1000',
      ...basic,
    },
    options: {
      code: "{ recognizedTokenTypes: ['Application Access Token'] }",
      value: { recognizedTokenTypes: ['Application Access Token'] },
    },
    special:
      '1,000 requests a day for each application. Its `token_type` has to be named in code; without that every token is refused and counted.',
    answer: {
      access_token: 'v^1.1#i^1#p^1#r^0#I^3#f^0#t^H4sIAAAA',
      expires_in: 7_200,
      token_type: 'Application Access Token',
    },
    lifetimeSeconds: 7_200,
    refusals: [
      {
        status: 401,
        body: json('invalid_client', 'client authentication failed'),
        means: 'wrong secret',
        about: 'client',
      },
    ],
    source:
      'https://developer.ebay.com/api-docs/static/oauth-qref-client-credentials-grant.html, https://developer.ebay.com/api-docs/static/oauth-rate-limits.html',
  },
  {
    name: 'PayPal',
    variables: { SERVICE_AUTH_TOKEN_ENDPOINT: 'https://api-m.paypal.com/v1/oauth2/token', ...basic },
    special:
      'The sandbox is `https://api-m.sandbox.paypal.com/v1/oauth2/token`. Tokens live for about nine hours. The limit of requests is not published.',
    answer: {
      scope: 'https://uri.paypal.com/services/invoicing openid',
      access_token: 'A21AAJ_c2lnbmF0dXJl-c2ln',
      token_type: 'Bearer',
      app_id: 'APP-80W284485P519543T',
      expires_in: 31_349,
      nonce: '2026-11-24T00:00:00Zc2ln',
    },
    lifetimeSeconds: 31_349,
    refusals: [
      { status: 429, body: '{"name":"RATE_LIMIT_REACHED"}', means: 'too many requests', about: 'ERR_RATE_LIMITED' },
    ],
    source:
      'https://developer.paypal.com/docs/api/reference/get-an-access-token/, https://developer.paypal.com/api/rest/reference/rate-limiting',
  },
  {
    name: 'UPS',
    variables: { SERVICE_AUTH_TOKEN_ENDPOINT: 'https://onlinetools.ups.com/security/v1/oauth/token', ...basic },
    special: 'The numbers of its answer are texts, which is understood.',
    answer: {
      token_type: 'Bearer',
      issued_at: '1658865500123',
      client_id: 'your-client',
      access_token: 'eyJh.eyJz.c2ln',
      expires_in: '14399',
      status: 'approved',
    },
    lifetimeSeconds: 14_399,
    refusals: [],
    source: 'https://github.com/UPS-API/api-documentation, `OAuthClientCredentials.yaml`',
  },
  {
    name: 'Adobe IMS',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://ims-na1.adobelogin.com/ims/token/v3',
      SERVICE_AUTH_SCOPE: 'openid,AdobeID,read_organizations',
      ...post,
    },
    special: 'Scopes are separated by commas, and sent as you write them.',
    answer: { access_token: 'eyJh.eyJz.c2ln', token_type: 'bearer', expires_in: 86_399 },
    lifetimeSeconds: 86_399,
    refusals: [],
    source: 'https://developer.adobe.com/developer-console/docs/guides/authentication/ServerToServerAuthentication/ims',
  },
  {
    name: 'Amadeus',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://test.api.amadeus.com/v1/security/oauth2/token',
      ...post,
    },
    special:
      'This is the test environment. Tokens live for about half an hour, so the default of 150 in 24 hours is enough for one of them at a time, and not for two clients with one id and no common store.',
    answer: {
      type: 'amadeusOAuth2Token',
      username: 'you@example.com',
      application_name: 'your-application',
      client_id: 'your-client',
      token_type: 'Bearer',
      access_token: 'c2lnbmF0dXJlc2lnbmF0dXJl',
      expires_in: 1_799,
      state: 'approved',
      scope: '',
    },
    lifetimeSeconds: 1_799,
    refusals: [
      {
        status: 401,
        body: json('invalid_client', 'Client credentials are invalid', { code: 38_187, title: 'Invalid parameters' }),
        means: 'unknown client or wrong secret',
        about: 'client',
      },
    ],
    source:
      'https://developers.amadeus.com/self-service/apis-docs/guides/developer-guides/API-Keys/authorization/, https://amadeus4dev.github.io/developer-guides/common-errors/',
  },
  {
    name: 'Apple Business Manager and School Manager',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://account.apple.com/auth/oauth2/token',
      SERVICE_AUTH_SCOPE: 'business.api',
      SERVICE_AUTH_CLIENT_ID: 'your-client',
    },
    options: {
      code: "{ clientAuthentication: privateKeyJwt({ key, keyId: 'your-key-id', audience: 'https://account.apple.com/auth/oauth2/v2/token', header: { typ: 'JWT' } }) }",
      value: {
        clientAuthentication: privateKeyJwt({
          key,
          keyId: ofApple.kid,
          audience: ofApple.aud,
          header: { typ: ofApple.typ },
        }),
      },
    },
    assertion: { alg: 'ES256', ...ofApple },
    special:
      'The key is the PEM that Apple gives you (P-256). The audience of the assertion is another address than the one that it is sent to, which needs code: the variables address it to the issuer. `SERVICE_AUTH_STORE_KEY` has to be set for a store that several processes share. Use one store: a token for each process was answered with 429. What it answers to a good request is not documented; the test has an answer as RFC 6749 describes it.',
    answer: { access_token: 'eyJh.eyJz.c2ln', token_type: 'Bearer', expires_in: 3_600, scope: 'business.api' },
    lifetimeSeconds: 3_600,
    refusals: [
      {
        status: 400,
        body: '{"error":"invalid_client"}',
        means: 'the assertion: its key, key id, audience or client id',
        about: 'client',
      },
      { status: 429, body: '', means: 'too many tokens', about: 'ERR_RATE_LIMITED' },
    ],
    source:
      'https://developer.apple.com/documentation/apple-school-and-business-manager-api/implementing-oauth-for-the-apple-school-manager-and-apple-business-api, https://developer.apple.com/forums/thread/818652',
  },
  {
    name: 'Zoho',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://accounts.zoho.eu/oauth/v2/token',
      SERVICE_AUTH_TOKEN_LIMIT: '10/10m',
      ...post,
    },
    special:
      'Ten tokens in ten minutes, and a client has ten to fifteen live ones: the next one ends the oldest. The refusal comes with status 200.',
    answer: {
      access_token: '1000.8cb99dxxxxxxxxxxxxx9be93.9b8xxxxxxxxxxxxxxxf',
      token_type: 'Bearer',
      expires_in: 3_600,
    },
    lifetimeSeconds: 3_600,
    refusals: [
      {
        status: 200,
        body: json('Access Denied', 'You have made too many requests continuously. Please try again after some time.'),
        means: 'the limit is reached',
        about: 'request',
      },
    ],
    source: 'https://www.zoho.com/accounts/protocol/oauth/token-limits.html',
  },
];

/** The part of docs/servers.md about one server. */
export function sectionOf({ name, variables, options, special, refusals, source }: ServerShape): string {
  const lines = Object.entries(variables).map(([variable, value]) => `${variable}='${value}'`);
  const rows = refusals.map(({ status, body, means, about }) => {
    const { error } = JSON.parse(body || '{}') as { error?: string };
    const said = about.startsWith('ERR_') ? `\`${about}\`` : `about the ${about}`;
    return `| ${status}${error === undefined ? '' : ` \`${error}\``} | ${means} | ${said} |`;
  });
  return [
    `## ${name}`,
    ['```sh', ...lines, '```'].join('\n'),
    ...(options ? [`In code: \`createServiceAuthFromEnv(process.env, ${options.code})\`.`] : []),
    special,
    ...(rows.length > 0
      ? [['| it answers | that means | core says |', '| --- | --- | --- |', ...rows].join('\n')]
      : []),
    `Source: ${source}.`,
  ].join('\n\n');
}

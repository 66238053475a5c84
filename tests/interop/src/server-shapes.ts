/** A server as its operator describes it. Each is a part of docs/servers.md, and a test. */
export interface ServerShape {
  readonly name: string;
  /** A block of variables to copy. */
  readonly variables: Readonly<Record<string, string>>;
  /** Further options in code, as written on the page and as given in the test. */
  readonly options?: { readonly code: string; readonly value: { readonly recognizedTokenTypes: readonly string[] } };
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
    name: 'Zoho',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://accounts.zoho.eu/oauth/v2/token',
      SERVICE_AUTH_TOKEN_LIMIT: '10 requests/10m',
      ...post,
    },
    special:
      'Ten requests in ten minutes, refused ones too, and a client has ten to fifteen live ones: the next one ends the oldest. The refusal comes with status 200.',
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
    const { error = '' } = JSON.parse(body) as { error?: string };
    const said = about.startsWith('ERR_') ? `\`${about}\`` : `about the ${about}`;
    return `| ${status} \`${error}\` | ${means} | ${said} |`;
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

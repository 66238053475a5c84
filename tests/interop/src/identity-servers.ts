import { basic, json, post, type ServerShape } from './server-shape.ts';

/** Servers of identity, which stand in front of APIs of any kind. */
export const identityServers: readonly ServerShape[] = [
  {
    name: 'Keycloak',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://sso.example.com/realms/your-realm/protocol/openid-connect/token',
      SERVICE_AUTH_ISSUER: 'https://sso.example.com/realms/your-realm',
      SERVICE_AUTH_TOKEN_LIMIT: 'unlimited',
      ...basic,
    },
    special:
      "The client needs a service account. With *Signed JWT* as its authenticator, use [a private key](#a-key-in-place-of-a-secret). Keycloak has no limit, and its tokens live for five minutes, so the default of 150 a day would be spent by the evening. Keycloak 16 doesn't decode Basic, so use `client_secret_post`.",
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
      '`SERVICE_AUTH_PARAMETERS=organization=org_…` asks for an organization. A provider may limit tokens by hour and day, and [say what it counts](issuance-limits.md#where-did-the-150-go).',
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
      "You have to name a scope of your custom authorization server. `/oauth2/v1/token` without a server's id is for Okta's own API: it takes only Okta's scopes, and requires [a private key](#a-key-in-place-of-a-secret). Okta limits an organization's requests per minute, so another client may cause a 429.",
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
      { status: 429, body: '{}', means: 'the limit per minute', about: 'ERR_RATE_LIMITED' },
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
      "Each token is for one resource, named by its `/.default` scope. A certificate needs code: `privateKeyJwt({ key, algorithm: 'PS256', audience: tokenEndpoint, header: { typ: 'JWT', 'x5t#S256': thumbprint } })`. With workload identity federation, set `SERVICE_AUTH_CLIENT_ASSERTION_FILE` and `SERVICE_AUTH_STORE_KEY`, and neither a secret nor `SERVICE_AUTH_CLIENT_AUTHENTICATION`.",
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
    special: "Each token costs money. Without a scope, the token has all of the client's scopes.",
    answer: { access_token: 'eyJh.eyJz.c2ln', expires_in: 3_600, token_type: 'Bearer' },
    lifetimeSeconds: 3_600,
    refusals: [
      { status: 400, body: '{"error":"invalid_client"}', means: 'unknown client or wrong secret', about: 'client' },
      {
        status: 400,
        body: '{"__type":"TooManyRequestsException","message":"Rate exceeded"}',
        means: 'too many requests',
        about: 'ERR_RATE_LIMITED',
      },
    ],
    source: 'https://docs.aws.amazon.com/cognito/latest/developerguide/token-endpoint.html, aws/aws-sdk-java#2301',
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
      "The audience and scopes have to be among the client's. A client has one kind of authentication, by default `client_secret_basic`. Hydra answers any other as if the secret were wrong.",
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
];

/** What the servers of docs/servers.md answer, as their providers document it. The page has the rest of each. */
export interface ServerAnswers {
  /** To a good request. */
  readonly token: Readonly<Record<string, unknown>>;
  /** The bodies of its refusals, in the order of the page. Default: the page has none. */
  readonly refusals?: readonly string[];
  /** What its assertion says, for a server that takes no secret. */
  readonly assertion?: Readonly<Record<string, string>>;
}

const json = (error: string, description: string, more: object = {}): string =>
  JSON.stringify({ error, error_description: description, ...more });

/** By the heading of the server. */
export const serverAnswers: Readonly<Record<string, ServerAnswers>> = {
  Keycloak: {
    token: {
      access_token: 'eyJh.eyJz.c2ln',
      expires_in: 300,
      refresh_expires_in: 0,
      token_type: 'Bearer',
      'not-before-policy': 0,
      scope: 'profile email',
    },
    refusals: [
      json('unauthorized_client', 'Invalid client or Invalid client credentials'),
      json('invalid_client', 'Missing client_id parameter'),
      json('unauthorized_client', 'Client not enabled to retrieve service account'),
    ],
  },
  Auth0: {
    token: { access_token: 'eyJh.eyJz.c2ln', scope: 'read:orders', expires_in: 86_400, token_type: 'Bearer' },
    refusals: [
      json('access_denied', 'Unauthorized'),
      json('access_denied', 'Client is not authorized to access the audience'),
      json('unauthorized_client', "Grant type 'client_credentials' not allowed for the client."),
      json('too_many_requests', 'Client quota exceeded'),
    ],
  },
  Okta: {
    token: { access_token: 'eyJh.eyJz.c2ln', token_type: 'Bearer', expires_in: 3_600, scope: 'your-scope' },
    refusals: [json('invalid_scope', 'Custom scopes are not allowed for this request.'), '{}'],
  },
  'Microsoft Entra ID': {
    token: { token_type: 'Bearer', expires_in: 3_599, access_token: 'eyJh.eyJz.c2ln' },
    refusals: [
      json('invalid_scope', 'AADSTS70011: The provided value for the input parameter scope is not valid.', {
        error_codes: [70_011],
        trace_id: 'x',
      }),
    ],
  },
  'Amazon Cognito': {
    token: { access_token: 'eyJh.eyJz.c2ln', expires_in: 3_600, token_type: 'Bearer' },
    refusals: ['{"error":"invalid_client"}', '{"__type":"TooManyRequestsException","message":"Rate exceeded"}'],
  },
  'Ory Hydra': {
    token: { access_token: 'ory_at_c2lnbmF0dXJl.c2ln', expires_in: 3_599, scope: 'your-scope', token_type: 'bearer' },
    refusals: [
      json(
        'invalid_client',
        'Client authentication failed (e.g., unknown client, no client authentication included, or unsupported authentication method).',
      ),
      json('invalid_scope', 'The requested scope is invalid, unknown, or malformed.'),
    ],
  },
  Salesforce: {
    token: {
      access_token: '00Dxx0000001gPL!AR8AQJXg5oj8jXSgxJfA0lBog.39AsX',
      signature: 'c2lnbmF0dXJl',
      instance_url: 'https://your-domain.my.salesforce.com',
      id: 'https://login.salesforce.com/id/00Dxx0000001gPLEAY/005xx000001SwiUAAS',
      token_type: 'Bearer',
      issued_at: '1278448832702',
    },
    refusals: [json('invalid_client', 'invalid client credentials')],
  },
  eBay: {
    token: {
      access_token: 'v^1.1#i^1#p^1#r^0#I^3#f^0#t^H4sIAAAA',
      expires_in: 7_200,
      token_type: 'Application Access Token',
    },
    refusals: [json('invalid_client', 'client authentication failed')],
  },
  PayPal: {
    token: {
      scope: 'https://uri.paypal.com/services/invoicing openid',
      access_token: 'A21AAJ_c2lnbmF0dXJl-c2ln',
      token_type: 'Bearer',
      app_id: 'APP-80W284485P519543T',
      expires_in: 31_349,
      nonce: '2026-11-24T00:00:00Zc2ln',
    },
    refusals: ['{"name":"RATE_LIMIT_REACHED"}'],
  },
  UPS: {
    token: {
      token_type: 'Bearer',
      issued_at: '1658865500123',
      client_id: 'your-client',
      access_token: 'eyJh.eyJz.c2ln',
      expires_in: '14399',
      status: 'approved',
    },
  },
  'Adobe IMS': { token: { access_token: 'eyJh.eyJz.c2ln', token_type: 'bearer', expires_in: 86_399 } },
  Amadeus: {
    token: {
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
    refusals: [json('invalid_client', 'Client credentials are invalid', { code: 38_187, title: 'Invalid parameters' })],
  },
  'Apple Business Manager and School Manager': {
    token: { access_token: 'eyJh.eyJz.c2ln', token_type: 'Bearer', expires_in: 3_600, scope: 'business.api' },
    refusals: ['{"error":"invalid_client"}', ''],
    assertion: {
      alg: 'ES256',
      kid: 'your-key-id',
      aud: 'https://account.apple.com/auth/oauth2/v2/token',
      typ: 'JWT',
    },
  },
  Zoho: {
    token: {
      access_token: '1000.8cb99dxxxxxxxxxxxxx9be93.9b8xxxxxxxxxxxxxxxf',
      token_type: 'Bearer',
      expires_in: 3_600,
    },
    refusals: [
      json('Access Denied', 'You have made too many requests continuously. Please try again after some time.'),
    ],
  },
};

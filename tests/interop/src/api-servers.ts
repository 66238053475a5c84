import { generateKeyPairSync } from 'node:crypto';
import { privateKeyJwt } from '@service-auth/core/oauth2';
import { basic, json, post, type ServerShape } from './server-shape.ts';

const ofApple = { kid: 'your-key-id', aud: 'https://account.apple.com/auth/oauth2/v2/token', typ: 'JWT' };
const key = String(
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' }),
);

/** The servers of providers, each in front of its own API. */
export const apiServers: readonly ServerShape[] = [
  {
    name: 'Salesforce',
    variables: {
      SERVICE_AUTH_TOKEN_ENDPOINT: 'https://your-domain.my.salesforce.com/services/oauth2/token',
      ...post,
    },
    special:
      'The answer has no `expires_in`, so Service Auth assumes 24 hours. Set `SERVICE_AUTH_LIFETIME` if your sessions are shorter.',
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
      SERVICE_AUTH_TOKEN_LIMIT: '1000 requests',
      SERVICE_AUTH_TOKEN_TYPES: 'Application Access Token',
      ...basic,
    },
    special:
      "An application may send 1,000 requests a day. Unless `SERVICE_AUTH_TOKEN_TYPES` names eBay's `token_type`, every token is refused and still counts.",
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
      "The sandbox is `https://api-m.sandbox.paypal.com/v1/oauth2/token`. Tokens live for about nine hours. PayPal doesn't publish its limit.",
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
    special: 'UPS writes numbers as text, which works.',
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
    special: 'Separate scopes with commas; they are sent as you write them.',
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
      'This is the test environment. Tokens live for about half an hour, so 150 a day are enough for one fleet, but not for two.',
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
      "The key is the PEM that Apple gives you. The assertion's audience isn't the address to which it is sent, so this needs code. Set `SERVICE_AUTH_STORE_KEY`, and share one store, because people who requested a token for each process got 429. Apple doesn't document its answer to a good request, so the test uses RFC 6749's.",
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
      SERVICE_AUTH_TOKEN_LIMIT: '10 requests/10m',
      SERVICE_AUTH_SCHEME: 'Zoho-oauthtoken',
      ...post,
    },
    special:
      'Zoho wants `Authorization: Zoho-oauthtoken …` in place of `Bearer`. It allows ten requests in ten minutes, including refused ones. It refuses with status 200. With ten to fifteen live tokens, the next one ends the oldest.',
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
        about: 'ERR_RATE_LIMITED',
      },
    ],
    source: 'https://www.zoho.com/accounts/protocol/oauth/token-limits.html',
  },
];

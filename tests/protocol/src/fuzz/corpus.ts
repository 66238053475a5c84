import { tokenCanary } from '@service-auth/test-tools/canaries';

export function jwt(payload: string): string {
  const encoded = Buffer.from(payload).toString('base64url');
  return `eyJhbGciOiJSUzI1NiJ9.${encoded}.c2lnbmF0dXJl`;
}

const usual = { access_token: `${tokenCanary}.x`, token_type: 'Bearer', expires_in: 86_400 };
const deep = `${'['.repeat(2_000)}${']'.repeat(2_000)}`;

export const payloads: readonly string[] = [
  '{"iat":1700000000,"exp":1700086400}',
  '{"iss":"https://auth.example.com/","aud":"orders","iat":1700000000,"exp":1700003600,"scope":"read"}',
  '{"exp":1700000000}',
  '{"iat":null,"exp":[3600]}',
  '{"iat":"1700000000","exp":"1700003600"}',
  '{"iat":-1e308,"exp":1e308}',
  '{"iat":0,"exp":59}',
  '{"__proto__":{"iat":0,"exp":3600}}',
  'null',
  '[]',
  '"text"',
  deep,
];

/** Bodies of the token endpoint's answers. */
export const bodies: readonly string[] = [
  JSON.stringify(usual),
  JSON.stringify({ ...usual, scope: 'read write', refresh_token: tokenCanary }),
  JSON.stringify({ ...usual, expires_in: '3600' }),
  JSON.stringify({ ...usual, expires_in: 30 }),
  JSON.stringify({ ...usual, expires_in: 0 }),
  JSON.stringify({ ...usual, expires_in: -1 }),
  JSON.stringify({ ...usual, expires_in: 9e15 }),
  JSON.stringify({ ...usual, expires_in: 1.5 }),
  JSON.stringify({ ...usual, token_type: 'DPoP' }),
  JSON.stringify({ ...usual, token_type: undefined }),
  JSON.stringify({ ...usual, access_token: `${tokenCanary}\r\nx: y` }),
  JSON.stringify({ ...usual, access_token: '' }),
  JSON.stringify({ ...usual, access_token: null }),
  JSON.stringify({ __proto__: usual, expires_in: 1 }),
  `{"__proto__":${JSON.stringify(usual)}}`,
  JSON.stringify(usual).replace('}', ',"expires_in":1}'),
  JSON.stringify({ error: 'invalid_client', error_description: tokenCanary }),
  JSON.stringify({ error: tokenCanary }),
  JSON.stringify({ error: [tokenCanary] }),
  `\uFEFF${JSON.stringify(usual)}`,
  `<!doctype html><title>Sign in</title>${tokenCanary}`,
  `{"access_token":"${tokenCanary}"`,
  `{"x":${deep}}`,
  '[]',
  'null',
  '',
  ...payloads.map((payload) => JSON.stringify({ ...usual, access_token: jwt(payload) })),
  ...payloads.map((payload) => JSON.stringify({ ...usual, access_token: jwt(payload), expires_in: undefined })),
];

/** The texts of a list, between spaces or line breaks. */
const listed = (text: string): string[] => text.trim().split(/\s+/);

/** Passages of JSON that have surprised parsers. */
export const jsonTrouble: readonly string[] = [
  ...listed(String.raw`{ } [ ] " , : \ \u0000 \ud800 null true 1e400 -0 1e-400 NaN 0x10 99999999999999999999 8e15 -1`),
  ...listed('"__proto__": "constructor": "toString": "expires_in": "access_token": "token_type":"bearer"'),
  ...['\0', '\r\n', '\u2028', '\uFEFF', '\uD800', '😀'],
];

/** Values of a `Retry-After` header. */
export const retryAfters: readonly string[] = [
  ...listed('0 1 120 86400 90001 -1 1.5 1e9 999999999999999 9999999999999999 abc'),
  ...[' 60 ', '60, 120', ''],
  ...['Wed, 21 Oct 2026 07:28:00 GMT', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 31 Dec 9999 23:59:59 GMT'],
  ...['Wednesday, 21-Oct-26 07:28:00 GMT', 'Wed Oct 21 07:28:00 2026', 'Wed, 99 Foo 2026 07:28:00 GMT'],
];

/** Values of `Auth0-Client-Quota-Limit`. */
export const quotas: readonly string[] = [
  'b=per_hour;q=10;r=7;t=3540,b=per_day;q=50;r=47;t=43200',
  'per_day;q=150;r=0;t=86400',
  'per_hour;q=0;r=0;t=0',
  'b=per_day;q=999999999;r=999999999;t=86401',
  'b=per_week;q=1;r=1;t=1',
  '',
];

/** Values of `X-RateLimit-Reset`. */
export const resets: readonly string[] = ['1700000000', '9999999999', '0', '60', '1700000000000', '2026-10-21', ''];

/** Addresses under which an API is configured. */
export const bases: readonly string[] = listed(`
  https://api.example.com https://api.example.com/ https://api.example.com/v1 https://api.example.com/v1/
  https://api.example.com:8443/a/b http://localhost:3000/v1 http://[::1]:8080 https://xn--mnchen-3ya.example/v1
`);

export const urls: readonly string[] = [
  ...bases,
  ...listed(String.raw`
    https://api.example.com/v1/orders?x=1#y https://api.example.com/v10 https://api.example.com/v1/../admin
    https://api.example.com/v1/%2e%2e/admin https://api.example.com/v1/..%2fadmin
    https://api.example.com/v1/%2E%2E%5Cadmin https://api.example.com/v1/x%2f..%2f..%2fadmin
    https://api.example.com/v1/.%2e%2fadmin https://api.example.com/v1//orders
    https://user:pass@api.example.com/v1 https://api.example.com@evil.example/v1
    https://api.example.com.evil.example/v1 https://api.example.com:443/v1 https://api.example.com:444/v1
    HTTPS://API.EXAMPLE.COM/v1 http://api.example.com/v1 //api.example.com/v1 /v1/orders
    https:/api.example.com/v1 https:\\api.example.com\v1 https:api.example.com/v1
    https://api.example.com\@evil.example/v1 https://api.example.com#@evil.example/v1
    https://api.example.com?@evil.example https://api%2eexample.com/v1 https://api。example。com/v1
    https://münchen.example/v1/x https://api.example.com./v1 javascript:alert(1) data:,x file:///v1
    blob:https://api.example.com/v1 wss://api.example.com/v1 about:blank
  `),
];

/** Passages of addresses that parsers and servers read differently. */
export const urlTrouble: readonly string[] = [
  ...listed(String.raw`@ : / // \ ? # .. /../ /./ %2e %2E%2e %2f %2F %5c %00 % %25 ; ..;/ 。 ．  ／`),
  ...listed('evil.example @evil.example/ :443 :0 https:// http:'),
  ...['\t', '\n', '\r', ' ', '\0', '\u00ad', '\u200b'],
];

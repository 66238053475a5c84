import { describe, expect, test } from 'vitest';
import { createServiceAuth } from '../src/index.ts';
import { parseAddress, tokenEndpointOf } from '../src/url-scope.ts';

const covering = (baseUrl: string | URL | undefined) =>
  createServiceAuth({ authUrl: 'https://auth.example.com', baseUrl, audience: 'a', clientId: 'c', clientSecret: 's' })
    .covers;

describe('covers', () => {
  test('nothing without a base URL', () => {
    const covers = covering(undefined);
    expect([covers('https://api.example.com/'), covers('https://auth.example.com/')]).toEqual([false, false]);
  });

  test.each([
    'https://api.example.com',
    'https://api.example.com/',
    'https://api.example.com/api/v1/orders?x=https://evil.example#y',
    'https://API.EXAMPLE.com/x',
    'HTTPS://api.example.com:443/x',
    'https:api.example.com/x',
    'https:///api.example.com/x',
    'HTTPS://api.example.com/..%2fx',
    'https://api.example.com/%2e%2e/%2F..%5c',
    'https://api.example.com/\\evil.example',
    new URL('https://api.example.com/x'),
  ])('%s, for it leads to the origin of the base URL', (url) =>
    expect(covering('https://api.example.com/')(url)).toBe(true),
  );

  test.each([
    'http://api.example.com/',
    'https://api.example.com:444/',
    'https://api.example.com:0/',
    'blob:https://api.example.com/v1',
    'https://api.example.com.evil.example/',
    'https://evil.example/https://api.example.com/',
    'https://evil.example/?https://api.example.com/',
    'https://api.example.com@evil.example/',
    'https://user@api.example.com/',
    'https://:password@api.example.com/',
    'https://api.example.com\\@evil.example/',
    'https://api.example.com\t.evil.example/',
    'https://evil.example\\.api.example.com/',
    '//api.example.com/',
    '/api/v1/orders',
    'api.example.com',
    'wss://api.example.com/',
    'file://api.example.com/',
    'https://xn--api-.example.com/',
    'https://аpi.example.com/',
    ' https://api.example.com/',
    'https://sub.api.example.com/',
    '',
    'nonsense',
    undefined,
    null,
    {},
  ])('not %s', (url) => expect(covering('https://api.example.com')(url as string)).toBe(false));

  test.each(['https://api.example.com/v1', 'https://api.example.com/v1/', 'https://api.example.com/v1//'])(
    'only what is under the path of %s',
    (baseUrl) => {
      const covers = covering(baseUrl);
      for (const path of [
        '/v1',
        '/v1/',
        '/v1/x',
        '/v1?x',
        '/v1/a/../b',
        '/v1/%2e/x',
        '/v1/a..b/c',
        '/v1/a.%2fb',
        '/v1/a%5c.b',
        '/x/../v1/y',
      ]) {
        expect([path, covers(`https://api.example.com${path}`)]).toEqual([path, true]);
      }
      const outside = ['/', '/v', '/v2', '/v1x', '/V1/x', '/v1/../x', '/v1/%2e%2e/x', '/v1/.%2E/x', '/x/v1/'];
      const disguised = [
        '/v1/..%2fx',
        '/v1/%2e%2e%2Fx',
        '/v1/.%2e%5cx',
        '/v1/a%2f../x',
        '/v1/a%5c%2e%2e/x',
        '/v1/x\\..\\..\\y',
      ];
      for (const path of [...outside, ...disguised]) {
        expect([path, covers(`https://api.example.com${path}`)]).toEqual([path, false]);
      }
    },
  );

  test('takes a port and http on loopback for what they are', () => {
    const covers = covering('http://127.0.0.1:3000/');
    expect(covers('http://127.0.0.1:3000/x')).toBe(true);
    expect(
      ['http://127.0.0.1/x', 'http://localhost:3000/x', 'https://127.0.0.1:3000/'].some((url) => covers(url)),
    ).toBe(false);
  });
});

describe('the address of the token endpoint', () => {
  test.each([
    ['https://auth.example.com', 'https://auth.example.com/oauth/token'],
    ['HTTPS://Auth.Example.com:443//', 'https://auth.example.com/oauth/token'],
    ['https://auth.example.com/tenant/', 'https://auth.example.com/tenant/oauth/token'],
    ['http://localhost:3000', 'http://localhost:3000/oauth/token'],
  ])('of %s is %s', (authUrl, expected) => expect(tokenEndpointOf(new URL(authUrl))).toBe(expected));
});

describe('an address', () => {
  const outside = 'http://auth.example.com';

  test.each([
    ['https://auth.example.com', false],
    [new URL('https://auth.example.com/tenant'), false],
    [`https://auth.example.com/${'x'.repeat(2_023)}`, false],
    [outside, true],
    ['http://localhost:3000', false],
    ['http://127.0.0.1', false],
    ['http://127.255.255.254', false],
    ['http://[::1]:8080', false],
  ])('%s is one, with http allowed: %s', (value, insecure) => {
    expect(String(parseAddress(value, insecure))).toBe(new URL(value).href);
  });

  const secure = 'must begin with https:// (http: only on loopback, or with allowInsecureHttp: true)';
  test.each([
    [undefined, 'must be a URL or a string'],
    [{ toString: (): string => 'https://auth.example.com' }, 'must be a URL or a string'],
    [`https://auth.example.com/${'x'.repeat(2_024)}`, 'must be at most 2,048 characters long'],
    ['https://auth.example.com\\x', 'must not contain white space, control characters or backslashes'],
    ['https://auth.example.com/\u0001', 'must not contain white space, control characters or backslashes'],
    ['auth.example.com', 'must be an absolute URL such as https://auth.example.com'],
    ['ftp://auth.example.com', 'must begin with https://'],
    ['https://user@auth.example.com', 'must not contain credentials'],
    ['https://:password@auth.example.com', 'must not contain credentials'],
    ['https://auth.example.com/?', 'must not contain a query or a fragment'],
    ['https://auth.example.com/#', 'must not contain a query or a fragment'],
    [outside, secure],
    ['http://localhost.example.com', secure],
    ['http://notlocalhost', secure],
    ['http://127.0.0.1.example.com', secure],
    ['http://128.0.0.1', secure],
  ])('%s %s', (value, problem) => expect(parseAddress(value, false)).toBe(problem));
});

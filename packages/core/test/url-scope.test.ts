import { describe, expect, test } from 'vitest';
import { createServiceAuth } from '../src/index.ts';
import { tokenEndpointOf } from '../src/url-scope.ts';

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
      for (const path of ['/v1', '/v1/', '/v1/x', '/v1?x', '/v1/a/../b', '/v1/%2e/x', '/v1/a..b/c', '/x/../v1/y']) {
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

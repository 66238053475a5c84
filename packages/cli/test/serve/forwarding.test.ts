// Core judges addresses: this is its function, as a client has it.
import { createServiceAuth } from '@service-auth/core';
import { expect, test } from 'vitest';
import {
  forwardedHeaders,
  forwardingRefusal,
  hasBody,
  loggablePath,
  pathOf,
  returnedHeaders,
} from '../../src/serve/forwarding.ts';

function coversOf(baseUrl: string) {
  return createServiceAuth({ authUrl: 'https://a.example', audience: 'a', clientId: 'c', clientSecret: 's', baseUrl })
    .covers;
}

const paths = (baseUrl: string, target: string) => pathOf(target, baseUrl, coversOf(baseUrl));

test('the path of the target is appended to that of the base URL', () => {
  expect(paths('https://api.example', '/api/v1/x?a=1&b=%20')).toBe('/api/v1/x?a=1&b=%20');
  expect(paths('https://api.example/', '/')).toBe('/');
  expect(paths('https://api.example/tenant/', '/api/v1/x')).toBe('/tenant/api/v1/x');
  expect(paths('https://api.example/tenant', '/a/../b/./c')).toBe('/tenant/b/c');
  expect(paths('https://api.example', '//evil.example/x')).toBe('//evil.example/x');
  expect(paths('https://api.example/tenant', '/a%2Fb')).toBe('/tenant/a%2Fb');
});

test.for([
  '/..',
  '/../other',
  '/x/../../other',
  '/%2e%2e/other',
  '/.%2E/other',
  '/..%2fother',
  '/..%5cother',
  '/..\\other',
  '/..;/other',
  '/%252e%252e%252fother',
  '/x#y',
  '/ü',
  '/a b',
  'http://api.example/tenant/x',
  '',
])('the target "%s" would leave the base URL, or servers read it in different ways', (target) => {
  expect(paths('https://api.example/tenant', target)).toBeUndefined();
});

const head = (...rawHeaders: string[]) => ({ method: 'GET', target: '/x', rawHeaders });

test('headers of one connection, our own and those that Connection names are not forwarded', () => {
  const rawHeaders = [
    ...['Host', '127.0.0.1:4180', 'Connection', 'keep-alive, X-Mine', 'connection', 'x-other', 'Keep-Alive', '5'],
    ...['TE', 'trailers', 'Trailer', 'X', 'Transfer-Encoding', 'chunked', 'Upgrade', 'h2c', 'HTTP2-Settings', 'AAA'],
    ...['Proxy-Connection', 'close', 'Proxy-Authorization', 'Basic x', 'Expect', '100-continue', 'X-Mine', '1'],
    ...['X-Other', '2', 'Service-Auth', 'true', 'Service-Auth-Key', 'k', 'Accept', 'a', 'accept', 'b', 'Via', '1.0 x'],
    ...['Content-Length', '3', 'Cookie', 'c=1'],
  ];
  expect(forwardedHeaders(rawHeaders, 'Bearer t')).toEqual([
    ...['Accept', 'a', 'accept', 'b', 'Via', '1.0 x', 'Content-Length', '3', 'Cookie', 'c=1'],
    ...['Via', '1.1 service-auth', 'Authorization', 'Bearer t'],
  ]);
});

test('an answer keeps its headers, those that come several times too', () => {
  const rawHeaders = ['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'Connection', 'close', 'Transfer-Encoding', 'chunked'];
  expect(returnedHeaders([...rawHeaders, 'Proxy-Authenticate', 'Basic', 'WWW-Authenticate', 'Bearer'], 200)).toEqual([
    ...['Set-Cookie', 'a=1', 'Set-Cookie', 'b=2', 'WWW-Authenticate', 'Bearer', 'Via', '1.1 service-auth'],
  ]);
});

test('a request with its own Authorization, an upgrade and TRACE are refused, and an offer of h2c is not', () => {
  expect(forwardingRefusal(head('authorization', 'Bearer x'))?.status).toBe(400);
  expect(forwardingRefusal(head('Authorization', ''))?.status).toBe(400);
  expect(forwardingRefusal(head('Upgrade', 'websocket', 'Connection', 'Upgrade'))?.status).toBe(501);
  expect(forwardingRefusal(head('Upgrade', 'h2c, websocket'))?.status).toBe(501);
  expect(forwardingRefusal({ ...head(), method: 'TRACE' })?.status).toBe(501);
  expect(forwardingRefusal(head('Upgrade', 'h2c', 'Connection', 'Upgrade, HTTP2-Settings'))).toBeUndefined();
  expect(forwardingRefusal(head())).toBeUndefined();
});

test('a request has a body if it says so', () => {
  expect(hasBody(head('Content-Length', '0'))).toBe(false);
  expect(hasBody(head())).toBe(false);
  expect(hasBody(head('Content-Length', '1'))).toBe(true);
  expect(hasBody(head('Transfer-Encoding', 'chunked'))).toBe(true);
});

test('the log shows the shape of a path, and neither ids nor queries', () => {
  expect(loggablePath('/api/v1/orders/4711/items?token=x')).toBe('/api/v1/orders/*/items');
  expect(loggablePath('/canary-token-b2d84c60f7/eyJhbGciOi.x.y')).toBe('/*/*');
  expect(loggablePath('/')).toBe('/');
});

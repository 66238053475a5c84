import type { TokenSource } from '@service-auth/core';
import { expect, test } from 'vitest';
import { coverageOf } from '../src/coverage.ts';

/** Covers what begins with this address. */
function covering(base: string): ReturnType<typeof coverageOf> {
  return coverageOf({ covers: (url: string | URL) => `${url}`.startsWith(base) } as TokenSource);
}

test('an origin may end in a slash', () => {
  const covers = covering('https://api.example.com/v1/');
  expect(covers({ origin: 'https://api.example.com/', path: '/v1/orders', method: 'GET' })).toBe(true);
  expect(covers({ origin: 'https://api.example.com/', path: '/v2/orders', method: 'GET' })).toBe(false);
});

test('an origin that is a URL is looked at anew for each request, because it can be changed', () => {
  const covers = covering('https://api.example.com/');
  const origin = new URL('https://api.example.com');
  expect(covers({ origin, path: '/orders', method: 'GET' })).toBe(true);
  origin.hostname = 'other.example';
  expect(covers({ origin, path: '/orders', method: 'GET' })).toBe(false);
});

test('a request without a path is left to undici, which says what is wrong with it', () => {
  const covers = covering('https://api.example.com/');
  expect(covers({ origin: 'https://api.example.com' } as never)).toBe(false);
});

test('an address that the client does not cover stays without a token, although the rest of its origin is covered', () => {
  const endpoint = 'https://api.example.com/oauth/token';
  const covers = coverageOf({ covers: (url: string | URL) => `${url}` !== endpoint } as TokenSource);
  for (const origin of ['https://api.example.com', 'https://api.example.com/'])
    expect(['/orders', '/oauth/token'].map((path) => covers({ origin, path, method: 'POST' }))).toEqual([true, false]);
});

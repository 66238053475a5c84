import { describe, expect, test } from 'vitest';
import { isRedirect, type RedirectAnswer, redirectTo } from '../../src/http/index.ts';

const answer = (facts: Partial<RedirectAnswer>): RedirectAnswer => ({
  status: 302,
  location: '/to',
  from: 'https://api.example.com/from',
  method: 'GET',
  ...facts,
});
const becomesGet = (status: number, method: string) => redirectTo(answer({ status, method }))?.becomesGet;

describe('an answer', () => {
  test.each([301, 302, 303, 307, 308])('with the status %s and a Location is a redirect', (status) => {
    expect(isRedirect(status)).toBe(true);
    expect(redirectTo(answer({ status }))?.url.href).toBe('https://api.example.com/to');
  });

  test.each([200, 201, 300, 304, 305, 306, 309, 400])('with the status %s is none', (status) => {
    expect(isRedirect(status)).toBe(false);
    expect(redirectTo(answer({ status }))).toBeUndefined();
  });

  test.each([null, undefined])('without a Location (%s) is none', (location) => {
    expect(redirectTo(answer({ location, followed: 20 }))).toBeUndefined();
  });
});

describe('a redirect', () => {
  test.each(['GET', 'HEAD', 'get', 'head'])('leaves the method %s as it is', (method) => {
    for (const status of [301, 302, 303, 307, 308]) expect(becomesGet(status, method)).toBe(false);
  });

  test('turns a POST into a GET with 301, 302 and 303, and other methods with 303', () => {
    const turning = (method: string) => [301, 302, 303, 307, 308].filter((status) => becomesGet(status, method));
    expect([turning('POST'), turning('post'), turning('PUT'), turning('delete')]).toEqual([
      [301, 302, 303],
      [301, 302, 303],
      [303],
      [303],
    ]);
  });

  test('drops the headers of the body with the body, and what belongs to one origin at another one', () => {
    const dropped = (facts: Partial<RedirectAnswer>) => redirectTo(answer(facts))?.dropHeaders;
    expect(dropped({})).toEqual([]);
    expect(dropped({ method: 'POST', status: 307 })).toEqual([]);
    const content = ['content-encoding', 'content-language', 'content-length', 'content-location', 'content-type'];
    const origin = ['authorization', 'cookie', 'host', 'proxy-authorization'];
    expect(dropped({ method: 'POST' })).toEqual(content);
    expect(dropped({ location: 'https://other.example.com/' })).toEqual(origin);
    expect(dropped({ method: 'POST', location: 'http://api.example.com/' })).toEqual([...content, ...origin]);
  });

  test.each([
    ['/to', false],
    ['//api.example.com:443/', false],
    ['https://api.example.com:444/', true],
    ['http://api.example.com/', true],
    ['https://example.com/', true],
  ])('to %s crosses the origin: %s', (location, expected) =>
    expect(redirectTo(answer({ location }))?.crossesOrigin).toBe(expected),
  );

  test('is relative to the request before', () => {
    const from = new URL('https://api.example.com/v1/orders?page=2');
    expect(redirectTo(answer({ location: '?page=3', from }))?.url.href).toBe(
      'https://api.example.com/v1/orders?page=3',
    );
  });

  test('has the bytes of a Location that is not ASCII read as UTF-8', () => {
    const location = Buffer.from('/Grüße').toString('latin1');
    expect(redirectTo(answer({ location }))?.url.pathname).toBe('/Gr%C3%BC%C3%9Fe');
  });

  test.each([
    'data:text/plain,x',
    'file:///etc/hostname',
    'ftp://api.example.com/',
    'blob:https://api.example.com/1',
    'http://',
    'http://[',
  ])('to %s fails as in fetch', (location) =>
    expect(() => redirectTo(answer({ location }))).toThrow(
      new TypeError('The redirect leads to an address that is neither http nor https'),
    ),
  );

  test('of a body that cannot be sent again fails, unless it is a 303', () => {
    const redirect = (status: number) => redirectTo(answer({ status, method: 'POST', canResend: false }));
    for (const status of [301, 302, 307, 308]) {
      expect(() => redirect(status)).toThrow(
        new TypeError('Cannot follow the redirect: the request body can be sent only once'),
      );
    }
    expect(redirect(303)?.becomesGet).toBe(true);
  });

  test('is followed after 19 others, and not after 20', () => {
    expect(redirectTo(answer({ followed: 19 }))).toBeDefined();
    expect(() => redirectTo(answer({ followed: 20 }))).toThrow(new TypeError('There were more than 20 redirects'));
  });
});

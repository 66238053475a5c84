import { describe, expect, test } from 'vitest';
import { readOAuthError } from '../src/endpoint/error-response.ts';
import { readTokenResponse } from '../src/endpoint/token-response.ts';

const day = 86_400;

function read(fields: object = {}, contentType = 'application/json') {
  const body = { access_token: 'opaque', token_type: 'Bearer', expires_in: day, ...fields };
  return readTokenResponse(JSON.stringify(body), contentType);
}

function jwt(claims: unknown): string {
  const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part(claims)}.signature`;
}

describe('a token response', () => {
  test.each(['null', '5', '"text"', 'true', '[]', '[{"access_token":"opaque"}]', '{', '{}}'])(
    '%s is no object',
    (body) => {
      expect(readTokenResponse(body, 'application/json')).toBe('not_json');
      expect(readOAuthError(body)).toBeUndefined();
    },
  );

  test('may begin with a byte order mark, and has none elsewhere', () => {
    const body = JSON.stringify({ access_token: 'opaque', token_type: 'Bearer', expires_in: day });
    expect(readTokenResponse(`\uFEFF${body}`, 'application/json')).toMatchObject({ value: 'opaque', warnings: [] });
    expect(readTokenResponse(`{\uFEFF${body.slice(1)}`, 'application/json')).toBe('not_json');
  });

  test.each([
    ['application/json', []],
    ['Application/JSON; charset=utf-8', []],
    ['application/vnd.example+json', []],
    ['x-application/json', ['content_type']],
    ['text/json', ['content_type']],
    ['', ['content_type']],
  ])('of type %j is accepted with the warnings %j', (contentType, warnings) => {
    expect(read({}, contentType)).toMatchObject({ warnings });
  });

  test.each([
    [30 * day, 30 * day, []],
    ['2592000', 30 * day, []],
    [31 * day + 1, 31 * day, ['lifetime_clamped']],
    [120, 120, []],
    [119, 119, ['lifetime_short']],
    ['3600', 3_600, []],
    [3_600.9, 3_600, []],
    ['3600.0', 3_600, []],
    [undefined, day, ['lifetime_assumed']],
    ['soon', day, ['lifetime_assumed']],
    [{}, day, ['lifetime_assumed']],
  ])('with an expires_in of %j lives %i seconds, with the warnings %j', (expires_in, lifetime, warnings) => {
    expect(read({ expires_in })).toMatchObject({ lifetimeMs: lifetime * 1_000, warnings });
  });

  test.each([0, -1, '0', '-1', 0.5])('with an expires_in of %j is no token', (expires_in) => {
    expect(read({ expires_in })).toBe('expires_in');
  });
});

describe('a JWT', () => {
  const lifetimeOf = (claims: unknown) => {
    const response = read({ access_token: jwt(claims), expires_in: undefined });
    return typeof response === 'object' && !response.warnings.includes('lifetime_assumed')
      ? response.lifetimeMs / 1_000
      : undefined;
  };

  test.each([
    [{ iat: 1_000, exp: 1_060 }, 60],
    [{ iat: 1_000, exp: 1_059 }, undefined],
    [{ iat: 1_000, exp: 1_000 + 31 * day }, 31 * day],
    [{ iat: 1_000, exp: 1_001 + 31 * day }, undefined],
    [{ iat: 1_000.5, exp: 4_601 }, 3_600],
    [{ exp: 4_600 }, undefined],
    [null, undefined],
    [[1_000], undefined],
  ])('that claims %j tells a lifetime of %j seconds', (claims, lifetime) => {
    expect(lifetimeOf(claims)).toBe(lifetime);
  });

  test('is read in the Base64 of URLs', () => {
    const claims = { iat: 1_000, exp: 1_100, name: 'ÿþ>>>???~~~' };
    expect(jwt(claims)).toMatch(/\..*-.*_.*\.|\..*_.*-.*\./);
    expect(lifetimeOf(claims)).toBe(100);
  });

  test('ends a token earlier than expires_in says, and never later', () => {
    expect(read({ access_token: jwt({ iat: 0, exp: 600 }) })).toMatchObject({ lifetimeMs: 600_000 });
    expect(read({ access_token: jwt({ iat: 0, exp: 2 * day }) })).toMatchObject({ lifetimeMs: day * 1_000 });
  });

  test('is a whole number of milliseconds, as a record wants it', () => {
    const body = JSON.stringify({ access_token: 'opaque', token_type: 'Bearer' });
    const read = readTokenResponse(body, 'application/json', { lifetimeMs: 64_001 });
    expect(read).toMatchObject({ lifetimeMs: 64_001 });
  });

  test.each(['opaque', 'a.b', 'a..c'])('is not what %j is', (access_token) => {
    expect(read({ access_token, expires_in: undefined })).toMatchObject({ warnings: ['lifetime_assumed'] });
  });
});

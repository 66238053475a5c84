import { validateHeaderValue } from 'node:http';
import { format, inspect } from 'node:util';
import { expect, test } from 'vitest';
import { createAccessToken, schemeOf } from '../src/contract/access-token.ts';
import { canariesIn, tokenCanary } from './support/canaries.ts';

const issuedAt = Date.UTC(2026, 0, 1);
const token = createAccessToken('id-1', tokenCanary, issuedAt, issuedAt + 86_400_000);

test('an access token gives its value to those who ask for it', () => {
  expect([token.value, token.authorization]).toEqual([tokenCanary, `Bearer ${tokenCanary}`]);
  expect([token.id, token.issuedAt, token.expiresAt]).toEqual(['id-1', issuedAt, issuedAt + 86_400_000]);
});

test('an access token may have another scheme before it', () => {
  const other = createAccessToken('id-1', tokenCanary, issuedAt, issuedAt, 'Zoho-oauthtoken');
  expect([other.value, other.authorization]).toEqual([tokenCanary, `Zoho-oauthtoken ${tokenCanary}`]);
  expect(schemeOf(other)).toBe('Zoho-oauthtoken');
});

test('as a string it says what to use, and no header takes it', () => {
  const header = `Bearer ${token}`;
  expect(header).toContain('use token.authorization');
  expect(() => new Headers({ authorization: header })).toThrow(TypeError);
  expect(() => validateHeaderValue('authorization', header)).toThrow('Invalid character');
  expect(format('%s', token)).toMatch(/^[^\p{C}\n]+$/u);
  expect(canariesIn(format('%s %o %j', token, token, token))).toEqual([]);
});

test('inspected, serialised or cloned it shows the id and the times, never the value', () => {
  expect(inspect(token)).toBe('AccessToken id-1 (2026-01-01T00:00:00.000Z to 2026-01-02T00:00:00.000Z)');
  expect(inspect({ token })).toContain('AccessToken id-1');
  expect(JSON.parse(JSON.stringify({ token }))).toEqual({
    token: { id: 'id-1', issuedAt, expiresAt: issuedAt + 86_400_000 },
  });
  for (const seen of [token, { token }, [token], new Map([['token', token]]), new Error('x', { cause: token })]) {
    expect(canariesIn(seen)).toEqual([]);
  }
  expect(canariesIn(structuredClone(token))).toEqual([]);
  expect(canariesIn({ ...token })).toEqual([]);
  expect(inspect(token, { customInspect: false, showHidden: true, depth: null })).not.toContain(tokenCanary);
});

test('it cannot be changed', () => {
  expect(Object.isFrozen(token)).toBe(true);
  expect(() => Object.assign(token, { id: 'other' })).toThrow(TypeError);
  expect(() => Object.assign(token, { value: 'other' })).toThrow(TypeError);
});

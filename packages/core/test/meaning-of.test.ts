import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { meaningOf } from '../src/endpoint/meaning-of.ts';
import { day, minute, second } from './support/bed.ts';
import { createManualClock } from './support/manual-clock.ts';
import { answered } from './support/scripted-endpoint.ts';

const meaning = (status: number, body: unknown = '', headers: Record<string, string> = {}) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const response = { ...answered(status, text), headers };
  return meaningOf(response, text, createManualClock(), {}, [
    { windowMs: day, tokens: 50, remaining: 0, endsInMs: 7 * minute },
  ]);
};
const later = { 'retry-after': '30' };
const limited = (status: number) => ({ kind: 'released', cause: 'rate_limited', status });

describe('an answer that says "later"', () => {
  test.each([400, 401, 403])('as %i with Retry-After limits the rate, whatever its body is', (status) => {
    for (const body of ['', '<html>', { message: 'a secondary rate limit' }, { error: 'invalid_client' }])
      expect(meaning(status, body, later)).toEqual({ ...limited(status), retryAfterMs: 30 * second });
  });

  test.each([
    [{ error: 'slow_down' }],
    [{ error: 'too_many_requests' }],
    [{ error: 'rate_limit_exceeded' }],
    [{ __type: 'TooManyRequestsException', message: 'Rate exceeded' }],
    [{ __type: 'com.amazonaws.cognito#ThrottlingException' }],
    [{ code: 'RequestLimitExceeded' }],
    [{ errorCode: 'E0000047', errorSummary: 'API call exceeded rate limit' }],
    [{ name: 'RATE_LIMIT_REACHED' }],
    [{ error: { code: 'TooManyRequests', message: 'x' } }],
    [{ error: { status: 'RESOURCE_EXHAUSTED' } }],
    [{ error: 'Access Denied', error_description: 'You have made too many requests continuously.' }],
    [{ errorCode: 'AUTHENTICATION FAILED', message: 'Too many requests, please try again after 9 seconds.' }],
  ])('by %j limits the rate, as any refusal, and as 200', (body) => {
    for (const status of [400, 401, 403, 422]) expect(meaning(status, body)).toMatchObject(limited(status));
    // What has no error in the place of a token may have been a token.
    const isRefused = Object.keys(body).some((name) => name.startsWith('error'));
    expect(meaning(200, body)).toMatchObject(isRefused ? limited(200) : { kind: 'ambiguous' });
  });

  test.each(['temporarily_unavailable', 'server_error'])('by the code %s is an outage', (error) => {
    for (const status of [200, 400, 401, 403]) {
      const outage = { kind: 'released', cause: 'unavailable', status, oauthError: error };
      expect(meaning(status, { error })).toEqual(outage);
      expect(meaning(status, { error }, later)).toEqual({ ...outage, retryAfterMs: 30 * second });
    }
    expect(meaning(429, { error })).toMatchObject(limited(429));
  });

  test.each([500, 502, 503, 408, 425])('as %i may have issued a token all the same', (status) => {
    for (const body of ['', { error: 'slow_down' }, { error: 'temporarily_unavailable' }])
      expect(meaning(status, body, later)).toEqual({ kind: 'ambiguous', status, retryAfterMs: 30 * second });
  });

  test('as 200 that is neither a token nor a refusal says when, too', () => {
    const told = { kind: 'ambiguous', status: 200, reason: 'not_json', retryAfterMs: 30 * second };
    expect(meaning(200, '<html>', later)).toEqual(told);
  });

  test.each([302, 404, 405, 415])('as %i is still about the address, and says when', (status) => {
    const told = { kind: 'released', cause: 'misconfigured', status, retryAfterMs: 30 * second };
    expect(meaning(status, '', later)).toEqual(told);
  });
});

describe('an answer that does not say "later" is about the credentials', () => {
  test.each([
    ['without any time', {}],
    ['with a Retry-After that is over', { 'retry-after': '0' }],
    ['with a Retry-After that is no time', { 'retry-after': 'soon' }],
    ['with the end of a window, as Okta sends with every answer', { 'x-rate-limit-reset': '30' }],
  ])('%s', (_, headers) => {
    const refused = { kind: 'released', cause: 'credentials', status: 401, oauthError: 'invalid_client' };
    expect(meaning(401, { error: 'invalid_client' }, headers)).toEqual(refused);
  });

  test.each([
    { error: 'slow_down_x' },
    { error: 'invalid_request', error_description: 'so many requests' },
    { error: ['slow_down'] },
    { nested: { error: 'slow_down' } },
    { request: 'too many requests' },
  ])('%j', (body) => expect(meaning(400, body)).toMatchObject({ cause: 'credentials', status: 400 }));
});

test.each([
  ['an answer that limits the rate', 400, { error: 'slow_down' }, 7 * minute],
  ['an outage', 400, { error: 'server_error' }, undefined],
  ['an answer that may have issued a token', 503, '', undefined],
  ['a wrong address', 404, '', undefined],
])('a quota of which nothing is left times %s: %i', (_, status, body, retryAfterMs) => {
  expect(meaning(status, body)).toMatchObject({ retryAfterMs });
});

describe('the type of a token', () => {
  const typeOf = (token_type: unknown, access_token = 'abc') => meaning(200, { access_token, token_type });

  test.each(['BearerToken', 'Application Access Token', 'urn:ietf:params:oauth:token-type:jwt', 'N_A'])(
    '%s is named if it is not recognized',
    (tokenType) => expect(typeOf(tokenType)).toMatchObject({ reason: 'token_type', tokenType }),
  );

  test.each([
    ['', 'abc'],
    [7, 'abc'],
    ['hunter2', 'abc'],
    ['<html>', 'abc'],
    ['x'.repeat(65), 'abc'],
    ['part', 'apartment'],
    ['the token abc', 'abc'],
  ])('%j is not, with the token %s', (type, token) => {
    expect(typeOf(type, token)).toMatchObject({ reason: 'token_type', tokenType: undefined });
  });
});

test('the page about servers lists the refusals that count as a token', () => {
  const page = readFileSync(new URL('../../../docs/servers.md', import.meta.url), 'utf8');
  const [, listed = ''] = /^\| ([\dx, ]+) \| \[`ERR_TOKEN_ENDPOINT`\][^|]*\| yes \|$/m.exec(page) ?? [];
  const isListed = (status: number) =>
    listed.split(', ').some((each) => each === `${status}` || each === `${Math.floor(status / 100)}xx`);
  const statuses = Array.from({ length: 300 }, (_, index) => 300 + index);
  const counted = statuses.filter((status) => meaning(status).kind === 'ambiguous');
  expect(counted).toEqual(statuses.filter(isListed));
});

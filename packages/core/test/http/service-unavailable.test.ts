import { createServiceAuth, ServiceAuthError } from '@service-auth/core';
import { serviceUnavailable } from '@service-auth/core/http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

const refused = new ServiceAuthError('ERR_ISSUANCE_LIMIT', 'spent', {
  retryAt: 1_000_000 + 90_001,
  limit: 150,
  used: 150,
});

test('an error of ours is answered 503, with the seconds until the next attempt', () => {
  expect(serviceUnavailable(refused)).toEqual({ status: 503, headers: { 'retry-after': '91' } });
});

test('an attempt that is possible already is announced for the next second', () => {
  const past = new ServiceAuthError('ERR_STORE', 'failed', { retryAt: 5 });
  expect(serviceUnavailable(past)?.headers).toEqual({ 'retry-after': '1' });
});

test('a vault that is away is not the mistake of the options that name it', async () => {
  const clientSecret = () => Promise.reject(new Error('The vault is away.'));
  const options = { authUrl: 'https://auth.example.com', audience: 'a', clientId: 'c', clientSecret };
  const error = await createServiceAuth(options)
    .getToken()
    .catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 'ERR_CLIENT_SECRET' });
  expect(serviceUnavailable(error)).toEqual({ status: 503, headers: { 'retry-after': '1' } });
});

test('an error of ours without a time has no Retry-After', () => {
  expect(serviceUnavailable(new ServiceAuthError('ERR_CLOSED', 'closed'))).toEqual({ status: 503, headers: {} });
});

test('an error that was caused by one of ours counts, too', () => {
  const wrapped = new Error('request failed', { cause: new TypeError('fetch failed', { cause: refused }) });
  expect(serviceUnavailable(wrapped)?.headers).toEqual({ 'retry-after': '91' });
});

test.each([
  ['an error of the application', new Error('no')],
  ['no error', undefined],
  ['a mistake in the options', new ServiceAuthError('ERR_CONFIG', 'wrong', { problems: [] })],
  ['a text', 'ERR_STORE'],
  ['an object with our code', { code: 'ERR_STORE', retryAt: 1 }],
])('%s is left to the application', (_, error) => {
  expect(serviceUnavailable(error)).toBeUndefined();
});

test('an error that is its own cause is left to the application', () => {
  const circle = new Error('circle');
  circle.cause = circle;
  expect(serviceUnavailable(circle)).toBeUndefined();
});

test('the answer is an init of a Response', () => {
  const response = new Response('later', serviceUnavailable(refused));
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '91']);
});

import { isServiceAuthError } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

beforeEach(() => void vi.useFakeTimers({ now: 1_000_000 }));
afterEach(() => void vi.useRealTimers());

test('a rejected token is an error of ours, which users may try again after a minute', () => {
  const cause = tokenRejected();
  expect(isServiceAuthError(cause) && cause.code).toBe('ERR_TOKEN_REJECTED');
  expect(cause.retryAt).toBe(1_060_000);
  const error = new Error('Request failed with status code 401', { cause });
  expect(serviceUnavailable(error)).toEqual({ status: 503, headers: { 'retry-after': '60' } });
});

import { isServiceAuthError } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { expect, test } from 'vitest';

test('a rejected token is an error of ours, and nobody is told an instant that nobody knows', () => {
  const cause = tokenRejected();
  expect(isServiceAuthError(cause) && cause.code).toBe('ERR_TOKEN_REJECTED');
  expect(cause.retryAt).toBeUndefined();
  expect(cause.message).toContain('renewals after that are 1, 2, 4 … 60 minutes apart');
  const error = new Error('Request failed with status code 401', { cause });
  expect(serviceUnavailable(error)).toEqual({ status: 503, headers: {} });
});

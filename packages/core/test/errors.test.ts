import { expect, test } from 'vitest';
import { errorPage } from '../src/contract/error-page.ts';
import { isServiceAuthError, ServiceAuthError } from '../src/index.ts';

test('an error says its code, its name and what to do, and carries the fields of its code', () => {
  const error = new ServiceAuthError('ERR_RATE_LIMITED', 'Wait.', { retryAt: 5 });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'ServiceAuthError', code: 'ERR_RATE_LIMITED', retryAt: 5 });
  expect(error.message).toBe(`[service-auth] Wait. See ${errorPage}#err_rate_limited`);
  expect('cause' in error).toBe(false);
  const cause = new Error('cause');
  expect(new ServiceAuthError('ERR_CLOSED', 'x', {}, cause).cause).toBe(cause);
});

test('it is recognised whichever copy of the package made it, and nothing else is', () => {
  expect(isServiceAuthError(new ServiceAuthError('ERR_CLOSED', 'x'))).toBe(true);
  const fromAnotherCopy = Object.defineProperty(new Error('x'), Symbol.for('@service-auth/error'), { value: true });
  expect(isServiceAuthError(fromAnotherCopy)).toBe(true);
  const others = [new Error('x'), { code: 'ERR_CLOSED' }, null, undefined, 'ERR_CLOSED', 5, () => {}];
  expect(others.filter((other) => isServiceAuthError(other))).toEqual([]);
});

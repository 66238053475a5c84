import { expect, test } from 'vitest';
import { checkIsRejected } from '../../src/http/index.ts';

test('a function, or nothing, is accepted', () => {
  expect(() => checkIsRejected(undefined, 'axios')).not.toThrow();
  expect(() => checkIsRejected(() => false, 'axios')).not.toThrow();
});

test.each([null, 403, [403], 'status === 403', true])('%j is refused', (wrong) => {
  const message = '[service-auth/axios] The option `isRejected` must be a function.';
  expect(() => checkIsRejected(wrong, 'axios')).toThrow(new TypeError(message));
});

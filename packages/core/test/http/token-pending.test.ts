import { expect, test } from 'vitest';
import { serviceAuthError } from '../../src/contract/errors.ts';
import { isTokenPending } from '../../src/http/index.ts';

test('only the error of a caller whose time ended says that the token is pending', () => {
  const fields = { waitsFor: 'store', startedAt: 0, retryAt: undefined } as const;
  expect(isTokenPending(serviceAuthError('ERR_TOKEN_PENDING', 'x', fields))).toBe(true);
  for (const other of [
    serviceAuthError('ERR_CLOSED', 'x', {}),
    { code: 'ERR_TOKEN_PENDING' },
    new Error('x'),
    undefined,
  ])
    expect(isTokenPending(other)).toBe(false);
});

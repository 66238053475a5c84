import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { errorPage } from '../src/errors.ts';
import { isServiceAuthError, ServiceAuthError, type ServiceAuthErrorCode } from '../src/index.ts';

const root = new URL('../../../', import.meta.url);
const codes: Record<ServiceAuthErrorCode, true> = {
  ERR_CONFIG: true,
  ERR_ISSUANCE_LIMIT: true,
  ERR_CREDENTIALS_REJECTED: true,
  ERR_CLIENT_SECRET: true,
  ERR_RATE_LIMITED: true,
  ERR_TOKEN_ENDPOINT: true,
  ERR_TOKEN_RESPONSE: true,
  ERR_STORE: true,
  ERR_STORE_INTEGRITY: true,
  ERR_TOKEN_REJECTED: true,
  ERR_CLOSED: true,
};

test('an error says its code, its name and what to do, and carries the fields of its code', () => {
  const error = new ServiceAuthError('ERR_RATE_LIMITED', 'Wait.', { retryAt: 5 });
  expect(error).toBeInstanceOf(Error);
  expect(error).toMatchObject({ name: 'ServiceAuthError', code: 'ERR_RATE_LIMITED', retryAt: 5 });
  expect(error.message).toBe(`[service-auth] Wait. See ${errorPage}#err_rate_limited`);
  expect('cause' in error).toBe(false);
  const cause = new Error('cause');
  expect(new ServiceAuthError('ERR_CLOSED', 'x', {}, cause).cause).toBe(cause);
});

test('the message of each code ends with a link to the part of the documentation about that code', () => {
  const { homepage } = JSON.parse(readFileSync(new URL('packages/core/package.json', root), 'utf8')) as {
    homepage: string;
  };
  const [repository] = homepage.split('/tree/');
  for (const code of Object.keys(codes) as ServiceAuthErrorCode[]) {
    const link = new ServiceAuthError(code, 'x').message.split(' ').at(-1) ?? '';
    const [address = '', anchor] = link.split('#');
    expect(address.startsWith(`${repository}/blob/main/docs/`)).toBe(true);
    const page = readFileSync(new URL(address.slice(`${repository}/blob/main/`.length), root), 'utf8');
    expect(page).toContain(`<a id="${anchor}"></a>\`${code}\``);
  }
});

test('it is recognised whichever copy of the package made it, and nothing else is', () => {
  expect(isServiceAuthError(new ServiceAuthError('ERR_CLOSED', 'x'))).toBe(true);
  const fromAnotherCopy = Object.defineProperty(new Error('x'), Symbol.for('@service-auth/error'), { value: true });
  expect(isServiceAuthError(fromAnotherCopy)).toBe(true);
  const others = [new Error('x'), { code: 'ERR_CLOSED' }, null, undefined, 'ERR_CLOSED', 5, () => {}];
  expect(others.filter((other) => isServiceAuthError(other))).toEqual([]);
});

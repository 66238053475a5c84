import { expect, test } from 'vitest';
import { errorWithAdvice, explained } from '../src/errors.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as the system says it, open`), { code, syscall: 'open', errno: -1 });
}

test.each([
  ['ENOSPC', /the disk is full; free some space/],
  ['EROFS', /read-only; choose a directory that can be written/],
  ['EACCES', /may not write there; choose another directory/],
  ['EDQUOT', /free some space/],
  ['EEXIST', /a file stands where the directory belongs/],
  ['EMFILE', /too many files open/],
  ['EIO', /as the system says it/],
])('%s is explained, with the directory and its code', (code, remedy) => {
  const error = explained(systemError(code), '/var/cache/service-auth');
  expect(error).toMatchObject({ code, message: expect.stringMatching(remedy) });
  expect((error as Error).message).toMatch(/^\[service-auth\/file\] \/var\/cache\/service-auth cannot be used: /);
  expect(error).not.toHaveProperty('syscall');
});

test('what is no failure of the system stays what it is', () => {
  const reason = new DOMException('no answer within 2 seconds', 'TimeoutError');
  expect(explained(reason, '/')).toBe(reason);
  const error = errorWithAdvice('ENOTSUP', 'said already');
  expect(explained(error, '/')).toBe(error);
  expect(explained(undefined, '/')).toBe(undefined);
});

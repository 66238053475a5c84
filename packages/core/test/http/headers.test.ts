import { expect, test, vi } from 'vitest';
import { hasAuthorization } from '../../src/http/index.ts';

test.each<[headers: object | undefined]>([
  [{ authorization: 'x' }],
  [{ 'X-One': '1', AuthoriZation: undefined }],
  [
    [
      ['X-One', '1'],
      ['Authorization', 'x'],
    ],
  ],
  [['X-One', '1', 'AUTHORIZATION', 'x']],
  [[Buffer.from('Authorization'), Buffer.from('x')]],
])('%o have an Authorization', (headers) => expect(hasAuthorization(headers)).toBe(true));

test.each<[headers: object | null | undefined]>([
  [undefined],
  [null],
  [{}],
  [[]],
  [{ 'proxy-authorization': 'x', authorisation: 'x' }],
  [Object.create({ authorization: 'x' })],
  [[['X-One', 'authorization']]],
  [['X-One', 'authorization']],
  [['X-One', ['authorization']]],
])('%o have none', (headers) => expect(hasAuthorization(headers)).toBe(false));

test('a client is told of an Authorization, and of nothing else', () => {
  const reportBypass = vi.fn();
  hasAuthorization({ accept: '*/*' }, { reportBypass });
  expect(reportBypass).not.toHaveBeenCalled();
  hasAuthorization({ authorization: 'x' }, { reportBypass });
  expect(reportBypass).toHaveBeenCalledOnce();
  // A mock of a client may have only the methods that the test needs.
  expect(hasAuthorization({ authorization: 'x' }, {})).toBe(true);
});

import { expect, test } from 'vitest';
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

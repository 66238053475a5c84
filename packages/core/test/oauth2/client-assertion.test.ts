import { describe, expect, test } from 'vitest';
import { clientAssertion } from '../../src/oauth2/index.ts';
import { fieldsOf, issuer, problemsOf, unwritten } from './written.ts';

describe('clientAssertion', () => {
  test('asks its function for each request, and sends what it returns with the client id', async () => {
    const asked: unknown[] = [];
    const authentication = clientAssertion((request) => {
      asked.push(request);
      return `assertion.${asked.length}`;
    });
    const request = unwritten();
    await authentication.write(request);
    expect(fieldsOf(await authentication.write(request))).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      client_id: 'client-1',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
      client_assertion: 'assertion.2',
    });
    const { clientId, tokenEndpoint, signal } = request;
    expect(asked).toEqual(Array(2).fill({ clientId, tokenEndpoint, issuer, signal }));
  });

  test('removes the line end of a file, and may have another type', async () => {
    const type = 'urn:ietf:params:oauth:client-assertion-type:jwt-spiffe';
    const authentication = clientAssertion(async () => 'a.b.c\r\n', { type });
    expect(fieldsOf(await authentication.write(unwritten()))).toMatchObject({
      client_assertion_type: type,
      client_assertion: 'a.b.c',
    });
  });

  test.each(['', ' \n', 'a b', 'a\nb', 'ü', undefined, 7, ['a']])(
    'sends no request with the result %j',
    async (result) => {
      const authentication = clientAssertion(() => result as string);
      await expect((async () => authentication.write(unwritten()))()).rejects.toMatchObject({ code: 'NO_ASSERTION' });
    },
  );

  test('names all that is wrong with its options', () => {
    expect(problemsOf(clientAssertion(async () => 'a'))).toEqual([]);
    expect(problemsOf(clientAssertion('a' as never, { type: 'jwt', more: 1 } as never))).toEqual([
      'clientAuthentication.more is not an option',
      'clientAuthentication needs a function that returns the assertion',
      'clientAuthentication.type must be an absolute URI',
    ]);
  });
});

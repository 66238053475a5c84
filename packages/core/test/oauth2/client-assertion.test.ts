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

  const jwt = (claims: object, head: object = { alg: 'RS256', kid: '1' }) =>
    `${[head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')}.c2ln`;
  const claims = { iss: 'https://cluster.example', sub: 'system:serviceaccount:a:b', aud: ['https://a.example'] };

  test('is known by whom it speaks of, for whom and by which key: each request has another one', async () => {
    const idOf = (assertion: string, options = {}) =>
      clientAssertion(() => assertion, options).credentialId?.(unwritten());
    const id = await idOf(jwt({ ...claims, jti: '1', iat: 1, exp: 2e9, 'kubernetes.io': { pod: 'a' } }));
    expect(await idOf(jwt({ ...claims, jti: '2', iat: 2, exp: 3e9, 'kubernetes.io': { pod: 'b' } }))).toBe(id);
    const others = [
      jwt({ ...claims, iss: 'https://other.example' }),
      jwt({ ...claims, sub: 'system:serviceaccount:a:c' }),
      jwt({ ...claims, aud: 'https://b.example' }),
      jwt(claims, { alg: 'RS256', kid: '2' }),
      'opaque',
    ];
    const ids = await Promise.all([...others.map((each) => idOf(each)), idOf(jwt(claims), { type: 'urn:x:y' })]);
    expect(new Set([id, ...ids]).size).toBe(ids.length + 1);
    // What cannot be read is one credential, or each try would be one.
    expect(await idOf('another')).toBe(await idOf('opaque'));
    expect(await idOf('a.e30.c')).toBe(await idOf('opaque'));
    expect(await idOf('a.bnVsbA.c')).toBe(await idOf('opaque'));
  });

  test('that expired more than five minutes ago is not sent', async () => {
    const request = unwritten();
    const ago = (seconds: number) =>
      clientAssertion(() => jwt({ ...claims, exp: Math.floor(request.now / 1_000) - seconds })).write(request);
    await expect(ago(302)).rejects.toMatchObject({
      code: 'EXPIRED_ASSERTION',
      advice: 'the assertion expired 303 s ago: look at what has to renew it, and at the clock of this machine',
    });
    expect(fieldsOf(await ago(299))).toHaveProperty('client_assertion');
  });

  test('names all that is wrong with its options', () => {
    expect(problemsOf(clientAssertion(async () => 'a'))).toEqual([]);
    expect(problemsOf(clientAssertion('a' as never, { type: 'jwt', more: 1 } as never))).toEqual([
      'clientAuthentication.more is not an option',
      'clientAuthentication needs a function that returns the assertion',
      'clientAuthentication.type must be an absolute URI',
    ]);
  });
});

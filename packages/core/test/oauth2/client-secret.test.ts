import { describe, expect, test } from 'vitest';
import { clientSecretBasic, clientSecretPost, tlsClientAuth } from '../../src/oauth2/index.ts';
import { fieldsOf, problemsOf, unwritten } from './written.ts';

const values = [
  'plain-ID_1.*',
  'with:colon',
  '100%',
  'a%2Bb',
  'a+b c',
  'Schlüssel 🔑',
  '&=?#"\\',
  '~!@',
  'x'.repeat(4_096),
];

/** The pair in a Basic header, as a server reads it that decodes forms (RFC 6749 section 2.3.1), or one that does not. */
function pairIn(authorization = '', decodes: boolean): string[] {
  const text = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString();
  const at = text.indexOf(':');
  const pair = [text.slice(0, at), text.slice(at + 1)];
  return decodes ? pair.map((part) => decodeURIComponent(part.replaceAll('+', ' '))) : pair;
}

describe('clientSecretBasic', () => {
  test.each(values)('sends %s form-encoded, and nothing of it in the form', async (value) => {
    const request = unwritten({ clientId: value, clientSecret: `${value}!` });
    const written = await clientSecretBasic().write(request);
    expect(pairIn(written.headers['authorization'], true)).toEqual([value, `${value}!`]);
    expect(fieldsOf(written)).toEqual({ grant_type: 'client_credentials', scope: 'read write' });
  });

  test('leaves the usual ids as they are, so that servers of both kinds understand them', async () => {
    const request = unwritten({ clientId: '8f14e45f-ceea-467a_b.c', clientSecret: 'Ab-1_2.3*' });
    const { headers } = await clientSecretBasic().write(request);
    expect(pairIn(headers['authorization'], false)).toEqual(['8f14e45f-ceea-467a_b.c', 'Ab-1_2.3*']);
  });

  test.each(values.filter((value) => !value.includes(':')))(
    'sends %s as it is with the encoding none',
    async (value) => {
      const request = unwritten({ clientId: value, clientSecret: `${value}:` });
      const { headers } = await clientSecretBasic({ encoding: 'none' }).write(request);
      expect(pairIn(headers['authorization'], false)).toEqual([value, `${value}:`]);
    },
  );

  test('names all that is wrong with its options', () => {
    expect(problemsOf(clientSecretBasic())).toEqual([]);
    expect(problemsOf(clientSecretBasic({ encoding: 'utf-8', more: 1 } as never))).toEqual([
      'clientAuthentication.more is not an option',
      "clientAuthentication.encoding must be 'form' or 'none'",
    ]);
    expect(problemsOf(clientSecretBasic({ encoding: 'none' }), { clientId: 'a:b' })).toEqual([
      "clientId must not contain a colon with the encoding 'none'",
    ]);
  });
});

describe('clientSecretPost', () => {
  test.each(values)('sends %s in the form, and nothing in a header', async (value) => {
    const request = unwritten({ clientId: value, clientSecret: `${value}!` });
    const written = await clientSecretPost().write(request);
    expect(Object.keys(written.headers)).toEqual(['content-type']);
    expect(fieldsOf(written)).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      client_id: value,
      client_secret: `${value}!`,
    });
  });
});

describe('tlsClientAuth', () => {
  test('sends the client id alone', async () => {
    const written = await tlsClientAuth().write(unwritten());
    expect(written.headers).toEqual({ 'content-type': 'application/x-www-form-urlencoded' });
    expect(fieldsOf(written)).toEqual({ grant_type: 'client_credentials', scope: 'read write', client_id: 'client-1' });
  });
});

test('a parameter may repeat', async () => {
  const parameters = [
    ['resource', 'https://a.example/'],
    ['resource', 'https://b.example/?x=1'],
  ] as const;
  const { body } = await clientSecretPost().write(unwritten({ parameters, clientSecret: 's' }));
  expect(new URLSearchParams(body).getAll('resource')).toEqual(['https://a.example/', 'https://b.example/?x=1']);
});

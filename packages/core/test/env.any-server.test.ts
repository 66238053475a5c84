import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { createServiceAuthFromEnv, memoryStore, optionsFromEnv, type ServiceAuthOptions } from '../src/index.ts';
import { failure } from './support/bed.ts';
import { createScriptedEndpoint } from './support/scripted-endpoint.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-auth-env-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, content: string): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  return file;
}

const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'pem', type: 'pkcs8' });
const pem = String(key);
const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey;
const rsaPem = String(rsa.export({ format: 'pem', type: 'pkcs8' }));
const rsaJwk = (more: object = {}) => JSON.stringify({ ...rsa.export({ format: 'jwk' }), ...more });
const needsAlgorithm =
  'is an RSA key, which can sign in several ways: set SERVICE_AUTH_KEY_ALGORITHM to RS256, PS256 or another one, as the server has it';
const noKey =
  'must be a private key: PKCS #8 as PEM without a password (openssl pkcs8 -topk8 -nocrypt -in KEY -out NEW), or a JWK';
const common = {
  SERVICE_AUTH_TOKEN_ENDPOINT: 'https://auth.example.com/token',
  SERVICE_AUTH_CLIENT_ID: 'client-1',
  SERVICE_AUTH_ISSUER: 'https://auth.example.com/',
};
const reserved =
  'must not be given: it is set by another option, is no name (RFC 6749 section 8.2), or would be a secret in the record';
const secret = { SERVICE_AUTH_CLIENT_SECRET: 's%c' };

/** The token requests of a client that these variables describe, one for each lost token. */
async function sent(env: Record<string, string>, between: () => void = () => {}) {
  const endpoint = createScriptedEndpoint();
  const auth = createServiceAuthFromEnv({ ...common, ...env }, { transport: endpoint.transport, store: memoryStore() });
  await auth.getToken();
  between();
  await auth.reset();
  await auth.getToken();
  await auth.close();
  return endpoint.requests.map(({ url, headers, body }) => {
    return { url, authorization: headers['authorization'], fields: Object.fromEntries(new URLSearchParams(body)) };
  });
}

const problemsOf = async (env: Record<string, string>) =>
  (await failure('ERR_CONFIG', () => optionsFromEnv({ ...common, ...env }))).problems.map(
    ({ option, message }) => `${option} ${message}`,
  );

describe('the environment', () => {
  test('describes what is asked for', async () => {
    const [request] = await sent({
      ...secret,
      SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_basic',
      SERVICE_AUTH_SCOPE: 'read write',
      SERVICE_AUTH_RESOURCE: 'https://a.example/',
      SERVICE_AUTH_PARAMETERS: 'organization=a%20b&x=1',
      SERVICE_AUTH_TOKEN_LIMIT: 'unlimited',
    });
    expect(request).toEqual({
      url: 'https://auth.example.com/token',
      authorization: `Basic ${btoa('client-1:s%25c')}`,
      fields: {
        grant_type: 'client_credentials',
        scope: 'read write',
        resource: 'https://a.example/',
        organization: 'a b',
        x: '1',
      },
    });
  });

  test('names types of tokens that mean a bearer token, separated by commas', () => {
    const typesIn = (list: string) =>
      optionsFromEnv({ ...common, ...secret, SERVICE_AUTH_TOKEN_TYPES: list }).recognizedTokenTypes;
    expect(typesIn('Application Access Token, BearerToken')).toEqual(['Application Access Token', 'BearerToken']);
    expect(typesIn('')).toBeUndefined();
  });

  test('that has no limit refuses nothing for it, and a limit of the overrides wins', async () => {
    const env = { ...common, ...secret, SERVICE_AUTH_TOKEN_LIMIT: 'unlimited' };
    const ends = async (overrides: Partial<ServiceAuthOptions>) => {
      const { transport } = createScriptedEndpoint();
      const store = memoryStore();
      const counts: Record<string, number> = {};
      // More than the default limit.
      for (let at = 0; at < 160; at += 1) {
        const auth = createServiceAuthFromEnv(env, { transport, store, scope: `scope-${at}`, ...overrides });
        const end = await auth.getToken().then(
          () => 'issued',
          ({ code }) => code,
        );
        counts[end] = (counts[end] ?? 0) + 1;
        await auth.close();
      }
      return counts;
    };
    expect(await ends({})).toEqual({ issued: 160 });
    expect(await ends({ issuanceLimit: { tokens: 5, reserve: 0 } })).toEqual({ issued: 5, ERR_ISSUANCE_LIMIT: 155 });
    expect(optionsFromEnv(env, { issuanceLimit: 'inherit' }).issuanceLimit).toBe('inherit');
  });

  test('has the secret in the form, if it says so', async () => {
    const [request] = await sent({ ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_post' });
    expect(request?.fields).toMatchObject({ client_id: 'client-1', client_secret: 's%c' });
  });

  test('needs an issuer with a private key, which addresses assertions to it', async () => {
    expect(await problemsOf({ SERVICE_AUTH_PRIVATE_KEY: 'a key', SERVICE_AUTH_ISSUER: '' })).toContain(
      'SERVICE_AUTH_ISSUER is empty: assertions are addressed to it',
    );
  });

  test('has no secret with tls_client_auth', async () => {
    const [request] = await sent({ SERVICE_AUTH_CLIENT_AUTHENTICATION: 'tls_client_auth' });
    expect(request?.fields).toEqual({ grant_type: 'client_credentials', client_id: 'client-1' });
  });

  test('has a private key, as it is or in a file that is read for each request', async () => {
    const partsOf = ({ fields }: { fields: Record<string, string> }) =>
      fields['client_assertion']
        ?.split('.')
        .slice(0, 2)
        .map((part) => JSON.parse(atob(part)));
    const [first] = await sent({ SERVICE_AUTH_PRIVATE_KEY: String(key), SERVICE_AUTH_KEY_ID: 'k' });
    expect(first && partsOf(first)).toMatchObject([{ alg: 'ES256', kid: 'k' }, { aud: common.SERVICE_AUTH_ISSUER }]);
    const file = fileWith('key', String(key));
    const other = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' });
    const requests = await sent({ SERVICE_AUTH_PRIVATE_KEY_FILE: file }, () => writeFileSync(file, other));
    expect(requests.map((each) => partsOf(each)?.[0].alg)).toEqual(['ES256', 'EdDSA']);
  });

  test.each([
    [rsaPem, 'RS256'],
    [rsaPem.replaceAll('\n', '\\n'), 'PS384'],
    [rsaJwk(), 'RS512'],
    [rsaJwk({ alg: 'PS256' }), ''],
  ])('has an RSA key that signs by the algorithm that is said', async (privateKey, keyAlgorithm) => {
    const [request] = await sent({ SERVICE_AUTH_PRIVATE_KEY: privateKey, SERVICE_AUTH_KEY_ALGORITHM: keyAlgorithm });
    const [head = ''] = request?.fields['client_assertion']?.split('.') ?? [];
    expect(JSON.parse(atob(head)).alg).toBe(keyAlgorithm || 'PS256');
  });

  test('that loses its key says at the request what is wrong with the new one', async () => {
    const file = fileWith('changed', pem);
    const auth = createServiceAuthFromEnv({ ...common, SERVICE_AUTH_PRIVATE_KEY_FILE: file }, { store: memoryStore() });
    writeFileSync(file, rsaPem);
    expect((await failure('ERR_CLIENT_SECRET', auth.getToken())).message).toContain(
      'The client authentication failed (TypeError UNUSABLE_KEY: algorithm must be given, because the key fits several: RS256, RS384',
    );
  });

  test('has an assertion in a file that is read for each request', async () => {
    const file = fileWith('assertion', 'a.b.c\n');
    const requests = await sent({ SERVICE_AUTH_CLIENT_ASSERTION_FILE: file }, () => writeFileSync(file, 'd.e.f'));
    expect(requests.map(({ fields }) => fields['client_assertion'])).toEqual(['a.b.c', 'd.e.f']);
  });

  test('that loses its assertion brings no request', async () => {
    const file = fileWith('lost', 'a.b.c');
    const auth = createServiceAuthFromEnv(
      { ...common, SERVICE_AUTH_CLIENT_ASSERTION_FILE: file },
      { store: memoryStore() },
    );
    writeFileSync(file, '\n');
    expect((await failure('ERR_CLIENT_SECRET', auth.getToken())).message).toContain('NO_ASSERTION');
    rmSync(file);
    expect((await failure('ERR_CLIENT_SECRET', auth.getToken())).message).toMatch(
      /\(Error ENOENT: \S+ cannot be read\)/,
    );
  });

  const expired = `e30.${btoa(JSON.stringify({ exp: 1 }))}.c`;
  test.each([
    ['nothing', '', 'NO_ASSERTION: the assertion must be a text of visible ASCII, without white space'],
    ['a line end', '\n', 'NO_ASSERTION'],
    ['two assertions', 'a.b.canary\nd.e.canary\n', 'NO_ASSERTION'],
    ['umlauts', 'a.b.canär', 'NO_ASSERTION'],
    ['an expired one', expired, 'EXPIRED_ASSERTION: the assertion expired'],
    ['an expired one and a line end', `${expired}\n`, 'EXPIRED_ASSERTION'],
    ['a directory', undefined, 'EISDIR'],
  ])('sends no request once the file of the assertion has %s', async (what, content, message) => {
    const file = fileWith(what.replaceAll(' ', '-'), 'a.b.c');
    const endpoint = createScriptedEndpoint();
    const env = { ...common, SERVICE_AUTH_CLIENT_ASSERTION_FILE: file };
    const auth = createServiceAuthFromEnv(env, { store: memoryStore(), transport: endpoint.transport });
    rmSync(file);
    if (content === undefined) mkdirSync(file);
    else writeFileSync(file, content);
    const error = await failure('ERR_CLIENT_SECRET', auth.getToken());
    expect(error.message).toContain(message);
    expect(String(error.stack)).not.toContain('canary');
    expect([endpoint.requests.length, (await auth.getUsage()).used]).toEqual([0, 0]);
    await auth.close();
  });

  test('leaves everything to the overrides that are given', () => {
    const clientAuthentication = optionsFromEnv({ ...common, SERVICE_AUTH_PRIVATE_KEY: pem }).clientAuthentication;
    const options = optionsFromEnv({ ...common, SERVICE_AUTH_PRIVATE_KEY_FILE: '/none' }, { clientAuthentication });
    expect(options.clientAuthentication).toBe(clientAuthentication);
  });

  test.each<[Record<string, string>, string[]]>([
    [{}, ['SERVICE_AUTH_AUDIENCE is not set'].slice(1).concat('SERVICE_AUTH_CLIENT_SECRET is not set')],
    [
      { ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'basic' },
      [
        'SERVICE_AUTH_CLIENT_AUTHENTICATION must be one of client_secret_basic, client_secret_post, private_key_jwt, tls_client_auth',
      ],
    ],
    [
      { SERVICE_AUTH_CLIENT_AUTHENTICATION: 'private_key_jwt' },
      ['SERVICE_AUTH_PRIVATE_KEY is not set, nor SERVICE_AUTH_PRIVATE_KEY_FILE'],
    ],
    [
      { ...secret, SERVICE_AUTH_PRIVATE_KEY: pem },
      ['SERVICE_AUTH_CLIENT_SECRET must not be given: this clientAuthentication sends none'],
    ],
    [
      { ...secret, SERVICE_AUTH_PRIVATE_KEY: pem, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_post' },
      ['SERVICE_AUTH_PRIVATE_KEY must not be set with SERVICE_AUTH_CLIENT_AUTHENTICATION=client_secret_post'],
    ],
    [
      { SERVICE_AUTH_PRIVATE_KEY_FILE: '/none' },
      ['SERVICE_AUTH_PRIVATE_KEY_FILE names a file that cannot be read (Error ENOENT)'],
    ],
    [
      { SERVICE_AUTH_CLIENT_ASSERTION_FILE: '/' },
      ['SERVICE_AUTH_CLIENT_ASSERTION_FILE names a file that cannot be read (Error EISDIR)'],
    ],
    [
      { SERVICE_AUTH_CLIENT_ASSERTION_FILE: fileWith('empty', '\n') },
      ['SERVICE_AUTH_CLIENT_ASSERTION_FILE names a file that is empty'],
    ],
    [
      { ...secret, SERVICE_AUTH_TOKEN_LIMIT: 'unlimited', SERVICE_AUTH_RESERVE: '5' },
      ['SERVICE_AUTH_RESERVE must not be set with SERVICE_AUTH_TOKEN_LIMIT=unlimited: there is nothing to keep back'],
    ],
    [{ SERVICE_AUTH_PRIVATE_KEY: rsaPem }, [`SERVICE_AUTH_PRIVATE_KEY ${needsAlgorithm}`]],
    [{ SERVICE_AUTH_PRIVATE_KEY: rsaJwk() }, [`SERVICE_AUTH_PRIVATE_KEY ${needsAlgorithm}`]],
    [
      { SERVICE_AUTH_PRIVATE_KEY_FILE: fileWith('rsa', rsaPem) },
      [`SERVICE_AUTH_PRIVATE_KEY_FILE names a file whose content ${needsAlgorithm}`],
    ],
    [
      { SERVICE_AUTH_PRIVATE_KEY: String(rsa.export({ format: 'pem', type: 'pkcs1' })) },
      [`SERVICE_AUTH_PRIVATE_KEY ${noKey}`],
    ],
    [
      { SERVICE_AUTH_PRIVATE_KEY: pem, SERVICE_AUTH_KEY_ALGORITHM: 'RSA' },
      ['SERVICE_AUTH_KEY_ALGORITHM must be like ES256, RS256, PS256 or EdDSA'],
    ],
    [
      { SERVICE_AUTH_PRIVATE_KEY: pem, SERVICE_AUTH_KEY_ID: '"k"' },
      ['SERVICE_AUTH_KEY_ID is wrapped in quotes: remove them where it is set'],
    ],
    [{ SERVICE_AUTH_PRIVATE_KEY: 'canary' }, [`SERVICE_AUTH_PRIVATE_KEY ${noKey}`]],
    [{ SERVICE_AUTH_PRIVATE_KEY: '{"d":canary' }, [`SERVICE_AUTH_PRIVATE_KEY ${noKey}`]],
    [
      { ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_post', SERVICE_AUTH_KEY_ID: 'k' },
      ['SERVICE_AUTH_KEY_ID needs a private key, but none is set'],
    ],
    [
      { ...secret, SERVICE_AUTH_URL: 'https://auth.example.com' },
      ['SERVICE_AUTH_TOKEN_ENDPOINT must not be given with authUrl (SERVICE_AUTH_URL)'],
    ],
    [
      { ...secret, SERVICE_AUTH_PARAMETERS: 'client_id=x' },
      [`SERVICE_AUTH_PARAMETERS has client_id, which ${reserved}`],
    ],
    [{ ...secret, SERVICE_AUTH_PARAMETERS: 'username=x' }, [`SERVICE_AUTH_PARAMETERS has username, which ${reserved}`]],
    [{ ...secret, SERVICE_AUTH_PARAMETERS: '{"key":"canary"}' }, [`SERVICE_AUTH_PARAMETERS ${reserved}`]],
    [{ ...secret, SERVICE_AUTH_PARAMETERS: 'a=1&a=2' }, ['SERVICE_AUTH_PARAMETERS has a name twice']],
    [
      { ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_basic', SERVICE_AUTH_SCOPE: ' read' },
      [
        'SERVICE_AUTH_SCOPE must be names with one space between them (RFC 6749 appendix A.4), at most 4,096 characters',
      ],
    ],
    [{ ...secret, SERVICE_AUTH_TOKEN_TYPES: 'a,,b' }, ['SERVICE_AUTH_TOKEN_TYPES must be a list of texts']],
    [{ ...secret, SERVICE_AUTH_RESOURCE: 'api' }, ['SERVICE_AUTH_RESOURCE must be absolute URIs without fragments']],
    [
      { ...secret, SERVICE_AUTH_TOKEN_ENDPOINT: 'https://auth.example.com/token?client_secret=canary' },
      ['SERVICE_AUTH_TOKEN_ENDPOINT must not contain parameters of the token request, or a secret, in its query'],
    ],
    [
      { SERVICE_AUTH_PRIVATE_KEY: pem, SERVICE_AUTH_ISSUER: '' },
      ['SERVICE_AUTH_ISSUER is empty: assertions are addressed to it'],
    ],
    [
      { SERVICE_AUTH_PRIVATE_KEY: pem, SERVICE_AUTH_PRIVATE_KEY_FILE: fileWith('key-twice', pem) },
      ['SERVICE_AUTH_PRIVATE_KEY_FILE must not be set together with SERVICE_AUTH_PRIVATE_KEY'],
    ],
  ])('%j: %j', async (env, expected) => {
    expect(await problemsOf(env)).toEqual(expected);
  });

  test('has further headers, as a query or in a file, and the scheme', async () => {
    const endpoint = createScriptedEndpoint();
    const given = { ...common, ...secret, SERVICE_AUTH_AUDIENCE: 'a', SERVICE_AUTH_SCHEME: 'Zoho-oauthtoken' };
    const content = 'x-api-key=a%2Bb%3D%3D&Accept=application/vnd.api%2Bjson, text/plain';
    for (const headers of [
      { SERVICE_AUTH_HEADERS: content },
      { SERVICE_AUTH_HEADERS_FILE: fileWith('headers', `${content}\n`) },
      { SERVICE_AUTH_HEADERS: `${new URLSearchParams(content)}` },
    ]) {
      const options = { transport: endpoint.transport, store: memoryStore() };
      const auth = createServiceAuthFromEnv({ ...given, ...headers }, options);
      const { authorization, value } = await auth.getToken();
      expect(authorization).toBe(`Zoho-oauthtoken ${value}`);
      expect(endpoint.requests.at(-1)?.headers).toMatchObject({
        'x-api-key': 'a+b==',
        accept: 'application/vnd.api+json, text/plain',
      });
    }
  });

  test.each([
    [
      'SERVICE_AUTH_HEADERS',
      'authorization=s%c',
      'has authorization, which must not be given: another option sets it, or the connection',
    ],
    ['SERVICE_AUTH_HEADERS', 'a=1&a=2', 'has a name twice'],
    ['SERVICE_AUTH_HEADERS', 'a=1&A=2', 'has A, which is there twice, in upper and lower case'],
    ['SERVICE_AUTH_HEADERS', 's%c', 'has a name without a value'],
    ['SERVICE_AUTH_HEADERS', '{"a":"s%c"}', 'must have names of headers (RFC 9110 section 5.1)'],
    ['SERVICE_AUTH_HEADERS', 'a=b/c+d==', 'has a + that a query reads as a space: write %2B, or %20 for a space'],
    ['SERVICE_AUTH_PARAMETERS', 'a=b/c+d==', 'has a + that a query reads as a space: write %2B, or %20 for a space'],
    [
      'SERVICE_AUTH_SCHEME',
      'Bearer ',
      'must be one word, such as Bearer, without the space after it (RFC 9110 section 11.1)',
    ],
  ])('%s=%s is told without its value', async (name, value, message) => {
    expect(await problemsOf({ ...secret, SERVICE_AUTH_AUDIENCE: 'a', [name]: value })).toEqual([`${name} ${message}`]);
  });
});

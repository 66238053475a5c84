import { constants, createPublicKey, generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { type PrivateKeyJwtOptions, privateKeyJwt, type SigningAlgorithm } from '../../src/oauth2/index.ts';
import { fieldsOf, issuer, problemsOf, unwritten } from './written.ts';

const rsa = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const pairs = {
  EC: generateKeyPairSync('ec', { namedCurve: 'P-256' }),
  'EC 384': generateKeyPairSync('ec', { namedCurve: 'P-384' }),
  'EC 521': generateKeyPairSync('ec', { namedCurve: 'P-521' }),
  RSA: rsa,
  Ed25519: generateKeyPairSync('ed25519'),
};

const pem = (key: KeyObject) => String(key.export({ format: 'pem', type: 'pkcs8' }));
const jwk = (key: KeyObject, more: object = {}) => ({ ...key.export({ format: 'jwk' }), ...more });

const parsed = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());

/** What is in an assertion, if its signature is that of the key. */
async function assertionOf(options: PrivateKeyJwtOptions, publicKey: KeyObject, now?: number) {
  const written = await privateKeyJwt(options).write(unwritten(now === undefined ? {} : { now }));
  const { client_assertion = '', ...fields } = fieldsOf(written);
  const [head, claims, signature = ''] = client_assertion.split('.');
  const header = parsed(head);
  const bits = String(header.alg).slice(-3);
  const key = {
    key: publicKey,
    dsaEncoding: 'ieee-p1363',
    ...(String(header.alg).startsWith('PS') && {
      padding: constants.RSA_PKCS1_PSS_PADDING,
      saltLength: constants.RSA_PSS_SALTLEN_DIGEST,
    }),
  } as const;
  const digest = publicKey.asymmetricKeyType === 'ed25519' ? null : `sha${bits}`;
  expect(verify(digest, Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url'))).toBe(true);
  return { header, claims: parsed(claims), fields };
}

describe('privateKeyJwt', () => {
  const cases: [SigningAlgorithm, keyof typeof pairs, boolean][] = [
    ['ES256', 'EC', false],
    ['ES384', 'EC 384', false],
    ['ES512', 'EC 521', false],
    ['EdDSA', 'Ed25519', false],
    ['Ed25519', 'Ed25519', true],
    ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const).map(
      (name): [SigningAlgorithm, keyof typeof pairs, boolean] => [name, 'RSA', true],
    ),
  ];

  test.each(cases)('signs with %s, whatever form the key has', async (algorithm, kind, isChosen) => {
    const { privateKey, publicKey } = pairs[kind];
    const chosen = isChosen ? { algorithm } : {};
    const text = pem(privateKey);
    const platform = privateKey.toCryptoKey(
      kind === 'RSA'
        ? { name: algorithm.startsWith('P') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash: `SHA-${algorithm.slice(2)}` }
        : { name: kind === 'Ed25519' ? 'Ed25519' : 'ECDSA', namedCurve: `P-${kind.slice(3) || 256}` },
      false,
      ['sign'],
    );
    for (const key of [
      text,
      text.replaceAll('\n', '\\n'),
      text.replaceAll('\n', '\r\n'),
      jwk(privateKey),
      JSON.stringify(jwk(privateKey)),
      async () => text,
    ]) {
      expect((await assertionOf({ key, ...chosen }, publicKey)).header).toEqual({
        typ: 'client-authentication+jwt',
        alg: algorithm,
      });
    }
    const told = algorithm === 'Ed25519' ? chosen : {};
    expect((await assertionOf({ key: platform, ...told }, publicKey)).header.alg).toBe(algorithm);
  });

  test('claims who the client is to one audience, for a minute, each time anew', async () => {
    const { privateKey, publicKey } = pairs.EC;
    const first = await assertionOf({ key: jwk(privateKey) }, publicKey);
    const second = await assertionOf({ key: jwk(privateKey) }, publicKey);
    const iat = Date.parse('2026-01-01') / 1_000;
    expect(first.claims).toEqual({
      iss: 'client-1',
      sub: 'client-1',
      aud: issuer,
      jti: expect.stringMatching(/^[\w-]{24}$/),
      iat,
      exp: iat + 60,
    });
    expect(second.claims.jti).not.toBe(first.claims.jti);
    expect(first.fields).toEqual({
      grant_type: 'client_credentials',
      scope: 'read write',
      client_id: 'client-1',
      client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer',
    });
  });

  test('has the audience, the key id and the header that a server wants', async () => {
    const { privateKey, publicKey } = pairs.RSA;
    const audience = 'https://auth.example.com/token';
    const key = jwk(privateKey, { alg: 'PS256', kid: 'of the JWK' });
    expect(await assertionOf({ key, audience }, publicKey)).toMatchObject({
      claims: { aud: audience },
      header: { alg: 'PS256', kid: 'of the JWK' },
    });
    const header = { typ: 'JWT', 'x5t#S256': 'abc' };
    expect((await assertionOf({ key, algorithm: 'RS256', keyId: 'own', header }, publicKey)).header).toEqual({
      alg: 'RS256',
      kid: 'own',
      ...header,
    });
    expect((await assertionOf({ key, header: { typ: undefined } }, publicKey)).header.typ).toBeUndefined();
  });

  test('asks a function for the key each time, and knows another key from the one before', async () => {
    let key = jwk(pairs.EC.privateKey);
    const authentication = privateKeyJwt({ key: () => key });
    const before = await authentication.credentialId?.(unwritten());
    expect(await authentication.credentialId?.(unwritten())).toBe(before);
    key = jwk(pairs['EC 384'].privateKey);
    expect(await authentication.credentialId?.(unwritten())).not.toBe(before);
    const publicKey = createPublicKey(pairs['EC 384'].privateKey);
    expect((await assertionOf({ key: () => key }, publicKey)).header.alg).toBe('ES384');
  });

  test('knows one CryptoKey from another by their public keys, or else by their key ids', async () => {
    const cryptoKey = (pair: 'EC' | 'another', extractable: boolean) =>
      (pair === 'EC' ? pairs.EC : generateKeyPairSync('ec', { namedCurve: 'P-256' })).privateKey.toCryptoKey(
        { name: 'ECDSA', namedCurve: 'P-256' },
        extractable,
        ['sign'],
      );
    const idOf = (options: PrivateKeyJwtOptions) => privateKeyJwt(options).credentialId?.(unwritten());
    const hidden = cryptoKey('EC', false);
    expect(await idOf({ key: hidden, keyId: 'new' })).not.toBe(await idOf({ key: hidden, keyId: 'old' }));
    expect(await idOf({ key: hidden, keyId: 'new' })).toBe(await idOf({ key: hidden, keyId: 'new' }));
    const open = cryptoKey('EC', true);
    expect(await idOf({ key: open })).toBe(await idOf({ key: jwk(pairs.EC.privateKey) }));
    expect(await idOf({ key: open })).not.toBe(await idOf({ key: cryptoKey('another', true) }));
  });

  test('is another credential with another audience, header or algorithm, as the server sees it', async () => {
    const key = jwk(rsa.privateKey);
    const idOf = (options: object, client = {}) =>
      privateKeyJwt({ key, algorithm: 'RS256', ...options }).credentialId?.(unwritten(client));
    const ids = await Promise.all([
      idOf({}),
      idOf({ audience: 'https://auth.example.com/token' }),
      idOf({}, { issuer: 'https://other.example' }),
      idOf({ header: { typ: 'JWT' } }),
      idOf({ algorithm: 'PS256' }),
      idOf({ keyId: 'a' }),
    ]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('reads nothing of a JWK from a polluted prototype', async () => {
    const { privateKey, publicKey } = pairs.EC;
    const polluted = Object.prototype as { kid?: string };
    polluted.kid = 'polluted';
    const assertion = assertionOf({ key: jwk(privateKey) }, publicKey).finally(() => {
      delete polluted.kid;
    });
    expect((await assertion).header).toEqual({ typ: 'client-authentication+jwt', alg: 'ES256' });
  });

  test('has another jti each time, also in copies of a machine that was stopped: they have one random generator', async () => {
    const { privateKey, publicKey } = pairs.EC;
    const random = vi.spyOn(crypto, 'getRandomValues').mockImplementation((bytes) => bytes);
    const ids = [1, 2].map(async () => (await assertionOf({ key: jwk(privateKey) }, publicKey)).claims.jti);
    const [first, second] = await Promise.all(ids);
    random.mockRestore();
    expect(first).not.toBe(second);
  });

  test.each([
    ['no key', undefined, 'UNUSABLE_KEY'],
    ['a public one', jwk(pairs.EC.publicKey), 'UNUSABLE_KEY'],
    ['one of several algorithms', jwk(rsa.privateKey), 'UNUSABLE_KEY'],
    [
      'a short one',
      jwk(generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey, { alg: 'RS256' }),
      'UNUSABLE_KEY',
    ],
    ['a damaged one', { ...jwk(pairs.EC.privateKey), d: 'AAAA' }, 'UNUSABLE_KEY'],
  ])('signs nothing if the function returns %s, and its error has nothing of the key', async (_, key, code) => {
    const attempt = (async () => privateKeyJwt({ key: () => key as never }).write(unwritten()))();
    const error = await attempt.catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code });
    expect(JSON.stringify([String((error as Error).stack), error])).not.toContain(
      pairs.EC.privateKey.export({ format: 'jwk' }).d,
    );
  });

  test('has the key in WebCrypto from the first request on: what becomes of the object does not matter', async () => {
    const key = jwk(pairs.EC.privateKey);
    const authentication = privateKeyJwt({ key });
    await authentication.write(unwritten());
    key.d = 'AAAA';
    expect(await authentication.write(unwritten())).toHaveProperty('body');
  });

  const { privateKey } = pairs.EC;
  const encrypted = privateKey.export({ format: 'pem', type: 'pkcs8', cipher: 'aes-256-cbc', passphrase: 'x' });
  const conversion =
    'clientAuthentication.key must be PKCS #8 without a password: openssl pkcs8 -topk8 -nocrypt -in KEY writes it';
  test.each<[string, object, string[]]>([
    ['nothing', {}, ['clientAuthentication.key must be a CryptoKey, a JWK or PKCS #8 as PEM']],
    [
      'a secret',
      { key: 'the-secret' },
      ['clientAuthentication.key must be PKCS #8 as PEM, which begins with -----BEGIN PRIVATE KEY-----, or a JWK'],
    ],
    ['PKCS #1', { key: rsa.privateKey.export({ format: 'pem', type: 'pkcs1' }) }, [conversion]],
    ['SEC 1', { key: privateKey.export({ format: 'pem', type: 'sec1' }) }, [conversion]],
    ['an encrypted key', { key: encrypted }, [conversion]],
    [
      'half a key',
      { key: pem(privateKey).slice(0, 80) },
      ['clientAuthentication.key is PEM that is incomplete or damaged'],
    ],
    [
      'another curve',
      { key: pem(generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).privateKey) },
      ['clientAuthentication.key must be a key of P-256, P-384, P-521, RSA or Ed25519'],
    ],
    [
      'a public JWK',
      { key: jwk(pairs.EC.publicKey) },
      ['clientAuthentication.key must be a private key: this JWK has no member d'],
    ],
    [
      'a symmetric JWK',
      { key: { kty: 'oct', k: 'AAAA', d: 'AAAA' } },
      ['clientAuthentication.key must be a JWK of P-256, P-384, P-521, RSA or Ed25519'],
    ],
    ...[
      { kty: 'toString', d: 'AAAA' },
      { kty: 'EC', crv: 'constructor', d: 'AAAA' },
    ].map((key): [string, object, string[]] => [
      'names that every object has',
      { key },
      ['clientAuthentication.key must be a JWK of P-256, P-384, P-521, RSA or Ed25519'],
    ]),
    ['no JSON', { key: '{"kty":' }, ['clientAuthentication.key begins like a JWK, and is no JSON']],
    [
      'RSA without an algorithm',
      { key: pem(rsa.privateKey) },
      [
        'clientAuthentication.algorithm must be given, because the key fits several: RS256, RS384, RS512, PS256, PS384, PS512',
      ],
    ],
    [
      'an algorithm of another key',
      { key: pem(privateKey), algorithm: 'RS256' },
      ['clientAuthentication.algorithm does not fit the key, which signs with ES256'],
    ],
    [
      'an algorithm for encryption in the JWK',
      { key: jwk(rsa.privateKey, { alg: 'RSA-OAEP' }) },
      [
        'clientAuthentication.algorithm does not fit the key, which signs with RS256, RS384, RS512, PS256, PS384, PS512',
      ],
    ],
    [
      'an unknown algorithm',
      { key: pem(privateKey), algorithm: 'none' },
      ['clientAuthentication.algorithm must be one of ES256, RS256, PS256, EdDSA and the like (RFC 7518 section 3.1)'],
    ],
    [
      'a key that may only verify',
      { key: pairs.EC.publicKey.toCryptoKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['verify']) },
      ["clientAuthentication.key must be a private key with the usage 'sign'"],
    ],
    [
      'everything else',
      { key: pem(privateKey), keyId: '', audience: 7, header: { alg: 'none' }, more: 1 },
      [
        'clientAuthentication.more is not an option',
        'clientAuthentication.keyId must be a string that is not empty',
        'clientAuthentication.audience must be a string that is not empty',
        'clientAuthentication.header must not have alg: give algorithm',
      ],
    ],
  ])('names what is wrong with %s, and no value', (_, options, expected) => {
    expect(problemsOf(privateKeyJwt(options as PrivateKeyJwtOptions))).toEqual(expected);
  });

  test('needs an audience or an issuer', () => {
    const key = pem(privateKey);
    const problem =
      'clientAuthentication.audience must be given, or the option issuer: the assertion is for the one of them that the server accepts';
    expect(problemsOf(privateKeyJwt({ key }))).toEqual([]);
    expect(problemsOf(privateKeyJwt({ key, audience: 'a' }), { issuer: undefined })).toEqual([]);
    expect(problemsOf(privateKeyJwt({ key }), { issuer: undefined })).toEqual([problem]);
  });
});

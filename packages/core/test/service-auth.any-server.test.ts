// A client in front of an authorization server of another kind: what it sends, whom it shares a token with, and what a refusal is about.
import { describe, expect, test, vi } from 'vitest';
import { createServiceAuth, createUsageReader, memoryStore, type ServiceAuthOptions } from '../src/index.ts';
import {
  type ClientAuthentication,
  clientAssertion,
  clientSecretBasic,
  clientSecretPost,
  privateKeyJwt,
  tlsClientAuth,
} from '../src/oauth2/index.ts';
import { recordKey, secretInRecord } from '../src/record/stored-record.ts';
import { createBed, day, failure, hour, minute } from './support/bed.ts';
import { canariesIn, secretCanary } from './support/canaries.ts';
import { answered, answering, gated } from './support/scripted-endpoint.ts';

const tokenEndpoint = 'https://auth.example.com/tenant/token?version=2';
const storeKey = 'a key for the tokens in the store, in all processes';
const server = { authUrl: undefined, audience: undefined, tokenEndpoint, clientAuthentication: clientSecretPost() };

const fieldsOf = (body = '') => [...new URLSearchParams(body)].map(([name, value]) => `${name}=${value}`);

describe('a request', () => {
  test('goes to the token endpoint with its query, as a form with what is asked for', async () => {
    const { client, endpoint, token } = createBed();
    const resource = ['https://b.example/', 'https://a.example/'];
    await token(
      client({ ...server, scope: ['write', 'read'], resource, audience: 'api', parameters: { organization: 'ö +%:' } }),
    );
    expect(endpoint.requests.map(({ url }) => url)).toEqual([tokenEndpoint]);
    expect(endpoint.requests[0]?.headers).toEqual({
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
      'accept-encoding': 'identity',
    });
    expect(fieldsOf(endpoint.requests[0]?.body)).toEqual([
      'audience=api',
      'grant_type=client_credentials',
      'scope=write read',
      'resource=https://a.example/',
      'resource=https://b.example/',
      'organization=ö +%:',
      'client_id=client-1',
      `client_secret=${secretCanary}`,
    ]);
  });

  test('is JSON without another authentication, with lists where a parameter repeats', async () => {
    const { client, endpoint, token } = createBed();
    const resource = ['https://a.example/', 'https://b.example/'];
    await token(client({ authUrl: undefined, tokenEndpoint, scope: 'a b', resource, parameters: { x: '1' } }));
    expect(JSON.parse(endpoint.requests[0]?.body ?? '')).toEqual({
      audience: 'orders',
      grant_type: 'client_credentials',
      scope: 'a b',
      resource,
      x: '1',
      client_id: 'client-1',
      client_secret: secretCanary,
    });
  });

  test('has an assertion that is made for it, after the reservation', async () => {
    const { client, clock, endpoint, token } = createBed();
    const made: number[] = [];
    const clientAuthentication = clientAssertion(({ tokenEndpoint: url, issuer }) => {
      made.push(clock.now());
      return `for.${issuer === undefined}.${url.length}.${made.length}`;
    });
    const auth = client({ ...server, clientAuthentication, clientSecret: undefined, storeKey });
    await token(auth);
    await clock.advance(25 * hour);
    await token(auth);
    expect(endpoint.requests.map(({ body }) => new URLSearchParams(body).get('client_assertion'))).toEqual([
      `for.true.${tokenEndpoint.length}.2`,
      `for.true.${tokenEndpoint.length}.4`,
    ]);
  });

  test('is not sent if the assertion cannot be had, and nothing is counted', async () => {
    const { client, clock, endpoint, eventsOf } = createBed();
    const clientAuthentication = clientAssertion(() => Promise.reject(new TypeError(`no ${secretCanary}`)));
    const auth = client({ ...server, clientAuthentication, clientSecret: undefined, storeKey });
    const error = await failure('ERR_CLIENT_SECRET', clock.until(auth.getToken()));
    expect(error.message).toContain('The client authentication failed (TypeError)');
    expect(endpoint.requests).toEqual([]);
    expect(await auth.getUsage()).toMatchObject({ used: 0, pending: 0 });
    expect(eventsOf('client_secret_failed')).toHaveLength(1);
  });
});

describe('further headers', () => {
  const headers = { 'X-Api-Key': secretCanary, Accept: 'application/vnd.api+json', 'x-version': '2' };
  const written = { 'x-api-key': secretCanary, accept: 'application/vnd.api+json', 'x-version': '2' };

  test('are those of the token request, and the same object may be changed afterwards', async () => {
    const { client, clock, endpoint, token } = createBed();
    const given: Record<string, string> = { ...headers };
    const auth = client({ ...server, headers: given });
    given['X-Api-Key'] = 'another';
    given['authorization'] = 'another';
    await token(auth);
    await clock.advance(25 * hour);
    await token(auth);
    const expected = {
      ...written,
      'content-type': 'application/x-www-form-urlencoded',
      'accept-encoding': 'identity',
    };
    expect(endpoint.requests.map((request) => request.headers)).toEqual([expected, expected]);
  });

  test('do not replace those of the client authentication', async () => {
    const { client, endpoint, token } = createBed();
    const authentication = clientSecretPost();
    const clientAuthentication: ClientAuthentication = {
      ...authentication,
      async write(request) {
        const { headers, body } = await authentication.write(request);
        return { headers: { ...headers, 'x-api-key': 'of the authentication' }, body };
      },
    };
    await token(client({ ...server, clientAuthentication, headers }));
    expect(endpoint.requests[0]?.headers).toMatchObject({ ...written, 'x-api-key': 'of the authentication' });
  });

  test('tell neither tokens nor counts apart', async () => {
    const { client, endpoint, token } = createBed();
    const clients = [client({ ...server, headers }), client(server), client({ ...server, headers: { a: 'b' } })];
    const tokens = await Promise.all(clients.map(async (each) => (await token(each)).value));
    expect(new Set(tokens).size).toBe(1);
    expect(endpoint.requests).toHaveLength(1);
    for (const each of clients) expect(await each.getUsage()).toMatchObject({ used: 1 });
  });

  test('appear in nothing that can be read, whatever the token endpoint answers', async () => {
    const { client, clock, endpoint, store, events } = createBed();
    const auth = client({ ...server, headers });
    endpoint.next(
      ({ headers }) => answered(400, JSON.stringify({ error: headers['x-api-key'] })),
      ({ headers }) => answered(500, JSON.stringify(headers), headers),
      ({ headers }) => Promise.reject(Object.assign(new Error(headers['x-api-key']), { headers })),
    );
    for (const code of ['ERR_CREDENTIALS_REJECTED', 'ERR_TOKEN_ENDPOINT', 'ERR_TOKEN_ENDPOINT'] as const) {
      // The bed searches errors, events and records.
      await failure(code, clock.until(auth.getToken()));
      await clock.advance(6 * hour);
    }
    const { record } = await store.load(await recordKey({ tokenEndpoint, clientId: 'client-1' }));
    expect([auth, await auth.getUsage(), events, record].flatMap(canariesIn)).toEqual([]);
  });

  test.each<[unknown, string, string]>([
    ['x-api-key=1', 'headers', 'must be an object of names and values'],
    [null, 'headers', 'must be an object of names and values'],
    [new Headers({ a: '1' }), 'headers', 'must be an object of names and values'],
    [[['a', '1']], 'headers', 'must be an object of names and values'],
    [{ [`x-api-key: ${secretCanary}`]: '1' }, 'headers', 'must have names of headers (RFC 9110 section 5.1)'],
    [{ '': '1' }, 'headers', 'must have names of headers (RFC 9110 section 5.1)'],
    [{ [secretCanary]: '' }, 'headers', 'has a name without a value'],
    [{ A: '1', a: '2' }, 'headers.a', 'is there twice, in upper and lower case'],
    [{ a: 7 }, 'headers.a', 'must be a string that is not empty'],
    [
      { a: `${secretCanary}\r\nHost: evil.example` },
      'headers.a',
      'must not contain control characters or unpaired surrogates',
    ],
    [
      { a: `${secretCanary}\n` },
      'headers.a',
      'must not begin or end with white space, such as the line break of a file: trim it',
    ],
    [{ a: `${secretCanary}ü` }, 'headers.a', 'must be visible ASCII characters and spaces'],
    [{ a: 'x'.repeat(4_097) }, 'headers.a', 'must be at most 4096 characters long'],
    ...[
      'Authorization',
      'cookie',
      'Content-Type',
      'HOST',
      'content-length',
      'Transfer-Encoding',
      'proxy-authorization',
    ].map((name): [unknown, string, string] => [
      { [name]: secretCanary },
      `headers.${name}`,
      'must not be given: another option sets it, or the connection',
    ]),
  ])('%o are a problem, told without their values', async (wrong, option, message) => {
    const { problems } = await failure('ERR_CONFIG', () => createBed().client({ ...server, headers: wrong as never }));
    expect(problems).toEqual([{ option, message }]);
  });
});

describe('the scheme', () => {
  const scheme = 'Zoho-oauthtoken';

  test('is the word before the token, also in the same token of a clock that was set', async () => {
    const { client, clock, token } = createBed();
    const auth = client({ ...server, scheme });
    const first = await token(auth);
    expect(first.authorization).toBe(`${scheme} ${first.value}`);
    clock.step(-hour);
    const again = await token(auth);
    expect(again).not.toBe(first);
    expect(again.authorization).toBe(first.authorization);
  });

  test('is that of each process, and they share the token', async () => {
    const { client, endpoint, token } = createBed();
    const own = await token(client({ ...server, scheme }));
    const other = await token(client(server));
    expect([own.authorization, other.authorization]).toEqual([`${scheme} ${own.value}`, `Bearer ${own.value}`]);
    expect(endpoint.requests).toHaveLength(1);
  });

  test('makes a token of that type one that can be used', async () => {
    const { client, endpoint, token } = createBed();
    endpoint.otherwise(endpoint.issueWith({ token_type: 'ZOHO-OAUTHTOKEN' }));
    expect((await token(client({ ...server, scheme }))).authorization).toMatch(/^Zoho-oauthtoken canary/);
  });

  test('does not keep a 401 from being reported', async () => {
    const { client, token } = createBed();
    const auth = client({ ...server, scheme });
    const first = await token(auth);
    await auth.invalidate(first);
    expect((await token(auth)).authorization).not.toBe(first.authorization);
  });

  test.each(['', 'Bearer ', 'two words', 'a\r\nb', 'ü', 'x'.repeat(65), 7, null])('%j is none', async (wrong) => {
    const { problems } = await failure('ERR_CONFIG', () => createBed().client({ ...server, scheme: wrong as never }));
    expect(problems).toEqual([
      {
        option: 'scheme',
        message: 'must be one word, such as Bearer, without the space after it (RFC 9110 section 11.1)',
      },
    ]);
  });
});

describe('a request that somebody else writes', () => {
  test.each([undefined, {}, { headers: {} }, { body: 7, headers: {} }, { body: '', headers: { a: 1 } }])(
    'is not sent as %j',
    async (written) => {
      const { client, clock, endpoint } = createBed();
      const auth = client({
        ...server,
        clientAuthentication: { ...clientSecretPost(), write: () => written as never },
      });
      const { message } = await failure('ERR_CLIENT_SECRET', clock.until(auth.getToken()));
      expect(message).toContain('The client authentication failed (its result must be headers and a text as body)');
      expect(endpoint.requests).toEqual([]);
    },
  );
});

describe('a token', () => {
  /** How many tokens clients with these options have issued. */
  async function issuedTo(...all: Partial<ServiceAuthOptions>[]): Promise<number> {
    const bed = createBed();
    for (const options of all) await bed.token(bed.client({ ...server, ...options }));
    return bed.endpoint.issued;
  }

  test('is that of everybody who asks for the same, in whatever order', async () => {
    const parameters = { a: '1', b: '2' };
    expect(
      await issuedTo(
        { scope: 'write read', resource: ['x:1', 'y:2'], parameters },
        { scope: ['read', 'write', 'read'], resource: ['y:2', 'x:1'], parameters: { b: '2', a: '1' } },
      ),
    ).toBe(1);
  });

  test.each<[Partial<ServiceAuthOptions>, Partial<ServiceAuthOptions>]>([
    [{ scope: 'read' }, { scope: 'write' }],
    [{ scope: 'read' }, { scope: 'read write' }],
    [{ scope: 'read' }, {}],
    [{ audience: 'read' }, { scope: 'read' }],
    [{ audience: 'scope=read' }, { scope: 'read' }],
    [{ audience: 'a', scope: 'read' }, { audience: 'a' }],
    [{ resource: 'a:b' }, { audience: 'a:b' }],
    [{ resource: 'a:b' }, { parameters: { resource2: 'a:b' } }],
    [{ parameters: { a: '1' } }, { parameters: { a: '2' } }],
    [{ parameters: { a: '1' } }, { parameters: { b: '1' } }],
    [{}, { audience: '(none)' }],
    [{}, { tokenEndpoint: 'https://auth.example.com/tenant/token' }],
    [{}, { tokenEndpoint: 'https://auth.example.com/tenant/token?version=3' }],
    [{ issuer: 'https://i.example' }, { issuer: 'https://i.example', tokenEndpoint: 'https://auth.example.com/?a' }],
    [{}, { tokenEndpoint: 'https://auth.example.com/tenant/token', audience: '?version=2' }],
  ])('for %j is not that for %j', async (one, other) => {
    expect(await issuedTo(one, other, one, other)).toBe(2);
  });

  test('is sealed for what was asked for: under another name it does not open', async () => {
    const { client, endpoint, store, token } = createBed();
    await token(client({ ...server, scope: 'read' }));
    const text = (await store.text()) ?? '';
    expect(text).toContain('\\nscope=read\\n');
    const { encodeRecord, decodeRecord } = await import('../src/ledger/codec.ts');
    const record = decodeRecord(text) as Exclude<ReturnType<typeof decodeRecord>, string>;
    const tokens = record.tokens.map((stored) => ({ ...stored, audience: '\nscope=write\n' }));
    await store.replace(encodeRecord({ ...record, tokens }));
    await token(client({ ...server, scope: 'write' }));
    expect(endpoint.issued).toBe(2);
  });

  test('of a client that uses none of this is named by its audience alone', async () => {
    const { client, store, token } = createBed();
    await token(client());
    expect(await store.text()).toContain('"orders"');
  });

  test('is shown on one line', async () => {
    const { client, events, token } = createBed();
    const auth = client({ ...server, audience: 'api', scope: 'b a', parameters: { organization: 'acme' } });
    await token(auth);
    const name = 'api ?version=2 scope=a b organization=acme';
    expect(new Set(events.map(({ audience }) => audience))).toEqual(new Set([name]));
    const usage = await auth.getUsage();
    expect([usage.tokens[0]?.audience, usage.issuances[0]?.audience]).toEqual([name, name]);
    expect((await auth.reset()).tokenId).toBeDefined();
    expect((await auth.getUsage()).resets[0]?.audience).toBe(name);
  });

  test('that lives for 30 days is used for 30 days, and one without a life for what was said', async () => {
    const bed = createBed();
    bed.endpoint.next(bed.endpoint.issueWith({ expires_in: 2_592_000 }));
    const { issuedAt, expiresAt } = await bed.token(bed.client(server));
    expect(expiresAt - issuedAt).toBe(30 * day);
    bed.endpoint.next(bed.endpoint.issueWith({ expires_in: undefined }));
    const other = await bed.token(bed.client({ ...server, scope: 'x', lifetimeMs: 5 * minute }));
    expect(other.expiresAt - other.issuedAt).toBe(5 * minute);
    expect(bed.eventsOf('token_issued').map(({ warnings }) => warnings)).toEqual([[], []]);
  });

  test.each([
    ['Application Access Token', true],
    ['application access token', true],
    ['DPoP', false],
    ['', false],
  ])('of the type %j is a bearer token if that is recognized: %s', async (token_type, isAccepted) => {
    const bed = createBed();
    bed.endpoint.otherwise(bed.endpoint.issueWith({ token_type }));
    const recognized = bed.client({ ...server, recognizedTokenTypes: ['Application Access Token'] });
    const result = bed.clock.until(recognized.getToken());
    if (isAccepted) expect((await result).value).toBeDefined();
    else expect((await failure('ERR_TOKEN_RESPONSE', result)).reason).toBe('token_type');
    const { reason } = await failure(
      'ERR_TOKEN_RESPONSE',
      bed.clock.until(bed.client({ ...server, clientId: 'other' }).getToken()),
    );
    expect(reason).toBe('token_type');
  });

  test.each([
    ['read write', 'read write', ''],
    ['read write', 'write read', ''],
    ['read write', 'write,read,more', ''],
    ['read write', ['write', 'read'], ''],
    ['read write', undefined, ''],
    ['read write', 'read', 'write'],
    ['read write', '', 'read write'],
    ['openid,AdobeID', 'AdobeID', 'openid'],
    ['read', 'x '.repeat(5_000), 'read'],
  ])('for %j with the scope %j lacks: %s', async (scope, granted, missing) => {
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const bed = createBed();
    bed.endpoint.next(bed.endpoint.issueWith({ scope: granted }));
    await bed.token(bed.client({ ...server, scope }));
    const [issued] = bed.eventsOf('token_issued');
    expect([issued?.missingScope ?? '', issued?.warnings]).toEqual([missing, missing ? ['scope_missing'] : []]);
    const said = warned.mock.calls.map(([text]) => text);
    warned.mockRestore();
    expect(said).toEqual(missing ? [`The token for client-1 lacks the scope ${missing}.`] : []);
  });
});

describe('the count', () => {
  const used = async (...all: Partial<ServiceAuthOptions>[]) => {
    const bed = createBed();
    for (const options of all) await bed.token(bed.client({ ...server, ...options }));
    return (await bed.client({ ...server, ...all.at(-1) }).getUsage()).used;
  };

  test('is that of a client id at one token endpoint, whatever its query and what is asked for', async () => {
    const bare = 'https://auth.example.com/tenant/token';
    expect(await used({ scope: 'a' }, { scope: 'b', tokenEndpoint: bare })).toBe(2);
    expect(await used({ scope: 'a' }, { scope: 'b', tokenEndpoint: 'https://auth.example.com/other' })).toBe(1);
    expect(await used({ scope: 'a' }, { scope: 'b', clientId: 'other' })).toBe(1);
  });

  test('is that of the issuer, if there is one, whatever the address', async () => {
    const issuer = 'https://issuer.example/realm';
    const elsewhere = 'https://auth2.example.com/token';
    expect(await used({ scope: 'a', issuer }, { scope: 'b', issuer: `${issuer}/`, tokenEndpoint: elsewhere })).toBe(2);
    expect(await used({ scope: 'a', issuer }, { scope: 'b', issuer: 'https://issuer.example/other' })).toBe(1);
  });

  test('has one record with authUrl and with the whole address', async () => {
    const [one, other] = await Promise.all([
      recordKey({ authUrl: 'https://auth.example.com', clientId: 'client-1' }),
      recordKey({ tokenEndpoint: 'https://auth.example.com/oauth/token?a=b', clientId: 'client-1' }),
    ]);
    expect(other).toBe(one);
    // The key of every record that there is.
    expect(one).toBe('6ed9639a1378af61cdd15c51c54fe9097628660a');
  });

  test('is read without a secret, by token endpoint or by issuer', async () => {
    const { client, clock, store, token } = createBed();
    const issuer = 'https://issuer.example/realm';
    await token(client({ ...server, issuer }));
    await token(client(server));
    const read = async (options: object) =>
      (await createUsageReader({ store, clock, clientId: 'client-1', ...options }).getUsage()).used;
    expect(await read({ issuer })).toBe(1);
    expect(await read({ tokenEndpoint, issuer })).toBe(1);
    expect(await read({ tokenEndpoint })).toBe(1);
    expect(await read({ tokenEndpoint: 'https://elsewhere.example/token' })).toBe(0);
    await failure('ERR_CONFIG', () => createUsageReader({ store, clientId: 'client-1' }));
    await failure('ERR_CONFIG', recordKey({ clientId: 'client-1', issuer: 'x' }));
  });

  test('refuses nothing if there is no limit', async () => {
    const { client, clock, token } = createBed();
    const auth = client({ ...server, issuanceLimit: 'unlimited' });
    for (let count = 0; count < 200; count += 1) {
      await auth.reset();
      await token(auth);
      await clock.advance(minute);
    }
    expect(await auth.getUsage()).toMatchObject({ used: 200, refusedBecause: undefined });
  });
});

describe('a refusal', () => {
  const certified = (certificate: string) => {
    return { clientAuthentication: tlsClientAuth({ certificate }), clientSecret: undefined, storeKey };
  };
  let made = 0;
  /** Assertions that are made for each request. */
  const asserted = (sub: string) => ({
    clientAuthentication: clientAssertion(() => `${btoa('{}')}.${btoa(JSON.stringify({ sub, jti: made++ }))}.c`),
    clientSecret: undefined,
    storeKey,
  });
  const refused = (status: number, error: string) => answering(status, JSON.stringify({ error }));

  test.each([
    [401, 'access_denied'],
    [401, 'unauthorized_client'],
    [400, 'invalid_client'],
    [400, 'unauthorized_client'],
    [403, 'unauthorized_client'],
  ])(
    'of the client (%i %s) holds for every token of it: twenty sets of scopes are one failed login',
    async (status, error) => {
      const { client, clock, endpoint } = createBed();
      endpoint.otherwise(refused(status, error));
      for (let each = 0; each < 20; each += 1) {
        const auth = client({ ...server, scope: `scope-${each}` });
        const { about, endpointStatus, retryAt } = await failure(
          'ERR_CREDENTIALS_REJECTED',
          clock.until(auth.getToken()),
        );
        expect([about, endpointStatus, retryAt]).toEqual(['client', status, Date.parse('2026-01-01T00:05:00Z')]);
      }
      expect(endpoint.requests).toHaveLength(1);
      // Afterwards one of them asks for all, and the wait grows.
      await clock.advance(5 * minute);
      const all = Array.from({ length: 20 }, (_, each) => client({ ...server, scope: `scope-${each}` }).getToken());
      const results = await Promise.all(all.map((one) => failure('ERR_CREDENTIALS_REJECTED', clock.until(one))));
      expect(endpoint.requests).toHaveLength(2);
      expect(new Set(results.map(({ retryAt }) => retryAt)).size).toBe(1);
      expect(results[0]?.retryAt).toBeGreaterThan(clock.now() + 6 * minute);
    },
  );

  test('of the client is tried again by one request, however long that takes, and the others wait for it', async () => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(refused(401, 'invalid_client'));
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(client({ ...server, scope: 'a' }).getToken()));
    await clock.advance(5 * minute);
    const slow = gated(refused(401, 'invalid_client'));
    endpoint.next(slow.answer);
    const results = ['b', 'c', 'd'].map((scope) =>
      failure('ERR_CREDENTIALS_REJECTED', client({ ...server, scope }).getToken()),
    );
    await clock.advance(5_000);
    expect(endpoint.requests).toHaveLength(2);
    slow.release();
    // The wait grows, whichever token was asked for.
    for (const { retryAt } of await clock.until(Promise.all(results)))
      expect(retryAt).toBeGreaterThan(clock.now() + 8 * minute);
    expect(endpoint.requests).toHaveLength(2);
  });

  test('of the client is forgotten when it gets a token: the next one is the first', async () => {
    const { client, clock, endpoint, token } = createBed();
    for (const scope of ['a', 'b']) {
      endpoint.next(refused(401, 'invalid_client'));
      await failure('ERR_CREDENTIALS_REJECTED', clock.until(client({ ...server, scope }).getToken()));
      await clock.advance(10 * minute);
    }
    await token(client({ ...server, scope: 'c' }));
    endpoint.next(refused(401, 'invalid_client'));
    const { retryAt } = await failure(
      'ERR_CREDENTIALS_REJECTED',
      clock.until(client({ ...server, scope: 'd' }).getToken()),
    );
    expect(retryAt).toBe(clock.now() + 5 * minute);
  });

  test('of the client ends for all its tokens when one of them is issued', async () => {
    const { client, clock, endpoint, token } = createBed();
    const [one, other] = [client({ ...server, scope: 'a' }), client({ ...server, scope: 'b' })];
    endpoint.next(refused(401, 'invalid_client'));
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(one.getToken()));
    await clock.advance(5 * minute);
    await token(other);
    await token(one);
    expect(endpoint.issued).toBe(2);
  });

  test.each<[string, () => Partial<ServiceAuthOptions>, () => Partial<ServiceAuthOptions>]>([
    [
      'kind of authentication',
      () => ({ clientAuthentication: clientSecretPost() }),
      () => ({ clientAuthentication: clientSecretBasic() }),
    ],
    [
      'way of writing Basic',
      () => ({ clientAuthentication: clientSecretBasic({ encoding: 'none' }) }),
      () => ({ clientAuthentication: clientSecretBasic() }),
    ],
    ['kind than JSON', () => ({ clientAuthentication: undefined, audience: 'a' }), () => ({ audience: 'a' })],
    ['subject of an assertion', () => asserted('a'), () => asserted('b')],
    [
      'certificate',
      () => certified('-----BEGIN CERTIFICATE-----\nA\n-----END CERTIFICATE-----'),
      () => certified('-----BEGIN CERTIFICATE-----\nB\n-----END CERTIFICATE-----'),
    ],
  ])('of the client does not hold for another %s', async (_, one, other) => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.next(refused(401, 'invalid_client'));
    for (let each = 0; each < 2; each += 1)
      await failure('ERR_CREDENTIALS_REJECTED', clock.until(client({ ...server, ...one() }).getToken()));
    await token(client({ ...server, ...other() }));
    expect(endpoint.requests).toHaveLength(2);
  });

  test('is shown for the secret with its kind of authentication', async () => {
    const { client, clock, endpoint, store } = createBed();
    endpoint.next(refused(401, 'invalid_client'));
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(client(server).getToken()));
    const owner = { clientId: 'client-1', clientSecret: secretCanary, tokenEndpoint };
    const seen = async (clientAuthentication?: ClientAuthentication) =>
      (await secretInRecord((await store.text()) ?? '', { ...owner, clientAuthentication }, clock.now())).rejection
        ?.status;
    expect([await seen(clientSecretPost()), await seen(clientSecretBasic()), await seen()]).toEqual([
      401,
      undefined,
      undefined,
    ]);
  });

  test('of the client does not hold for another secret', async () => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.next(refused(401, 'invalid_client'));
    await failure('ERR_CREDENTIALS_REJECTED', clock.until(client({ ...server, scope: 'a' }).getToken()));
    await token(client({ ...server, scope: 'b', clientSecret: 'another secret' }));
  });

  test.each([
    [400, 'invalid_scope'],
    [400, 'invalid_target'],
    [403, 'access_denied'],
    [200, 'Access Denied'],
  ])('of one token (%i %s) lets the others go on', async (status, error) => {
    const { client, clock, endpoint, token } = createBed();
    endpoint.next(refused(status, error));
    const denied = client({ ...server, scope: 'a' });
    expect(await failure('ERR_CREDENTIALS_REJECTED', clock.until(denied.getToken()))).toMatchObject({
      about: 'request',
      endpointStatus: status,
    });
    await token(client({ ...server, scope: 'b' }));
    expect(await failure('ERR_CREDENTIALS_REJECTED', clock.until(denied.getToken()))).toMatchObject({
      about: 'request',
    });
    expect(endpoint.requests).toHaveLength(2);
  });

  test.each([
    [404, '{"error":"invalid_client"}'],
    [405, '{}'],
    [415, ''],
    [400, '<html>'],
    [403, 'Forbidden'],
  ])('with %i and %s is about the address or something in front of it', async (status, body) => {
    const { client, clock, endpoint } = createBed();
    endpoint.next(answering(status, body));
    const error = await failure('ERR_TOKEN_ENDPOINT', clock.until(client(server).getToken()));
    expect(error).toMatchObject({ endpointStatus: status, ambiguous: false });
  });
});

describe('a client without a secret', () => {
  const ec = { name: 'ECDSA', namedCurve: 'P-256' };
  const keyPair = () => crypto.subtle.generateKey(ec, true, ['sign', 'verify']);
  const withoutSecret = { ...server, clientSecret: undefined, issuer: 'https://auth.example.com' };

  /** A store that outlives the process, and real clocks: WebCrypto does not wait for one that a test holds. */
  const lasting = () => ({ clock: undefined, store: { ...memoryStore(), durability: 'durable' as const }, storeKey });

  test('shares its tokens by the store key, also under another private key', async () => {
    const { client, endpoint } = createBed();
    const common = { ...withoutSecret, ...lasting() };
    for (let each = 0; each < 2; each += 1) {
      const key = await crypto.subtle.exportKey('jwk', (await keyPair()).privateKey);
      await client({ ...common, clientAuthentication: privateKeyJwt({ key }) }).getToken();
    }
    expect(endpoint.issued).toBe(1);
  });

  test('tries another private key at once after a refusal', async () => {
    const { client, endpoint } = createBed();
    const common = { ...withoutSecret, ...lasting() };
    const clientWithKey = async () => {
      const key = await crypto.subtle.exportKey('jwk', (await keyPair()).privateKey);
      return client({ ...common, clientAuthentication: privateKeyJwt({ key }) });
    };
    endpoint.next(answering(401, '{"error":"invalid_client"}'));
    const refused = await clientWithKey();
    await failure('ERR_CREDENTIALS_REJECTED', refused.getToken());
    await failure('ERR_CREDENTIALS_REJECTED', refused.getToken());
    await (await clientWithKey()).getToken();
    expect(endpoint.requests).toHaveLength(2);
  });

  test('needs no store key in the memory of its process, where all clients open its tokens', async () => {
    const { client, clock, endpoint, token } = createBed('process');
    const store = memoryStore({ clock });
    for (let each = 0; each < 2; each += 1)
      await token(client({ ...withoutSecret, store, clientAuthentication: tlsClientAuth() }));
    expect(endpoint.issued).toBe(1);
  });
});

describe('wrong options', () => {
  const right = { tokenEndpoint, clientId: 'a', clientSecret: 'b', clientAuthentication: clientSecretBasic() };
  const problemsOf = async (options: object) =>
    (await failure('ERR_CONFIG', () => createServiceAuth({ ...right, ...options } as never))).problems.map(
      ({ option, message }) => `${option} ${message}`,
    );

  test('are none', () => {
    expect(() => createServiceAuth(right)).not.toThrow();
    expect(() => createServiceAuth({ ...right, tokenEndpoint: undefined, authUrl: 'https://a.example' })).not.toThrow();
  });

  test.each<[object, string]>([
    [{ authUrl: 'https://auth.example.com' }, 'tokenEndpoint must not be given with authUrl (SERVICE_AUTH_URL)'],
    [{ tokenEndpoint: `${tokenEndpoint}#x` }, 'tokenEndpoint must not contain a fragment'],
    [{ tokenEndpoint: 'https://a:canary@auth.example.com/' }, 'tokenEndpoint must not contain credentials'],
    [
      { tokenEndpoint: 'http://auth.example.com/token' },
      'tokenEndpoint must begin with https:// (http: only on loopback, or with allowInsecureHttp: true)',
    ],
    ...[
      'client_secret',
      'client_id',
      'client_assertion',
      'password',
      'grant_type',
      'scope',
      'my_secret',
      'api-key',
      'sig',
      'Access_Token',
    ].map((name): [object, string] => [
      { tokenEndpoint: `https://auth.example.com/token?${name}=canary` },
      'tokenEndpoint must not contain parameters of the token request, or a secret, in its query',
    ]),
    [{ issuer: 'canary' }, 'issuer must be an absolute URL such as https://example.com'],
    [{ issuer: new URL('https://a.example') }, 'issuer must be a string'],
    [{ issuer: 'https://a.example/?canary' }, 'issuer must not contain a query or a fragment'],
    ...['', ' ', 'a  b', ' a', 'a ', 'a"b', 'a\\b', 'ä', 'a\nb', 7, [], [''], ['a', ''], [7], 'x'.repeat(4_097)].map(
      (scope): [object, string] => [
        { scope },
        'scope must be names with one space between them (RFC 6749 appendix A.4), at most 4,096 characters',
      ],
    ),
    ...['', 'canary', '/a', 'a:b#c', 'a:b c', [], ['a:b', 'c'], 7].map((resource): [object, string] => [
      { resource },
      'resource must be absolute URIs without fragments',
    ]),
    ...[
      'grant_type',
      'client_id',
      'client_secret',
      'client_assertion',
      'client_assertion_type',
      'scope',
      'resource',
      'audience',
      'refresh_token',
      'username',
      'password',
      'code',
      'assertion',
      'api_secret',
      'a b',
      'ü',
      '',
      'a=b',
      '{"key":"canary"}',
    ].map((name): [object, string] => [
      { parameters: { [name]: 'canary' } },
      `parameters${/^\w+$/.test(name) ? `.${name}` : ''} must not be given: it is set by another option, is no name (RFC 6749 section 8.2), or would be a secret in the record`,
    ]),
    [{ parameters: { a: '' } }, 'parameters.a must be a string that is not empty'],
    [{ parameters: { a: 'x\ny' } }, 'parameters.a must not contain control characters or unpaired surrogates'],
    [{ parameters: 'canary' }, 'parameters must be an object of names and values'],
    [{ parameters: 7 }, 'parameters must be an object of names and values'],
    [{ parameters: { a: {} } }, 'parameters.a must be a string that is not empty'],
    [{ parameters: { a: 7 } }, 'parameters.a must be a string that is not empty'],
    [{ recognizedTokenTypes: 'canary' }, 'recognizedTokenTypes must be a list of texts'],
    [{ recognizedTokenTypes: [''] }, 'recognizedTokenTypes must be a list of texts'],
    [{ recognizedTokenTypes: [Symbol('canary')] }, 'recognizedTokenTypes must be a list of texts'],
    [{ lifetimeMs: Number.NaN }, 'lifetimeMs must be an integer from 60000 to 2678400000'],
    [{ lifetimeMs: 59_999 }, 'lifetimeMs must be an integer from 60000 to 2678400000'],
    [
      { clientAuthentication: 'client_secret_basic' },
      'clientAuthentication must be a ClientAuthentication, such as clientSecretBasic(), with all that its type has',
    ],
    ...[{ write: undefined }, { problems: [] }, { usesSecret: undefined }, { credentialId: 'canary' }].map(
      (part): [object, string] => [
        { clientAuthentication: { ...clientSecretBasic(), ...part } },
        'clientAuthentication must be a ClientAuthentication, such as clientSecretBasic(), with all that its type has',
      ],
    ),
    [
      { clientAuthentication: tlsClientAuth({ certificate: 'canary' }), clientSecret: undefined },
      'clientAuthentication.certificate must be a certificate as PEM',
    ],
    [{ clientAuthentication: tlsClientAuth() }, 'clientSecret must not be given: this clientAuthentication sends none'],
    [{ clientSecret: undefined }, 'clientSecret must be a string that is not empty'],
    [
      { clientAuthentication: tlsClientAuth(), clientSecret: undefined, store: createBed().store },
      'storeKey must be given: it encrypts the tokens in the store, because there is no clientSecret',
    ],
    [{ audience: '' }, 'audience must be a string that is not empty'],
    [{ issuanceLimit: 'none' }, 'issuanceLimit must be an object such as { tokens: 150 }, or unlimited'],
  ])('%j: one problem, and no value', async (options, problem) => {
    expect(await problemsOf(options)).toEqual([problem]);
    expect(problem).not.toContain('canary');
  });

  test('are the same with JSON: a request is checked however it is written', async () => {
    const loop: Record<string, unknown> = {};
    loop['loop'] = loop;
    const options = {
      clientAuthentication: undefined,
      audience: 'api',
      tokenEndpoint: 'https://auth.example.com/token?client_secret=canary',
      scope: [],
      resource: 7n,
      parameters: { 'a=b': 'c', username: 'd', e: loop, f: 7n },
      recognizedTokenTypes: [Symbol('canary')],
      lifetimeMs: Number.NaN,
    };
    expect((await problemsOf(options)).map((problem) => problem.split(' ', 1)[0])).toEqual([
      'scope',
      'resource',
      'parameters',
      'parameters.username',
      'parameters.e',
      'parameters.f',
      'tokenEndpoint',
      'recognizedTokenTypes',
      'lifetimeMs',
    ]);
  });

  test('are told all at once', async () => {
    const options = {
      authUrl: 'https://a.example',
      issuer: 7,
      scope: '',
      resource: 'a',
      parameters: { client_id: 'x', b: '' },
      recognizedTokenTypes: 1,
      lifetimeMs: 1,
      clientAuthentication: privateKeyJwt({ key: 'x', header: 7 as never }),
    };
    expect((await problemsOf(options)).map((problem) => problem.split(' ', 1)[0]).sort()).toEqual(
      [
        'tokenEndpoint',
        'issuer',
        'scope',
        'resource',
        'parameters.client_id',
        'parameters.b',
        'recognizedTokenTypes',
        'lifetimeMs',
        'clientAuthentication.key',
        'clientAuthentication.header',
        'clientSecret',
      ].sort(),
    );
  });

  test('are those of a request that is too long to name', async () => {
    const parameters = Object.fromEntries(['a', 'b', 'c', 'd', 'e'].map((name) => [name, 'x'.repeat(4_096)]));
    expect(await problemsOf({ parameters })).toEqual([
      'parameters must be at most 12,000 characters with the resources',
    ]);
  });
});

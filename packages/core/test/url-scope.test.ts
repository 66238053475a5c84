import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ambiguityOf, endpointName, tokenEndpointOf } from '../src/endpoint/url-scope.ts';
import { createServiceAuth } from '../src/index.ts';
import { parseAddress } from '../src/platform/address.ts';
import { createBed, failure } from './support/bed.ts';

const covering = (baseUrl: string | URL | undefined) =>
  createServiceAuth({ authUrl: 'https://auth.example.com', baseUrl, audience: 'a', clientId: 'c', clientSecret: 's' })
    .covers;

/** `covers()` of a client with this base URL and this token endpoint. */
const coveringBeside = (baseUrl: string, tokenEndpoint: string) =>
  createServiceAuth({ tokenEndpoint, baseUrl, clientId: 'c', clientSecret: 's', audience: 'a' }).covers;

describe('covers', () => {
  test('nothing without a base URL', () => {
    const covers = covering(undefined);
    expect([covers('https://api.example.com/'), covers('https://auth.example.com/')]).toEqual([false, false]);
  });

  test.each([
    'https://api.example.com',
    'https://api.example.com/',
    'https://api.example.com/api/v1/orders?x=https://evil.example#y',
    'https://API.EXAMPLE.com/x',
    'HTTPS://api.example.com:443/x',
    'https:api.example.com/x',
    'https:///api.example.com/x',
    'HTTPS://api.example.com/..%2fx',
    'https://api.example.com/%2e%2e/%2F..%5c',
    'https://api.example.com/\\evil.example',
    new URL('https://api.example.com/x'),
  ])('%s, because it leads to the origin of the base URL', (url) =>
    expect(covering('https://api.example.com/')(url)).toBe(true),
  );

  test.each([
    'http://api.example.com/',
    'https://api.example.com:444/',
    'https://api.example.com:0/',
    'blob:https://api.example.com/v1',
    'https://api.example.com.evil.example/',
    'https://evil.example/https://api.example.com/',
    'https://evil.example/?https://api.example.com/',
    'https://api.example.com@evil.example/',
    'https://user@api.example.com/',
    'https://:password@api.example.com/',
    'https://api.example.com\\@evil.example/',
    'https://api.example.com\t.evil.example/',
    'https://evil.example\\.api.example.com/',
    '//api.example.com/',
    '/api/v1/orders',
    'api.example.com',
    'wss://api.example.com/',
    'file://api.example.com/',
    'https://xn--api-.example.com/',
    'https://аpi.example.com/',
    ' https://api.example.com/',
    'https://sub.api.example.com/',
    '',
    'nonsense',
    undefined,
    null,
    {},
  ])('not %s', (url) => expect(covering('https://api.example.com')(url as string)).toBe(false));

  test.each(['https://api.example.com/v1', 'https://api.example.com/v1/', 'https://api.example.com/v1//'])(
    'only what is under the path of %s',
    (baseUrl) => {
      const covers = covering(baseUrl);
      for (const path of [
        '/v1',
        '/v1/',
        '/v1/x',
        '/v1?x',
        '/v1/a/../b',
        '/v1/%2e/x',
        '/v1/a..b/c',
        '/v1/a.%2fb',
        '/v1/a%5c.b',
        '/x/../v1/y',
        '/v1/a..%2fb',
        '/v1/100%25',
        '/v1/%e2%82%ac/%C3%A9',
        '/v1/a?b=..%2f..%00',
      ]) {
        expect([path, covers(`https://api.example.com${path}`)]).toEqual([path, true]);
      }
      const outside = ['/', '/v', '/v2', '/v1x', '/V1/x', '/v1/../x', '/v1/%2e%2e/x', '/v1/.%2E/x', '/x/v1/'];
      const disguised = [
        '/v1/..%2fx',
        '/v1/%2e%2e%2Fx',
        '/v1/.%2e%5cx',
        '/v1/a%2f../x',
        '/v1/a%5c%2e%2e/x',
        '/v1/x\\..\\..\\y',
        '/v1/..;/x',
        '/v1/%2e%2e;a=b/x',
        '/v1/..%3b/x',
        '/v1/%252e%252e/x',
        '/v1/.%252e/x',
        '/v1/..%252fx',
        '/v1/%25252e%25252e%25252fx',
        '/v1/..%25%32%66x',
        '/v1/%25%32%65%25%32%65/x',
        '/v1/%2%65%2%65/x',
        '/v1/%252%65.%2fx',
        '/v1/..%00/x',
        '/v1/..%0d/x',
        '/v1/x%2500',
        '/v1/%7f',
        '/v1/..%c0%af',
        '/v1/%c0%ae%c0%ae/x',
        '/v1/%e0%80%ae%e0%80%ae/x',
        '/v1/..%3fx',
        '/v1/..%20/x',
        '/v1/%u002e%u002e%u002fx',
        '/v1/..%u2215x',
        `/v1/%${'25'.repeat(1_000)}`,
      ];
      for (const path of [...outside, ...disguised]) {
        expect([path, covers(`https://api.example.com${path}`)]).toEqual([path, false]);
      }
    },
  );

  test('takes a port and http on loopback for what they are', () => {
    const covers = covering('http://127.0.0.1:3000/');
    expect(covers('http://127.0.0.1:3000/x')).toBe(true);
    expect(
      ['http://127.0.0.1/x', 'http://localhost:3000/x', 'https://127.0.0.1:3000/'].some((url) => covers(url)),
    ).toBe(false);
  });
});

describe('the token endpoint of the client itself', () => {
  test.each([
    ['https://api.example.com', 'https://api.example.com/oauth/token', 'https://api.example.com/oauth/token'],
    [
      'https://api.example.com',
      'https://api.example.com/oauth/token',
      'HTTPS://API.example.com:443/x/../oauth/token?a',
    ],
    ['https://api.example.com', 'https://api.example.com/oauth/token', new URL('https://api.example.com/oauth/token')],
    ['https://api.example.com', 'https://api.example.com/t/', 'https://api.example.com/t/'],
    ['https://api.example.com', 'https://api.example.com/?login', 'https://api.example.com/?login'],
    ['https://api.example.com/v1', 'https://api.example.com/v1/token', 'https://api.example.com/v1/token'],
    ['https://api.example.com/v1/token', 'https://api.example.com/v1/token', 'https://api.example.com/v1/token'],
    ['https://h.example', 'https://h.example/?route=token&v=2', 'https://h.example/?v=2&route=token'],
    ['https://mtls.example', 'https://mtls.example/token', 'https://mtls.example/token'],
  ])('under %s, %s is not covered as %s', (baseUrl, tokenEndpoint, url) => {
    expect(coveringBeside(baseUrl, tokenEndpoint)(url)).toBe(false);
  });

  test('is not covered where it is given by `authUrl`', () => {
    const { covers } = createBed().client({ authUrl: 'https://api.example.com/login/' });
    expect(covers('https://api.example.com/login/oauth/token')).toBe(false);
    expect(covers('https://api.example.com/login/oauth/tokens')).toBe(true);
  });

  test.each([
    [
      'https://api.example.com',
      'https://api.example.com/oauth/token',
      'https://api.example.com/oauth/token/introspect',
    ],
    ['https://api.example.com', 'https://api.example.com/oauth/token', 'https://api.example.com/v1?to=/oauth/token'],
    ['https://api.example.com', 'https://auth.example.com/oauth/token', 'https://api.example.com/oauth/token'],
    ['https://api.example.com', 'https://api.example.com:8443/token', 'https://api.example.com/token'],
    ['https://h.example', 'https://h.example/?route=token', 'https://h.example/?route=orders'],
    ['https://h.example', 'https://h.example/token?tenant=a', 'https://h.example/token?tenant=b'],
  ])('under %s, %s leaves %s covered', (baseUrl, tokenEndpoint, url) => {
    expect(coveringBeside(baseUrl, tokenEndpoint)(url)).toBe(true);
  });
});

describe('the address of the token endpoint', () => {
  test.each([
    ['https://auth.example.com', 'https://auth.example.com/oauth/token'],
    ['HTTPS://Auth.Example.com:443//', 'https://auth.example.com/oauth/token'],
    ['https://auth.example.com/tenant/', 'https://auth.example.com/tenant/oauth/token'],
    ['http://localhost:3000', 'http://localhost:3000/oauth/token'],
  ])('of %s is %s', (authUrl, expected) => expect(tokenEndpointOf(new URL(authUrl))).toBe(expected));
});

/** The name of the token endpoint under an address. */
const nameOf = (authUrl: string) => endpointName(new URL(tokenEndpointOf(new URL(authUrl))));

describe('one token endpoint', () => {
  const name = 'https://auth.example.com/tenant/oauth/token';

  test.each([
    'https://auth.example.com/tenant',
    'https://auth.example.com/tenant//',
    'HTTPS://AUTH.Example.com:443/tenant/',
    'https://auth.example.com./tenant',
    'https://auth.example.com.:443/tenant',
    'https://auth.example.com/%74enant',
    'https://auth.example.com/%74%65%6e%61%6E%74',
    'https://auth.example.com//tenant',
    'https://auth.example.com/./tenant/',
    'https://auth.example.com/a/../tenant',
    'https://auth.example.com/a/%2E%2e/tenant/%2e',
    'https://auth.example.com/Tenant',
    'http://auth.example.com/tenant',
    'http://auth.example.com:80/tenant',
    'http://auth.example.com:443/tenant',
    'https://auth.example.com:80/tenant',
    'https://ａｕｔｈ.example。com/tenant',
  ])('has one name, also as %s', (authUrl) => {
    expect(ambiguityOf(new URL(authUrl))).toBeUndefined();
    expect(nameOf(authUrl)).toBe(name);
  });

  test.each([
    [
      [
        'https://127.0.0.1',
        'http://127.1',
        'https://0x7f.0.0.1.',
        'https://[::ffff:127.0.0.1]',
        'https://[::FFFF:7f00:1]',
      ],
    ],
    [['https://[2001:db8::1]', 'https://[2001:0DB8:0:0:0:0:0:1]:443', 'http://[2001:db8::1]']],
    [
      [
        'https://bücher.example',
        'https://BÜCHER.example',
        'https://xn--bcher-kva.example',
        'https://bu\u0308cher.example',
      ],
    ],
    [['https://a.example/\u00e9', 'https://a.example/e\u0301', 'https://a.example/%C3%A9', 'https://a.example/%c3%89']],
    [['https://a.example/a+b=!', 'https://a.example/a%2Bb%3d%21']],
    [['https://a.example/^|', 'https://a.example/%5E%7c']],
    [['https://a.example:8443', 'http://a.example:8443/', 'https://A.example.:8443']],
  ])('has one name: %j', (spellings) => {
    expect(new Set(spellings.map((authUrl) => nameOf(authUrl))).size).toBe(1);
  });

  test('has another name than another host, port or path', () => {
    const addresses = [
      'https://auth.example.com',
      'https://auth.example.org',
      'https://example.com',
      'https://auth.example.com:8443',
      'https://auth.example.com:8080',
      'https://auth.example.com/tenant',
      'https://auth.example.com/tenant/a',
      'https://auth.example.com/tenanta',
      'https://127.0.0.1',
      'https://[::1]',
    ];
    expect(new Set(addresses.map((authUrl) => nameOf(authUrl))).size).toBe(addresses.length);
  });

  test.each([
    ['https://auth..example.com', 'must not contain an empty label in its host name'],
    ['https://auth.example.com..', 'must not contain an empty label in its host name'],
    ['https://auth.example.com/a%2Ftenant', /encoded slash/],
    ['https://auth.example.com/..%5ctenant', /encoded slash/],
    ['https://auth.example.com/%2574enant', /encoded slash/],
    ['https://auth.example.com/tenant%00', /encoded slash/],
    ['https://auth.example.com/tenant%7F', /encoded slash/],
    ['https://auth.example.com/tenant%', /must not contain %/],
    ['https://auth.example.com/%zztenant', /must not contain %/],
    ['https://auth.example.com/%ff', /percent sign/],
  ])('cannot have the address %s', async (authUrl, problem) => {
    const create = async () =>
      createServiceAuth({ authUrl, audience: 'a', clientId: 'c', clientSecret: 's', allowInsecureHttp: true });
    const error = await failure('ERR_CONFIG', create());
    expect(error.problems).toEqual([
      { option: 'authUrl', message: typeof problem === 'string' ? problem : expect.stringMatching(problem) },
    ]);
  });

  test('has one name in any spelling, and two endpoints have two', () => {
    const letters = [...'abcxyz019-_.~!$&()+,=:@é日😀'];
    const segment = fc
      .array(fc.constantFrom(...letters), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join(''))
      // The second one looks like a variable that nothing replaced.
      .filter((text) => !/^\.+$/.test(text) && !/\$[_(]/.test(text));
    const endpoint = fc.record({
      labels: fc.array(fc.constantFrom('a', 'b1', 'bücher', 'x-y'), { minLength: 1, maxLength: 3 }),
      port: fc.constantFrom('', ':8443', ':81'),
      path: fc.array(segment, { maxLength: 3 }),
    });
    type Endpoint = Parameters<Parameters<typeof endpoint.map>[0]>[0];
    // Each choice of a spelling is one of these numbers, used up in turn.
    const choices = fc.array(fc.nat(1_000), { minLength: 40, maxLength: 40 });
    function spelling({ labels, port, path }: Endpoint, numbers: number[]): string {
      let next = 0;
      const one = <Option>(...options: Option[]): Option =>
        options[(numbers[next++ % numbers.length] ?? 0) % options.length] as Option;
      const host = [...labels, 'example'].map((label) => one(label, label.toUpperCase())).join(one('.', '.', '。'));
      const encoded = (character: string) =>
        [...new TextEncoder().encode(character)]
          .map((byte) => `%${one(byte.toString(16), byte.toString(16).toUpperCase())}`)
          .join('');
      const segments = path.map((text) =>
        [...text].map((character) => one(character, character, encoded(character))).join(''),
      );
      const slash = () => one('/', '/', '//', '/./', '/%2e/', '/x/../', '/y/%2E./');
      const defaultPort = one('', ':443', ':80');
      return `${one('https', 'http', 'HTTPS')}://${host}${one('', '.')}${port || defaultPort}${slash()}${segments.join(slash())}${one('', '/', '//', '/.')}`;
    }
    const nameOf = (text: string) => {
      const url = parseAddress(text, true);
      if (typeof url === 'string') throw new Error(`${text}: ${url}`);
      return ambiguityOf(url) ?? endpointName(url);
    };
    const property = fc.property(endpoint, endpoint, choices, choices, (one, other, first, second) => {
      expect(nameOf(spelling(one, first))).toBe(nameOf(spelling(one, second)));
      const isSame = JSON.stringify(one) === JSON.stringify(other);
      expect(nameOf(spelling(one, first)) === nameOf(spelling(other, second))).toBe(isSame);
    });
    fc.assert(property, { seed: 18, numRuns: 2_000 });
  });

  test('has one record, one token and one count, however each process spells its address', async () => {
    const { client, endpoint, token } = createBed();
    const spellings = [
      'https://auth.example.com/t',
      'http://AUTH.example.com./%74/',
      'https://auth.example.com:443//T',
    ];
    const clients = spellings.map((authUrl) => client({ authUrl, allowInsecureHttp: true }));
    const tokens = [];
    for (const each of clients) tokens.push((await token(each)).value);
    expect(new Set(tokens).size).toBe(1);
    expect(endpoint.requests).toHaveLength(1);
    for (const each of clients) expect(await each.getUsage()).toMatchObject({ used: 1 });
  });
});

describe('an address', () => {
  const outside = 'http://auth.example.com';

  test.each([
    ['https://auth.example.com', false],
    [new URL('https://auth.example.com/tenant'), false],
    [`https://auth.example.com/${'x'.repeat(2_023)}`, false],
    [outside, true],
    ['http://localhost:3000', false],
    ['http://127.0.0.1', false],
    ['http://127.255.255.254', false],
    ['http://[::1]:8080', false],
  ])('%s is one, with http allowed: %s', (value, insecure) => {
    expect(String(parseAddress(value, insecure))).toBe(new URL(value).href);
  });

  test.each([
    'https://auth_server.example.com',
    'https://AUTH.example.com:8443/a-b_c~d/v1.0/%20/x,y;z=1',
    'https://b\u00fccher.example/stra\u00dfe',
    'https://[2001:db8::1]:8443/v1',
    'http://[::1]',
    'https://undefined-names.example.com/nullable',
    'https://api.example.com/projects/7:cancel/@me/$metadata',
  ])('%s is one', (value) => {
    expect(String(parseAddress(value, false))).toBe(new URL(value).href);
  });

  test.each([
    'https://h.example/token?$format=json&scope=*',
    'https://h.example/token?claims=%7B%22a%22%3A1%7D',
    'https://h.example/token?to=undefined',
  ])('%s is one with a query', (value) => {
    expect(String(parseAddress(value, false, true))).toBe(new URL(value).href);
  });

  const marking = (mark: string) =>
    `must not contain ${mark}, which marks a placeholder or a pattern: write the value itself`;
  const wildcard =
    'must not contain *, because an address has no wildcards: write one host, and end the path before the *, for what is below a path belongs to it';
  const missing = (word: string) =>
    `must not contain ${word}, which a template writes for a missing value: set that value`;
  test.each([
    ['https://*.example.com', wildcard],
    ['https://api.example.com/*', wildcard],
    ['https://api.example.com/v1/**/orders', wildcard],
    ['https://%2A.example.com', 'must not contain * in its host name: write one host'],
    ['https://api.example.com/v1/{id}', marking('{')],
    ['https://api.example.com/v1/%7Bid%7d', marking('{')],
    [new URL('https://api.example.com/v1/{id}'), marking('{')],
    ['https://{region}.example.com', marking('{')],
    ['https://{{ host }}', 'must not contain white space, control characters or backslashes'],
    ['https://$API_HOST', marking('$')],
    ['https://api.example.com/$TENANT/v1', marking('$')],
    ['https://$(API_HOST)/', marking('$')],
    ['https://<your-host>/v1', marking('<')],
    [new URL('https://api.example.com/<tenant>'), marking('<')],
    ['https://%API_HOST%/v1', marking('%')],
    ['https://api.example.com/%TENANT%', marking('%')],
    ['https://api.example.com/[tenant]/v1', marking('[')],
    ['https://api.example.com/(v1|v2)', marking('|')],
    ['^https://api.example.com/', marking('^')],
    ['https://a.example.com,https://b.example.com', 'must not contain , in its host name: write one host'],
    ['https://$api_host/', 'must not contain $ in its host name: write one host'],
    ['https://(eu).example.com', 'must not contain ( in its host name: write one host'],
    ['https://undefined', missing('undefined')],
    ['https://undefined.example.com:8443/v1', missing('undefined')],
    ['https://NULL/v1', missing('null')],
    ['https://api.example.com/undefined/v1', missing('undefined')],
    ['https://user:pa$$word*@api.example.com/', 'must not contain credentials'],
  ])('%s is a pattern, or unfinished', (value, problem) => expect(parseAddress(value, false)).toBe(problem));

  test.each([
    'https://h.example/token?tenant={tenant}',
    'https://h.example/token?tenant=<tenant>',
    'https://h.example/token?tenant=$TENANT',
  ])('%s has an unfinished query', (value) =>
    expect(parseAddress(value, false, true)).toMatch(/^must not contain [{<$], which marks/),
  );

  test.each(['authUrl', 'baseUrl', 'tokenEndpoint', 'issuer'])(
    'that is a pattern is a problem of %s',
    async (option) => {
      const authUrl = option === 'tokenEndpoint' ? undefined : 'https://auth.example.com';
      const { problems } = await failure('ERR_CONFIG', () =>
        createBed().client({ authUrl, [option]: 'https://{eu}.example.com' }),
      );
      expect(problems).toEqual([{ option, message: marking('{') }]);
    },
  );

  const secure = 'must begin with https:// (http: only on loopback, or with allowInsecureHttp: true)';
  test.each([
    [undefined, 'must be a URL or a string'],
    [{ toString: (): string => 'https://auth.example.com' }, 'must be a URL or a string'],
    [`https://auth.example.com/${'x'.repeat(2_024)}`, 'must be at most 2,048 characters long'],
    ['https://auth.example.com\\x', 'must not contain white space, control characters or backslashes'],
    ['https://auth.example.com/\u0001', 'must not contain white space, control characters or backslashes'],
    ['auth.example.com', 'must be an absolute URL such as https://example.com'],
    ['ftp://auth.example.com', 'must begin with https://'],
    ['https://user@auth.example.com', 'must not contain credentials'],
    ['https://:password@auth.example.com', 'must not contain credentials'],
    ['https://auth.example.com/?', 'must not contain a query or a fragment'],
    ['https://auth.example.com/#', 'must not contain a query or a fragment'],
    [outside, secure],
    ['http://localhost.example.com', secure],
    ['http://notlocalhost', secure],
    ['http://127.0.0.1.example.com', secure],
    ['http://128.0.0.1', secure],
  ])('%s %s', (value, problem) => expect(parseAddress(value, false)).toBe(problem));
});

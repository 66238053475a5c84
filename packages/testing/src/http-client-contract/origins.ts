import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import {
  type DefineCase,
  expectIssued,
  expectNoRejection,
  expectStatus,
  type Fixture,
  foreignIsUnauthenticated,
} from './fixture.ts';

/**
 * Addresses that are not the API, whatever they look like; `api` and `foreign` are host and port.
 */
const spellings: readonly [name: string, spell: (api: string, foreign: string) => string][] = [
  ['another port', (_, foreign) => `http://${foreign}/`],
  ["the API's path on a foreign host", (_, foreign) => `http://${foreign}/api/v1/`],
  ["another name of the API's host", (api) => `http://${api.replace('127.0.0.1', 'localhost')}/api/v1/`],
  ['another scheme', (api) => `https://${api}/api/v1/`],
  ['a protocol-relative address', (_, foreign) => `//${foreign}/api/v1/`],
  ['the API as user name and password', (api, foreign) => `http://${api}@${foreign}/api/v1/`],
  ['upper case', (_, foreign) => `HTTP://${foreign.replace('127.0.0.1', 'LOCALHOST')}/api/v1/`],
  ['backslashes', (_, foreign) => `http:\\\\${foreign}\\api\\v1\\`],
  ['a backslash before an @, foreign host last', (api, foreign) => `http://${api}\\@${foreign}/api/v1/`],
  ['a backslash before an @, foreign host first', (api, foreign) => `http://${foreign}\\@${api}/api/v1/`],
  ['a tab in the scheme', (_, foreign) => `ht\ttp://${foreign}/api/v1/`],
  ['an address in decimal', (_, foreign) => `http://${foreign.replace('127.0.0.1', '2130706433')}/api/v1/`],
];

/**
 * Paths under baseUrl for `URL`, and not for a server that decodes them once more, merges slashes,
 * or ends them at a control character.
 */
const disguises: readonly string[] = [
  '/a//../../../others',
  '/..%2fothers',
  '/..%25%32%66others',
  '/%25%32%65%25%32%65/others',
  '/..%00/others',
  '/..%c0%afothers',
];

const hostOf = (url: string): string => new URL(url).host;

async function sendToStranger(fixture: Fixture, url: string): Promise<void> {
  await fixture.warmUp();
  // Refusing to send is as good as sending without a token: only what arrived counts.
  await fixture.send({ url }).catch(() => {});
  const bearers = fixture.apiRequests().map(({ bearer }) => bearer);
  assert.ok(!bearers.includes('valid'), 'the token was attached');
  assert.deepEqual(fixture.service.findSecrets(fixture.foreign.received), [], 'a secret reached a foreign host');
  expectIssued(fixture, 1);
  expectNoRejection(fixture);
}

/** The token is sent to no other origin and to no other path. */
export function originCases(define: DefineCase): ContractCase[] {
  return [
    ...spellings.map(([name, spell]) =>
      define(`no token goes to ${name}`, (fixture) => {
        const url = spell(hostOf(fixture.service.baseUrl), hostOf(fixture.foreign.url));
        return sendToStranger(fixture, url);
      }),
    ),

    define('a foreign host is reached, without a token', async (fixture) => {
      await fixture.warmUp();
      expectStatus(await fixture.send({ url: `${fixture.foreign.url}/x` }), 200);
      assert.equal(fixture.foreign.requests.length, 1, 'the foreign host did not receive one request');
      foreignIsUnauthenticated(fixture);
    }),

    define(
      'a path outside baseUrl gets no token',
      async (fixture) => {
        const { status } = await fixture.send({ url: `${fixture.service.url}/api/v1/others` });
        expectStatus({ status }, 401);
        assert.equal(fixture.service.counts.tokenRequests, 0, 'a token was asked for');
        expectNoRejection(fixture);
      },
      { client: (service) => ({ baseUrl: `${service.baseUrl}/api/v1/items` }) },
    ),

    define(
      'no token is sent with a path that a server may resolve to one outside baseUrl',
      async (fixture) => {
        for (const path of disguises) {
          await fixture.send({ url: `${fixture.service.url}/api/v1/items${path}` }).catch(() => {});
        }
        const exposed = fixture.apiRequests().filter(({ bearer, path }) => bearer === 'valid' && /%|\.\./.test(path));
        assert.deepEqual(
          exposed.map(({ path }) => path),
          [],
          'the token was sent with such a path',
        );
      },
      { client: (service) => ({ baseUrl: `${service.baseUrl}/api/v1/items` }) },
    ),

    define('the token endpoint gets no token, and nobody waits for one to ask it', async (fixture) => {
      const { service, send } = fixture;
      // If it were covered, a token request that goes through this client would wait for itself.
      expectStatus(await send(), 200);
      const headers = { 'content-type': 'application/json' };
      expectStatus(await send({ method: 'POST', url: `${service.url}/oauth/token`, headers }), 400);
      const { problems = [] } = service.tokenRequests.at(-1) ?? {};
      assert.ok(!problems.some((problem) => problem.startsWith('authorization')), 'the token was attached');
      expectIssued(fixture, 1);
      expectNoRejection(fixture);
    }),

    define('a 401 of a foreign host is returned, and says nothing about the token', async (fixture) => {
      await fixture.warmUp();
      fixture.foreign.answers.always({ status: 401 });
      expectStatus(await fixture.send({ url: fixture.foreign.url }), 401);
      assert.equal(fixture.foreign.requests.length, 1, 'the foreign host did not receive one request');
      expectNoRejection(fixture);
    }),

    define('user name and password in the address are the only credentials sent', async (fixture) => {
      await fixture.warmUp();
      const url = fixture.service.baseUrl.replace('http://', 'http://user:password@');
      await fixture.send({ url: `${url}/api/v1/` }).catch(() => {});
      assert.ok(
        fixture.apiRequests().every(({ tokenId }) => tokenId === undefined),
        'the token was attached',
      );
      expectNoRejection(fixture);
    }),
  ];
}

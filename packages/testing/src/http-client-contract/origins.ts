import assert from 'node:assert/strict';
import type { ContractCase } from '../contract/contract-case.ts';
import {
  type Bench,
  type DefineCase,
  expectIssued,
  expectNoRejection,
  expectStatus,
  foreignIsUnauthenticated,
} from './bench.ts';

/** Addresses that are not the API, whatever they look like; `api` and `foreign` are host and port. */
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

const hostOf = (url: string): string => new URL(url).host;

async function sendToStranger(bench: Bench, url: string): Promise<void> {
  await bench.warmUp();
  // Refusing to send is as good as sending without a token: only what arrived counts.
  await bench.send({ url }).catch(() => {});
  const bearers = bench.apiRequests().map(({ bearer }) => bearer);
  assert.ok(!bearers.includes('valid'), 'the token was attached');
  assert.deepEqual(bench.service.findSecrets(bench.foreign.received), [], 'a secret reached a foreign host');
  expectIssued(bench, 1);
  expectNoRejection(bench);
}

/** The token is sent to no other origin and to no other path. */
export function originCases(define: DefineCase): ContractCase[] {
  return [
    ...spellings.map(([name, spell]) =>
      define(`no token goes to ${name}`, (bench) => {
        const url = spell(hostOf(bench.service.baseUrl), hostOf(bench.foreign.url));
        return sendToStranger(bench, url);
      }),
    ),

    define('a foreign host is reached, without a token', async (bench) => {
      await bench.warmUp();
      expectStatus(await bench.send({ url: `${bench.foreign.url}/x` }), 200);
      assert.equal(bench.foreign.requests.length, 1, 'the foreign host did not receive one request');
      foreignIsUnauthenticated(bench);
    }),

    define(
      'a path outside baseUrl gets no token',
      async (bench) => {
        const { status } = await bench.send({ url: `${bench.service.url}/api/v1/others` });
        expectStatus({ status }, 401);
        assert.equal(bench.service.counts.tokenRequests, 0, 'a token was asked for');
        expectNoRejection(bench);
      },
      { client: (service) => ({ baseUrl: `${service.baseUrl}/api/v1/items` }) },
    ),

    define('a 401 of a foreign host is returned, and says nothing about the token', async (bench) => {
      await bench.warmUp();
      bench.foreign.answers.always({ status: 401 });
      expectStatus(await bench.send({ url: bench.foreign.url }), 401);
      assert.equal(bench.foreign.requests.length, 1, 'the foreign host did not receive one request');
      expectNoRejection(bench);
    }),

    define('user name and password in the address are the only credentials sent', async (bench) => {
      await bench.warmUp();
      const url = bench.service.baseUrl.replace('http://', 'http://user:password@');
      await bench.send({ url: `${url}/api/v1/` }).catch(() => {});
      assert.ok(
        bench.apiRequests().every(({ tokenId }) => tokenId === undefined),
        'the token was attached',
      );
      expectNoRejection(bench);
    }),
  ];
}

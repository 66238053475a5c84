import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServiceAuth } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { canariesIn, secretCanary, sightings, tokenCanary } from '@service-auth/test-tools/canaries';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { startTestService } from '@service-auth/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { behaviours } from '../src/behaviours.ts';
import { findingsIn, runProgram } from '../src/watch.ts';

const [dynalite, redis, postgres, mariadb] = await Promise.all([
  startDynalite(),
  orSkip(() => startRedis({ appendonly: 'yes' })),
  orSkip(() => startPostgres()),
  orSkip(() => startMariadb()),
]);
const folder = mkdtempSync(join(tmpdir(), 'canaries-'));
afterAll(async () => {
  await Promise.all([dynalite.stop(), redis?.stop(), postgres?.stop(), mariadb?.stop()]);
  rmSync(folder, { recursive: true });
});

const servers = { redis: redis?.url, postgres: postgres?.url, mysql: mariadb?.url, dynamoDb: dynalite.url };
const { exitCode, outcomes, places, wire } = await runProgram(folder, servers);
const findings = Object.fromEntries(Object.entries(places).map(([place, text]) => [place, findingsIn(text)]));

/** For each package: the clients that must go through every behaviour, and the store of each. */
const rows: Readonly<Record<string, readonly (readonly [client: string, store: string])[]>> = {
  core: [['core', 'file']],
  fetch: [['fetch', 'file']],
  axios: ['axios', 'axios, fetch adapter', 'axios, streams', 'axios, one socket'].map((client) => [client, 'file']),
  got: ['got', 'got, streams', 'got, one socket'].map((client) => [client, 'file']),
  undici: ['undici', 'undici, fetch'].map((client) => [client, 'file']),
  nestjs: ['nestjs', 'nestjs, JSON'].map((client) => [client, 'file']),
  // It is the store of all the rows above.
  file: [],
  redis: (redis ? ['node-redis', 'ioredis'] : []).map((store) => ['core', store]),
  postgres: (postgres ? ['pg'] : []).map((store) => ['core', store]),
  mysql: (mariadb ? ['mysql2'] : []).map((store) => ['core', store]),
  sqlite: [['core', 'sqlite']],
  dynamodb: [['core', 'dynamodb']],
  // It runs in workerd, where no trace can be turned on. It gets the sealed record, as every store does.
  cloudflare: [],
  // It has a test of its own, below.
  testing: [],
  // Its tests search what it prints, and what other processes can see of it.
  cli: [],
  // Its tests search what it measures.
  opentelemetry: [],
};

/** The leaks that must be found in each place, because they were planted there. */
const planted: Readonly<Record<string, readonly string[]>> = {
  stdout: [
    ...['JSON', 'cause', 'event', 'getter', 'hidden', 'message', 'symbol', 'text'],
    ...['axios', 'axios-queue', 'got', 'got-queue'],
  ],
  stderr: ['NODE_DEBUG', 'logger', 'stderr', 'warning'],
  files: ['file', 'file-name', 'temporary'],
  redis: ['redis-key', 'redis-past', 'redis-value'],
  postgres: ['postgres-key', 'postgres-past', 'postgres-record', 'postgres-version'],
  dynamodb: ['dynamodb-key', 'dynamodb-record', 'dynamodb-version'],
  mysql: ['mysql-key', 'mysql-past', 'mysql-record', 'mysql-version'],
};

test('a mark of PostgreSQL that a page header cuts is neither planted nor a leak, and a host of that name is one', () => {
  const cut = `${secretCanary}@postgres-pa\x10\xd1`;
  expect(findingsIn(cut)).toEqual({ planted: [], leaks: [] });
  expect(findingsIn(`redis://u:${secretCanary}@postgres-host\n`).leaks).toHaveLength(1);
});

describe('a program to which everything happens, that prints all it gets and has every trace turned on', () => {
  test('uses every package', () => {
    expect(Object.keys(rows).sort()).toEqual(readdirSync(new URL('../../../packages', import.meta.url)).sort());
  });

  test('ends well', () => {
    expect(exitCode, places['stderr']?.slice(-2_000)).toBe(0);
  });

  test.each(Object.values(rows).flat())('takes %s over %s through every behaviour', (client, store) => {
    const those = outcomes.filter((each) => each.client === client && each.store === store);
    expect(Object.fromEntries(those.map(({ behaviour, outcome }) => [behaviour, outcome]))).toEqual(
      Object.fromEntries(Object.entries(behaviours).map(([behaviour, { outcome }]) => [behaviour, outcome])),
    );
  });

  test.each(Object.keys(places))('leaves neither secret nor token in %s', (place) => {
    expect(findings[place]?.leaks).toEqual([]);
  });

  test.each(Object.keys(places))('leaves in %s what is planted there', (place) => {
    expect(findings[place]?.planted).toEqual(expect.arrayContaining([...(planted[place] as string[])]));
  });

  test('has the traces of Node and its libraries in stderr', () => {
    const traces = ['ESM', 'FETCH', 'HTTP', 'MODULE', 'NET', 'STREAM', 'TIMER', 'express:', 'router', 'ioredis:'];
    expect(traces.filter((trace) => !places['stderr']?.includes(trace))).toEqual([]);
  });

  test.each(['NET', 'STREAM', 'follow-redirects'])(
    'is ignored where %s shows headers or bytes of every request, although the token is there',
    (name) => {
      const records = wire.filter((record) => record.split(' ', 2).includes(name));
      expect(findingsIn(records.join('')).leaks).not.toEqual([]);
    },
  );
});

test('the test service shows neither secret nor token of the requests that it received', async () => {
  await using service = await startTestService();
  service.setClientSecret(secretCanary);
  const auth = createServiceAuth({ ...service.options, clientSecret: secretCanary });
  await createAuthFetch(auth)(`${service.baseUrl}/api/v1/`);
  const { value } = await auth.getToken();
  const { tokenRequests, apiRequests, issuances, counts } = service;
  expect([tokenRequests.length, apiRequests.length, issuances.length]).toEqual([1, 1, 1]);
  expect(canariesIn([tokenRequests, apiRequests, issuances, counts])).toEqual([]);
  expect(service.findSecrets(JSON.stringify([tokenRequests, apiRequests, issuances, counts]))).toEqual([]);
  expect(service.findSecrets(value)).toEqual(['access token']);
});

test.each([
  ['as it is', (text: string) => text],
  ['in Base64', (text: string) => Buffer.from(text).toString('base64')],
  ['in Base64url, after another byte', (text: string) => Buffer.from(`x${text}`).toString('base64url')],
  ['in Base64, after two more bytes', (text: string) => Buffer.from(`{"${text}"}`).toString('base64')],
  ['in hexadecimal', (text: string) => Buffer.from(text).toString('hex')],
  ['as a Buffer is printed', (text: string) => `${Buffer.from(text).toString('hex').match(/../g)?.join(' ')}`],
  ['as the JSON of a Buffer', (text: string) => JSON.stringify(Buffer.from(text))],
  ['in UTF-16', (text: string) => Buffer.from(text, 'utf16le').toString('latin1')],
])('a canary is found %s', (_, written) => {
  for (const canary of [secretCanary, tokenCanary]) {
    expect(sightings(`before ${written(`${canary}.1`)} after`)).toMatchObject([{ canary }]);
  }
});

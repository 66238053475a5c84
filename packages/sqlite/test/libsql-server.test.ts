// A client of libSQL with a server, as Turso is one.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Client, createClient } from '@libsql/client';
import { startLibsql } from '@service-auth/test-tools/servers/libsql';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import { storeContract } from '@service-auth/testing';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { createTable, sqliteStore } from '../src/index.ts';

const libsql = await startLibsql();
afterAll(() => libsql.stop());

const closing: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

function connect(url: string): Client {
  const client = createClient({ url });
  closing.push(() => client.close());
  return client;
}

const change = { version: '1', record: 'record' };

describe('the contract of stores', () => {
  const cases = storeContract(async () => {
    const opened: Client[] = [];
    async function another() {
      const client = createClient({ url: libsql.url });
      opened.push(client);
      await createTable(client);
      return sqliteStore(client);
    }
    return {
      store: await another(),
      another,
      close: async () => {
        for (const client of opened) client.close();
      },
    };
  });
  for (const { name, run } of cases) test(name, run);
});

test('a swap whose answer was lost says that it succeeded when it is sent again', async () => {
  await createTable(connect(libsql.url));
  const relay = await startRelay(libsql.port);
  closing.push(relay.close);
  const store = sqliteStore(connect(`http://127.0.0.1:${relay.port}`));
  relay.set('deaf');
  await expect(store.swap('lost answer', change)).rejects.toMatchObject({ name: 'LostConnection' });
  relay.set('pass');
  expect(await store.load('lost answer')).toMatchObject(change);
  expect(await store.swap('lost answer', change)).toMatchObject({ swapped: true });
  expect(await store.swap('lost answer', { ...change, version: '2' })).toMatchObject({ swapped: false });
});

test('what the server confirmed survives its death, and meanwhile nothing answers', async () => {
  const client = connect(libsql.url);
  await createTable(client);
  const store = sqliteStore(client);
  await store.swap('death', change);
  await libsql.kill();
  await expect(store.load('death')).rejects.toMatchObject({ name: 'Unreachable', code: 'ECONNREFUSED' });
  await libsql.restart();
  expect(await store.load('death')).toMatchObject(change);
});

test('a table that is missing is named', async () => {
  const store = sqliteStore(connect(libsql.url), { table: 'missing' });
  await expect(store.load('key')).rejects.toMatchObject({ name: 'MissingTable' });
});

test.each([
  ['WrongPassword', 401, '{"error":"Unauthorized: canary"}'],
  ['WrongPassword', 403, ''],
  ['MissingDatabase', 404, '{"error":"Namespace canary does not exist"}'],
  ['FailedServer', 502, '<html>canary'],
])('%s says what to do about an answer with %i', async (name, status, body) => {
  const server = createServer((_, response) => response.writeHead(status).end(body)).listen(0, '127.0.0.1');
  closing.push(() => server.close());
  await once(server, 'listening');
  const store = sqliteStore(connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
  const error = await store.load('key').catch((reason: Error) => reason);
  expect(error).toMatchObject({ name, advice: expect.stringMatching(/\.$/) });
  expect(`${error} ${JSON.stringify(error)}`).not.toContain('canary');
});

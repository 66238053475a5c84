import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Client, createClient } from '@libsql/client';
import Libsql from 'libsql';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createTable, sqliteStore } from '../src/index.ts';

let folder = '';
const closing: { close(): unknown }[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'service-auth-libsql-'));
});
afterEach(() => {
  for (const each of closing.splice(0)) each.close();
  rmSync(folder, { recursive: true });
});

function open(): { client: Client; reconnects: string[]; modes: unknown[] } {
  const client = createClient({ url: `file:${join(folder, 'database')}` });
  closing.push(client);
  const reconnects: string[] = [];
  const modes: unknown[] = [];
  const { reconnect, batch } = client;
  client.reconnect = () => {
    reconnects.push(client.protocol);
    return reconnect.call(client);
  };
  client.batch = (statements, mode) => {
    modes.push([statements.length, mode]);
    return batch.call(client, statements, mode);
  };
  return { client, reconnects, modes };
}

const change = { version: '1', record: 'record' };

test('each call is one batch that writes, because a replica may answer one that only reads', async () => {
  const { client, modes } = open();
  await createTable(client);
  const store = sqliteStore(client);
  expect(await store.swap('key', change)).toMatchObject({ swapped: true });
  expect(await store.load('key')).toMatchObject(change);
  expect(modes).toEqual([
    [2, 'write'],
    [1, 'write'],
  ]);
});

test('a file that others lock is opened again after each failure, so that no statement stays open', async () => {
  const { client, reconnects } = open();
  await createTable(client);
  const holder = new Libsql(join(folder, 'database'));
  closing.push(holder);
  holder.exec('begin exclusive');
  await expect(sqliteStore(client).load('key')).rejects.toMatchObject({ name: 'LockedDatabase' });
  expect(reconnects.length).toBeGreaterThan(1);
  expect(new Set(reconnects)).toEqual(new Set(['file']));
  holder.exec('rollback');
  expect(await sqliteStore(client).load('key')).toMatchObject({ now: expect.any(Number) });
});

test('a file is not opened again after another failure, and the call is not tried again', async () => {
  const { client, reconnects, modes } = open();
  await expect(sqliteStore(client).load('key')).rejects.toMatchObject({ name: 'MissingTable' });
  expect([reconnects, modes.length]).toEqual([[], 1]);
});

test.each([
  ['a connection to a server', { protocol: 'http', reconnect: () => expect.unreachable() }],
  ['a client without reconnect()', { protocol: 'file' }],
])('%s that is locked for a moment stays, and the call is tried again', async (_, shape) => {
  const { client, reconnects } = open();
  await createTable(client);
  let refusals = 2;
  const server = {
    ...shape,
    execute: client.execute.bind(client),
    async batch(statements: never[], mode: never) {
      refusals -= 1;
      if (refusals >= 0) throw Object.assign(new Error('locked'), { code: 'SQLITE_BUSY' });
      return client.batch(statements, mode);
    },
  };
  expect(await sqliteStore(server).swap('key', change)).toMatchObject({ swapped: true });
  expect(reconnects).toEqual([]);
});

test('a client that was closed says so', async () => {
  const { client } = open();
  client.close();
  closing.pop();
  await expect(sqliteStore(client).load('key')).rejects.toMatchObject({ name: 'ClosedClient', code: 'CLIENT_CLOSED' });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createClient } from '@libsql/client/http';
import { createTable as createDynamoDbTable } from '@service-auth/dynamodb';
import { createTable as createMysqlTable } from '@service-auth/mysql';
import { createTable } from '@service-auth/postgres';
import { createTable as createSqliteTable } from '@service-auth/sqlite';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startLibsql } from '@service-auth/test-tools/servers/libsql';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { startPgBouncer } from '@service-auth/test-tools/servers/pgbouncer';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import type { TestServer } from '@service-auth/test-tools/servers/server';
import { startUpstashFront } from '@service-auth/test-tools/servers/upstash';
import mysql2 from 'mysql2/promise';
import pg from 'pg';
import type { StoreKind } from './stores.ts';
import { startWorkerd } from './workerd.ts';

/** The place in which a store keeps its records. */
export interface Place {
  readonly kind: StoreKind;
  /** A URL or a folder. */
  readonly address: string;
  readonly server?: TestServer;
  close(): Promise<void>;
}

/** Makes room for a store: what it acknowledges must survive the death of its server. */
export async function openPlace(kind: StoreKind): Promise<Place> {
  return { kind, ...(await openings[kind]()) };
}

const openings: Readonly<Record<StoreKind, () => Promise<Omit<Place, 'kind'>>>> = {
  file: async () => inFolder(mkdtempSync(join(tmpdir(), 'service-auth-chaos-'))),
  async sqlite() {
    const folder = mkdtempSync(join(tmpdir(), 'service-auth-chaos-'));
    const address = join(folder, 'database');
    const database = new DatabaseSync(address);
    database.exec('pragma journal_mode = wal');
    await createSqliteTable(database);
    database.close();
    return { ...inFolder(folder), address };
  },
  redis: async () => at(await startDurableRedis()),
  async upstash() {
    const server = await startDurableRedis();
    const { url, close } = await startUpstashFront(server.url);
    return at({ ...server, url, port: Number(new URL(url).port), stop: () => close().then(server.stop) });
  },
  async turso() {
    const server = await startLibsql();
    const client = createClient({ url: server.url });
    await createSqliteTable(client);
    client.close();
    return at(server);
  },
  async dynamodb() {
    const server = await startDynalite();
    const opened = new DynamoDBClient(dynaliteClientSettings(server.url));
    await createDynamoDbTable(opened);
    opened.destroy();
    return at(server);
  },
  async mysql() {
    const server = await startMariadb();
    const pool = mysql2.createPool(server.url);
    await createMysqlTable(pool);
    await pool.end();
    return at(server);
  },
  'durable-object': async () => at(await startWorkerd()),
  postgres: async () => at(await startPostgresWithTable()),
  async pgbouncer() {
    const server = await startPostgresWithTable();
    const { url, port, stop } = await startPgBouncer(server, 'transaction');
    // The database is killed, and the pooler lives on.
    return at({ ...server, url, port, stop: () => stop().then(server.stop) });
  },
};

const at = (server: TestServer) => ({ address: server.url, server, close: server.stop });
const inFolder = (folder: string) => ({
  address: folder,
  close: async () => rmSync(folder, { recursive: true, force: true }),
});
const startDurableRedis = () => startRedis({ appendonly: 'yes', appendfsync: 'always' });

async function startPostgresWithTable() {
  const server = await startPostgres();
  const client = new pg.Client(server.url);
  await client.connect();
  await createTable(client);
  await client.end();
  return server;
}

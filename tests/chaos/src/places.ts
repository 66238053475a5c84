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
  if (kind === 'file') {
    const folder = mkdtempSync(join(tmpdir(), 'service-auth-chaos-'));
    return { kind, address: folder, close: async () => rmSync(folder, { recursive: true, force: true }) };
  }
  if (kind === 'sqlite') {
    const folder = mkdtempSync(join(tmpdir(), 'service-auth-chaos-'));
    const address = join(folder, 'database');
    const database = new DatabaseSync(address);
    database.exec('pragma journal_mode = wal');
    await createSqliteTable(database);
    database.close();
    return { kind, address, close: async () => rmSync(folder, { recursive: true, force: true }) };
  }
  if (kind === 'redis') {
    const server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
    return { kind, address: server.url, server, close: server.stop };
  }
  if (kind === 'upstash') {
    const server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
    const front = await startUpstashFront(server.url);
    const close = () => front.close().then(server.stop);
    return { kind, address: front.url, server: { ...server, port: Number(new URL(front.url).port) }, close };
  }
  if (kind === 'turso') {
    const server = await startLibsql();
    const client = createClient({ url: server.url });
    await createSqliteTable(client);
    client.close();
    return { kind, address: server.url, server, close: server.stop };
  }
  if (kind === 'dynamodb') {
    const server = await startDynalite();
    const opened = new DynamoDBClient(dynaliteClientSettings(server.url));
    await createDynamoDbTable(opened);
    opened.destroy();
    return { kind, address: server.url, server, close: server.stop };
  }
  if (kind === 'mysql') {
    const server = await startMariadb();
    const pool = mysql2.createPool(server.url);
    await createMysqlTable(pool);
    await pool.end();
    return { kind, address: server.url, server, close: server.stop };
  }
  if (kind === 'durable-object') {
    const server = await startWorkerd();
    return { kind, address: server.url, server, close: server.stop };
  }
  const server = await startPostgres();
  const client = new pg.Client(server.url);
  await client.connect();
  await createTable(client);
  await client.end();
  if (kind === 'pgbouncer') {
    const pooler = await startPgBouncer(server, 'transaction');
    const close = () => pooler.stop().then(server.stop);
    // The database is killed, and the pooler lives on.
    return { kind, address: pooler.url, server: { ...server, port: pooler.port }, close };
  }
  return { kind, address: server.url, server, close: server.stop };
}

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable as createDynamoDbTable } from '@service-auth/dynamodb';
import { createTable as createMysqlTable } from '@service-auth/mysql';
import { createTable } from '@service-auth/postgres';
import { createTable as createSqliteTable } from '@service-auth/sqlite';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import type { TestServer } from '@service-auth/test-tools/servers/server';
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
  return { kind, address: server.url, server, close: server.stop };
}

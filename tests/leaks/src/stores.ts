import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import type { Store } from '@service-auth/core';
import { createTable as createDynamoDbTable, dynamodbStore } from '@service-auth/dynamodb';
import { fileStore } from '@service-auth/file';
import { createTable as createMysqlTable, mysqlStore } from '@service-auth/mysql';
import { createTable, postgresStore } from '@service-auth/postgres';
import { redisStore } from '@service-auth/redis';
import { createTable as createSqliteTable, sqliteStore } from '@service-auth/sqlite';
import { dynaliteClientSettings } from '@service-auth/test-tools/servers/dynalite';
import { Redis } from 'ioredis';
import mysql2 from 'mysql2/promise';
import pg from 'pg';
import { createClient } from 'redis';

/** The places of stores: a folder, and servers by their URL. */
export interface Places {
  readonly directory: string;
  readonly redis?: string | undefined;
  readonly postgres?: string | undefined;
  readonly mysql?: string | undefined;
  readonly dynamoDb?: string | undefined;
}

/** Stores in one place: one that works, and one that cannot reach it, although it knows the password. */
export interface Stores {
  readonly up: Store;
  readonly down: Store;
}

const unreachable = (protocol: string, secret: string): string => `${protocol}://user:${secret}@127.0.0.1:1/0`;

async function nodeRedis(url: string): Promise<Store> {
  const client = createClient({ url, socket: { reconnectStrategy: false } }).on('error', () => {});
  await client.connect().catch(() => {});
  return redisStore(client);
}

function ioRedis(url: string): Store {
  const client = new Redis(url, { retryStrategy: () => null, maxRetriesPerRequest: 0 }).on('error', () => {});
  return redisStore(client);
}

/** Every store that the places allow, by the client that it uses. */
export async function openStores(places: Places, secret: string): Promise<Record<string, Stores>> {
  const { directory, redis, postgres, mysql, dynamoDb } = places;
  const stores: Record<string, Stores> = {};
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'a-file'), '');
  stores['file'] = { up: fileStore(join(directory, 'records')), down: fileStore(join(directory, 'a-file', 'records')) };
  const database = new DatabaseSync(join(directory, 'records.db'));
  await createSqliteTable(database);
  stores['sqlite'] = { up: sqliteStore(database), down: sqliteStore(database, { table: 'missing' }) };
  if (redis) {
    stores['node-redis'] = { up: await nodeRedis(redis), down: await nodeRedis(unreachable('redis', secret)) };
    stores['ioredis'] = { up: ioRedis(redis), down: ioRedis(unreachable('redis', secret)) };
  }
  if (postgres) {
    const pool = new pg.Pool({ connectionString: postgres });
    await createTable(pool);
    const down = new pg.Pool({ connectionString: unreachable('postgres', secret) });
    stores['pg'] = { up: postgresStore(pool), down: postgresStore(down) };
  }
  if (mysql) {
    const pool = mysql2.createPool(mysql);
    await createMysqlTable(pool);
    stores['mysql2'] = { up: mysqlStore(pool), down: mysqlStore(mysql2.createPool(unreachable('mysql', secret))) };
  }
  if (dynamoDb) {
    const client = new DynamoDBClient(dynaliteClientSettings(dynamoDb));
    await createDynamoDbTable(client);
    const credentials = { accessKeyId: 'user', secretAccessKey: secret };
    const settings = { ...dynaliteClientSettings('http://127.0.0.1:1'), credentials, maxAttempts: 1 };
    stores['dynamodb'] = { up: dynamodbStore(client), down: dynamodbStore(new DynamoDBClient(settings)) };
  }
  return stores;
}

/** A record that contains the secret, which a store must never contain. */
export function damagedStore(secret: string): Store {
  return {
    durability: 'durable',
    load: async () => ({ now: Date.now(), version: '1', record: secret }),
    swap: async () => ({ now: Date.now(), swapped: false }),
  };
}

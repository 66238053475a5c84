import type { Store } from '@service-auth/core';
import { dynaliteClientSettings } from '@service-auth/test-tools/servers/dynalite';
import type { GatewayCall } from './gateway.ts';

export const storeKinds = [
  'file',
  'redis',
  'upstash',
  'postgres',
  'pgbouncer',
  'dynamodb',
  'mysql',
  'sqlite',
  'turso',
  'durable-object',
] as const;
export type StoreKind = (typeof storeKinds)[number];

/** A store, and how to part with it. */
export interface OpenedStore {
  readonly store: Store;
  close(): Promise<void>;
}

/** A store as one process opens it. `address`: a folder or a URL; `oddity`: processes differ in the client that they use. It loads no other client, because processes start all the time. */
export async function openStore(kind: StoreKind, address: string, oddity: number): Promise<OpenedStore> {
  switch (kind) {
    case 'file': {
      const { fileStore } = await import('@service-auth/file');
      return { store: fileStore(address), close: async () => {} };
    }
    case 'redis': {
      const { redisStore } = await import('@service-auth/redis');
      if (oddity % 2 === 0) {
        const { Redis } = await import('ioredis');
        const client = new Redis(address, { retryStrategy: () => 100 }).on('error', ignore);
        return { store: redisStore(client), close: async () => client.disconnect() };
      }
      const { createClient } = await import('redis');
      const client = createClient({ url: address, socket: { reconnectStrategy: 100 } }).on('error', ignore);
      client.connect().catch(ignore);
      return { store: redisStore(client), close: async () => client.destroy() };
    }
    case 'upstash': {
      const { redisStore } = await import('@service-auth/redis');
      const { Redis } = await import('@upstash/redis');
      const client = new Redis({
        url: address,
        token: 'test',
        enableTelemetry: false,
        enableAutoPipelining: oddity % 2 === 0,
      });
      return { store: redisStore(client), close: async () => {} };
    }
    case 'turso': {
      const { sqliteStore } = await import('@service-auth/sqlite');
      const { createClient } = await import('@libsql/client/http');
      const client = createClient({ url: address });
      return { store: sqliteStore(client), close: async () => client.close() };
    }
    case 'sqlite': {
      const { sqliteStore } = await import('@service-auth/sqlite');
      const { DatabaseSync } = await import('node:sqlite');
      const database = new DatabaseSync(address);
      return { store: sqliteStore(database), close: async () => database.close() };
    }
    case 'mysql': {
      const { mysqlStore } = await import('@service-auth/mysql');
      if (oddity % 2 === 0) {
        const { createPool } = await import('mariadb');
        const { hostname, port, username, pathname } = new URL(address);
        const place = { host: hostname, port: Number(port), user: username, database: pathname.slice(1) };
        const pool = createPool({ ...place, connectionLimit: 3, connectTimeout: 1_500, acquireTimeout: 1_500 });
        return { store: mysqlStore(pool), close: () => pool.end() };
      }
      const { createPool } = await import('mysql2/promise');
      const pool = createPool({ uri: address, connectionLimit: 3, connectTimeout: 1_500 });
      return { store: mysqlStore(pool), close: () => pool.end() };
    }
    case 'postgres':
    case 'pgbouncer': {
      const { postgresStore } = await import('@service-auth/postgres');
      const { default: pg } = await import('pg');
      const settings = { max: 3, connectionTimeoutMillis: 1_500, query_timeout: 1_500 };
      const pool = new pg.Pool({ connectionString: address, ...settings }).on('error', ignore);
      return { store: postgresStore(pool), close: () => pool.end() };
    }
    case 'durable-object':
      return { store: gatewayStore(address), close: async () => {} };
    case 'dynamodb': {
      const { dynamodbStore } = await import('@service-auth/dynamodb');
      const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb');
      const client = new DynamoDBClient(dynaliteClientSettings(address));
      return { store: dynamodbStore(client), close: async () => client.destroy() };
    }
  }
}

function ignore(): void {}

/** The Durable Object behind the Worker at `address`. */
function gatewayStore(address: string): Store {
  async function ask<Answer>(call: GatewayCall, signal: AbortSignal | undefined): Promise<Answer> {
    const response = await fetch(address, { method: 'POST', body: JSON.stringify(call), signal: signal ?? null });
    if (!response.ok) throw Object.assign(new Error('refused'), { name: await response.text() });
    return (await response.json()) as Answer;
  }
  return {
    durability: 'durable',
    load: (key, { signal } = {}) => ask({ key }, signal),
    swap: (key, change, { signal } = {}) => ask({ key, change }, signal),
  };
}

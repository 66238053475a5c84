import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store } from '@service-auth/core';
import { fileStore } from '@service-auth/file';
import { createTable, postgresStore } from '@service-auth/postgres';
import { redisStore } from '@service-auth/redis';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import type { TestServer } from '@service-auth/test-tools/servers/server';
import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';

export const storeKinds = ['file', 'redis', 'postgres'] as const;
export type StoreKind = (typeof storeKinds)[number];

/** The place in which a store keeps its records. */
export interface Place {
  readonly kind: StoreKind;
  /** A URL or a folder. */
  readonly address: string;
  readonly server?: TestServer;
  close(): Promise<void>;
}

/** A store, and how to part with it. */
export interface OpenedStore {
  readonly store: Store;
  close(): Promise<void>;
}

/** Makes room for a store: what it acknowledges must survive the death of its server. */
export async function openPlace(kind: StoreKind): Promise<Place> {
  if (kind === 'file') {
    const folder = mkdtempSync(join(tmpdir(), 'service-auth-chaos-'));
    return { kind, address: folder, close: async () => rmSync(folder, { recursive: true, force: true }) };
  }
  if (kind === 'redis') {
    const server = await startRedis({ appendonly: 'yes', appendfsync: 'always' });
    return { kind, address: server.url, server, close: server.stop };
  }
  const server = await startPostgres();
  const client = new pg.Client(server.url);
  await client.connect();
  await createTable(client);
  await client.end();
  return { kind, address: server.url, server, close: server.stop };
}

/** A store as one process opens it. `address`: a folder or a URL; `oddity`: processes differ in the client that they use. */
export async function openStore(kind: StoreKind, address: string, oddity: number): Promise<OpenedStore> {
  switch (kind) {
    case 'file':
      return { store: fileStore(address), close: async () => {} };
    case 'redis': {
      if (oddity % 2 === 0) {
        const client = new Redis(address, { retryStrategy: () => 100 }).on('error', ignore);
        return { store: redisStore(client), close: async () => client.disconnect() };
      }
      const client = createClient({ url: address, socket: { reconnectStrategy: 100 } }).on('error', ignore);
      client.connect().catch(ignore);
      return { store: redisStore(client), close: async () => client.destroy() };
    }
    case 'postgres': {
      const settings = { max: 3, connectionTimeoutMillis: 1_500, query_timeout: 1_500 };
      const pool = new pg.Pool({ connectionString: address, ...settings }).on('error', ignore);
      return { store: postgresStore(pool), close: () => pool.end() };
    }
  }
}

function ignore(): void {}

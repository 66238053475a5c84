// The store that the environment names: REDIS_URL, POSTGRES_URL, MYSQL_URL, DYNAMODB_TABLE, or else a directory of this machine.
import type { Store } from '@service-auth/core';

export interface OpenedStore {
  /** The name of the store in messages to people. */
  readonly name: string;
  readonly store: Store;
  close(): Promise<unknown>;
}

/** Loads only the client that it needs: an application rarely has all of them installed. */
export async function storeFromEnv(env: NodeJS.ProcessEnv): Promise<OpenedStore> {
  const { REDIS_URL: redisUrl, POSTGRES_URL: postgresUrl, MYSQL_URL: mysqlUrl } = env;
  const { DYNAMODB_TABLE: table, STORE_DIRECTORY: directory } = env;
  if (redisUrl) {
    const { redisStore } = await import('@service-auth/redis');
    const { createClient } = await import('redis');
    const client = createClient({ url: redisUrl });
    client.on('error', (error) => console.error(error.message || error.code)); // The event store_failed has no message.
    await client.connect();
    return { name: 'Redis', store: redisStore(client), close: async () => client.destroy() };
  }
  if (postgresUrl) {
    const { createTable, postgresStore } = await import('@service-auth/postgres');
    const { Pool } = await import('pg');
    const pool = new Pool({ connectionString: postgresUrl, query_timeout: 2_000, connectionTimeoutMillis: 2_000 });
    pool.on('error', (error) => console.error(error.message));
    await createTable(pool);
    return { name: 'PostgreSQL', store: postgresStore(pool), close: () => pool.end() };
  }
  if (mysqlUrl) {
    const { createTable, mysqlStore } = await import('@service-auth/mysql');
    const { createPool } = await import('mysql2/promise');
    const pool = createPool({ uri: mysqlUrl, connectTimeout: 2_000 });
    await createTable(pool);
    return { name: 'MySQL', store: mysqlStore(pool), close: () => pool.end() };
  }
  if (table) {
    const { createTable, dynamodbStore } = await import('@service-auth/dynamodb');
    const { DynamoDBClient } = await import('@aws-sdk/client-dynamodb');
    const client = new DynamoDBClient(); // It takes the region and the credentials from the environment, too.
    await createTable(client, { table });
    return { name: 'DynamoDB', store: dynamodbStore(client, { table }), close: async () => client.destroy() };
  }
  const { fileStore } = await import('@service-auth/file');
  return { name: 'a directory', store: fileStore(directory || undefined), close: async () => {} };
}

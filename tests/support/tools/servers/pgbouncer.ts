import { chownSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '../end-with-this-process.ts';
import { debianProgram, type Program } from './debian.ts';
import { ordinaryUser } from './postgres.ts';
import { freePort, startServer, type TestServer } from './server.ts';
import { lastLine, onPath } from './tools.ts';

/**
 * Starts a PgBouncer in front of a PostgreSQL of {@link startPostgres}, in one of its pool modes: the one on PATH or, on Debian, the package's,
 * unpacked into the cache of this repository. Where there is none it rejects with a sentence that says what to do.
 */
export async function startPgBouncer(
  postgres: TestServer,
  mode: 'session' | 'transaction' | 'statement',
): Promise<TestServer> {
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-pgbouncer-'));
  const user = process.getuid?.() === 0 ? await ordinaryUser() : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  const { command, env } = await findPgBouncer(user && join(folder, 'program'));
  const port = await freePort();
  const settings = {
    listen_addr: '127.0.0.1',
    listen_port: port,
    unix_socket_dir: '',
    auth_type: 'any',
    pool_mode: mode,
    // Fewer than there are clients, so that a session is a different one from statement to statement; in session mode each client keeps its own.
    default_pool_size: mode === 'session' ? 60 : 3,
  };
  const file = join(folder, 'pgbouncer.ini');
  const database = `postgres = host=127.0.0.1 port=${postgres.port} user=test`;
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  writeFileSync(file, `[databases]\n${database}\n[pgbouncer]\n${lines.join('\n')}\n`);
  return startServer(
    { command, args: [file], env, user, ready: /process up/ },
    {
      url: `postgres://test@127.0.0.1:${port}/postgres`,
      port,
      folder,
    },
  );
}

async function findPgBouncer(copyTo: string | undefined): Promise<Program> {
  const installed = onPath('pgbouncer');
  if (installed) return { command: installed, env: {} };
  try {
    return await debianProgram('pgbouncer', 'usr/sbin/pgbouncer', ['pgbouncer'], copyTo);
  } catch (error) {
    throw new Error(`no PgBouncer: install it. Its package could not be fetched: ${lastLine(error)}`);
  }
}

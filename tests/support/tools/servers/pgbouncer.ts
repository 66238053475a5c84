import { chownSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findProgram } from './debian.ts';
import { ordinaryUser } from './postgres.ts';
import { newPlace, startServer, type TestServer } from './server.ts';

/** Starts a PgBouncer, as `findProgram` finds it, in front of a PostgreSQL of {@link startPostgres}, in one of its pool modes. */
export async function startPgBouncer(
  postgres: TestServer,
  mode: 'session' | 'transaction' | 'statement',
): Promise<TestServer> {
  const { folder, port } = await newPlace('pgbouncer');
  const user = process.getuid?.() === 0 ? await ordinaryUser() : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  const wanted = {
    names: ['pgbouncer'],
    packages: ['pgbouncer'],
    path: 'usr/sbin/pgbouncer',
    otherwise: 'no PgBouncer: install it',
  };
  const { command, env } = await findProgram('pgbouncer', wanted, user && join(folder, 'program'));
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
    { url: `postgres://test@127.0.0.1:${port}/postgres`, port, folder },
  );
}

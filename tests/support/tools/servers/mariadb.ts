import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { temporaryFolder } from '../end-with-this-process.ts';
import { debianProgram, type Program } from './debian.ts';
import { freePort, startServer, type TestServer } from './server.ts';
import { cachedFolder, lastLine, onPath, run } from './tools.ts';

/** Settings that differ from those of a new server, such as `{ 'log-bin': 'binlog' }`. */
export type MariadbSettings = Readonly<Record<string, string>>;

// The order of mariadb-install-db.
const systemTables = [
  'mysql_system_tables.sql',
  'mysql_performance_tables.sql',
  'mysql_system_tables_data.sql',
  'maria_add_gis_sp_bootstrap.sql',
];
const administrator = `create database test;
create user test@'127.0.0.1' identified by '';
grant all privileges on *.* to test@'127.0.0.1' with grant option;
`;

/**
 * Starts a MariaDB: the one on PATH or, on Debian, the package's, unpacked into the cache of this repository.
 * Where there is none it rejects with a sentence that says what to do.
 */
export async function startMariadb(settings: MariadbSettings = {}): Promise<TestServer> {
  const program = await findMariadb();
  const folder = temporaryFolder(join(tmpdir(), 'service-auth-mariadb-'));
  const data = join(folder, 'data');
  await run('cp', ['-a', join(await newDatabase(program), 'data'), data]);
  const port = await freePort();
  const own = {
    datadir: data,
    port: `${port}`,
    'bind-address': '127.0.0.1',
    socket: join(folder, 'socket'),
    'pid-file': join(folder, 'pid'),
    'innodb-buffer-pool-size': '16M',
    'innodb-log-file-size': '8M',
  };
  return startServer(
    {
      command: program.command,
      args: argumentsOf(program, { ...own, ...settings }),
      env: program.env,
      ready: /ready for connections/,
    },
    {
      url: `mysql://test@127.0.0.1:${port}/test`,
      port,
      folder,
    },
  );
}

function argumentsOf({ command }: Program, settings: MariadbSettings): string[] {
  // A server that is started as root wants to be told so.
  const user = process.getuid?.() === 0 ? { user: 'root' } : {};
  const messages = { 'lc-messages-dir': shareOf(command), 'character-sets-dir': join(shareOf(command), 'charsets') };
  return [
    '--no-defaults',
    ...Object.entries({ ...user, ...messages, ...settings }).map(([name, value]) => `--${name}=${value}`),
  ];
}

function shareOf(command: string): string {
  return join(dirname(command), '../share/mysql');
}

/** A folder with the `data` of a new database. Creating them takes seconds, and copying them takes a tenth of it. */
async function newDatabase(program: Program): Promise<string> {
  const version = (
    await run(program.command, ['--no-defaults', '--version'], { env: { ...process.env, ...program.env } })
  ).match(/\d+\.\d+\.\d+/)?.[0];
  return cachedFolder(`mariadb-data-${version}-${process.getuid?.()}`, async (folder) => {
    const data = join(folder, 'data');
    await run('mkdir', [data]);
    const args = argumentsOf(program, { datadir: data, 'innodb-log-file-size': '8M' });
    const server = spawn(program.command, [...args, '--bootstrap'], { env: { ...process.env, ...program.env } });
    const ended = once(server, 'exit');
    const output = Promise.all([text(server.stderr), text(server.stdout)]);
    const files = systemTables.map((file) => readFileSync(join(shareOf(program.command), file), 'utf8'));
    server.stdin.end(
      [
        'create database mysql;',
        'use mysql;',
        'set @auth_root_socket=NULL;',
        ...files,
        'flush privileges;',
        administrator,
      ].join('\n'),
    );
    const [code] = await ended;
    if (code !== 0) throw new Error(`the database could not be created: ${(await output).join('\n').slice(-4_000)}`);
  });
}

async function findMariadb(): Promise<Program> {
  const installed = onPath('mariadbd');
  if (installed) return { command: installed, env: {} };
  try {
    return await debianProgram('mariadb', 'usr/sbin/mariadbd', ['mariadb-server-core']);
  } catch (error) {
    throw new Error(`no MariaDB: install it, or set MYSQL_URL. Its package could not be fetched: ${lastLine(error)}`);
  }
}

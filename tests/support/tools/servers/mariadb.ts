import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { findProgram, type Program } from './debian.ts';
import { newPlace, startServer, type TestServer } from './server.ts';
import { cachedFolder, run } from './tools.ts';

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

/** Starts a MariaDB, as `findProgram` finds it. */
export async function startMariadb(settings: MariadbSettings = {}): Promise<TestServer> {
  const program = await findProgram('mariadb', {
    names: ['mariadbd'],
    packages: ['mariadb-server-core'],
    path: 'usr/sbin/mariadbd',
    otherwise: 'no MariaDB: install it, or set MYSQL_URL',
  });
  const { folder, port } = await newPlace('mariadb');
  const data = join(folder, 'data');
  await run('cp', ['-a', join(await newDatabase(program), 'data'), data]);
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
    { ...program, args: argumentsOf(program, { ...own, ...settings }), ready: /ready for connections/ },
    { url: `mysql://test@127.0.0.1:${port}/test`, port, folder },
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
  const env = { ...process.env, ...program.env };
  const said = await run(program.command, ['--no-defaults', '--version'], { env });
  const version = said.match(/\d+\.\d+\.\d+/)?.[0];
  return cachedFolder(`mariadb-data-${version}-${process.getuid?.()}`, async (folder) => {
    const data = join(folder, 'data');
    await run('mkdir', [data]);
    const args = argumentsOf(program, { datadir: data, 'innodb-log-file-size': '8M' });
    const server = spawn(program.command, [...args, '--bootstrap'], { env });
    const ended = once(server, 'exit');
    const output = Promise.all([text(server.stderr), text(server.stdout)]);
    const files = systemTables.map((file) => readFileSync(join(shareOf(program.command), file), 'utf8'));
    const before = ['create database mysql;', 'use mysql;', 'set @auth_root_socket=NULL;'];
    server.stdin.end([...before, ...files, 'flush privileges;', administrator].join('\n'));
    const [code] = await ended;
    if (code !== 0) throw new Error(`the database could not be created: ${(await output).join('\n').slice(-4_000)}`);
  });
}

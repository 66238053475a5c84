import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cachedFolder, isExecutable, lastLine, onPath, run } from './tools.ts';

/** The command to run a program whose libraries may lie outside of the system's search path. */
export interface Program {
  readonly command: string;
  readonly env: Record<string, string>;
}

/** A server, and where it is found. */
interface Wanted {
  /** The names of its program. */
  readonly names: readonly string[];
  /** The packages of Debian that have it, and its path in them. */
  readonly packages: readonly string[];
  readonly path: string;
  /** What to do where there is none: `no Redis: install redis-server`. */
  readonly otherwise: string;
}

/** The program on PATH or, on Debian, the package's: see `debianProgram`. Where there is none it rejects with a sentence that says what to do. */
export async function findProgram(
  cacheName: string,
  { names, packages, path, otherwise }: Wanted,
  copyTo?: string,
): Promise<Program> {
  const installed = onPath(...names);
  if (installed) return { command: installed, env: {} };
  return debianProgram(cacheName, path, packages, copyTo).catch((error) => {
    throw new Error(`${otherwise}. Its package could not be fetched: ${lastLine(error)}`);
  });
}

/**
 * A program of Debian, unpacked with what the machine lacks of its dependencies into the cache of this repository. Nothing is installed.
 * `copyTo`: run from a copy there, where the cache may lie in the home of root and another user is to run it.
 */
export async function debianProgram(
  name: string,
  path: string,
  packages: readonly string[],
  copyTo?: string,
): Promise<Program> {
  const cached = await debianPackages(name, packages);
  const folder = copyTo ?? cached;
  if (copyTo) cpSync(cached, copyTo, { recursive: true, verbatimSymlinks: true });
  const command = join(folder, path);
  if (!isExecutable(command)) throw new Error(`there is no ${command}`);
  const lib = join(folder, 'usr/lib');
  const libraries = existsSync(lib) ? readdirSync(lib).map((name) => join(lib, name)) : [];
  return { command, env: { LD_LIBRARY_PATH: libraries.join(':') } };
}

/** The folder with packages of Debian and what the machine lacks of their dependencies, as `debianProgram` unpacks them. */
export function debianPackages(name: string, packages: readonly string[]): Promise<string> {
  return cachedFolder(`${name}-${process.arch}`, (folder) => unpack(folder, packages));
}

async function unpack(folder: string, packages: readonly string[]): Promise<void> {
  const scratch = mkdtempSync(join(folder, 'apt-'));
  try {
    // Root would have apt write as a user who may not enter this folder.
    const options = ['-o', 'APT::Sandbox::User=root', '-o', 'Acquire::Retries=0'];
    await downloadAndUnpack(folder, scratch, packages, options).catch(async () => {
      // The machine has no lists of packages, or outdated ones: fetch them, but leave its own alone.
      const lists = join(scratch, 'lists');
      mkdirSync(join(lists, 'partial'), { recursive: true });
      options.push('-o', `Dir::State::lists=${lists}`, '-o', `Dir::Cache=${scratch}`);
      await run('apt-get', [...options, 'update']);
      await downloadAndUnpack(folder, scratch, packages, options);
    });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function downloadAndUnpack(folder: string, scratch: string, packages: readonly string[], options: string[]) {
  const plan = await run('apt-get', [...options, 'install', '--simulate', '--no-install-recommends', ...packages]);
  const missing = [...plan.matchAll(/^Inst (\S+)/gm)].map(([, name = '']) => name);
  const names = new Set([...packages, ...missing]);
  await run('apt-get', [...options, 'download', ...names], { cwd: scratch });
  const archives = readdirSync(scratch).filter((file) => file.endsWith('.deb'));
  for (const archive of archives) await run('dpkg', ['-x', join(scratch, archive), folder]);
}

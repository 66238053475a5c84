import { lstat, mkdir, open, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { storeError } from './errors.ts';

/**
 * Where the platform keeps what can be made again: `$XDG_CACHE_HOME` or `~/.cache` on Linux, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows;
 * in it, `service-auth`.
 */
export function defaultDirectory(platform: string = process.platform, env: NodeJS.ProcessEnv = process.env): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local'), 'service-auth');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'service-auth');
  // The XDG Base Directory Specification wants relative paths ignored.
  const cache = env['XDG_CACHE_HOME']?.startsWith('/') ? env['XDG_CACHE_HOME'] : join(homedir(), '.cache');
  return join(cache, 'service-auth');
}

/** Creates the directory if it is missing, and refuses one that others could read or write, or that cannot do what is needed. */
export async function prepareDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await lstat(directory);
  if (!found.isDirectory()) throw storeError('ENOTDIR', `${directory} is a symbolic link or no directory.`);
  // Windows knows neither.
  if (process.getuid && found.uid !== process.getuid()) {
    throw storeError('EPERM', `${directory} belongs to another user; choose a directory of your own.`);
  }
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw storeError(
      'EPERM',
      `${directory} is open to other users; run chmod 700 on it, or name a new directory in it.`,
    );
  }
  refuseNetwork(directory, (await statfs(directory)).type);
}

// By statfs(2) of Linux. A link that was made may be reported as failed there, and caches show different machines different states.
const networkTypes = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
]);

/** Throws for the type of a file system that is shared over a network. */
export function refuseNetwork(directory: string, type: number): void {
  // Node reports what does not fit into 31 bits as negative on some platforms.
  const network = networkTypes.get(type >>> 0);
  if (network === undefined) return;
  const instead = 'choose a directory on a local disk, or the Redis or PostgreSQL store for several machines';
  throw storeError('ENOTSUP', `${directory} is on ${network}; ${instead}.`);
}

/** Has the names that are in the directory on disk. Windows cannot, and need not. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

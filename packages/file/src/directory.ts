import { lstat, mkdir, open, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { errorWithAdvice } from './errors.ts';

/**
 * The directory `service-auth` in the user's cache directory: `$XDG_CACHE_HOME` or `~/.cache` on
 * Linux, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows.
 */
export function defaultDirectory(platform: string = process.platform, env: NodeJS.ProcessEnv = process.env): string {
  if (platform === 'win32') return join(env['LOCALAPPDATA'] || join(homedir(), 'AppData', 'Local'), 'service-auth');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'service-auth');
  // The XDG Base Directory Specification says to ignore relative paths.
  const cache = env['XDG_CACHE_HOME']?.startsWith('/') ? env['XDG_CACHE_HOME'] : join(homedir(), '.cache');
  return join(cache, 'service-auth');
}

/**
 * Creates the directory if it is missing. Rejects for a directory that other users can read or
 * write, and for one on a network file system.
 */
export async function prepareDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const found = await lstat(directory);
  if (!found.isDirectory()) throw errorWithAdvice('ENOTDIR', `${directory} is a symbolic link or no directory.`);
  // Windows has neither user ids nor modes.
  if (process.getuid && found.uid !== process.getuid()) {
    throw errorWithAdvice('EPERM', `${directory} belongs to another user; choose a directory of your own.`);
  }
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw errorWithAdvice(
      'EPERM',
      `${directory} is open to other users; run chmod 700 on it, or name a new directory in it.`,
    );
  }
  refuseNetwork(directory, (await statfs(directory)).type);
}

// Types of statfs(2) on Linux. These file systems may report the failure of a link that was made,
// and their caches show machines different states.
const networkTypes = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'SMB'],
  [0xfe534d42, 'SMB'],
]);

/** Throws if this type of file system is shared over a network. */
export function refuseNetwork(directory: string, type: number): void {
  // On some platforms Node reports types above 31 bits as negative numbers.
  const network = networkTypes.get(type >>> 0);
  if (network === undefined) return;
  const instead = 'choose a directory on a local disk, or the Redis or PostgreSQL store for several machines';
  throw errorWithAdvice('ENOTSUP', `${directory} is on ${network}; ${instead}.`);
}

/** Writes the names in the directory to disk. Windows cannot do this and does not need it. */
export async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

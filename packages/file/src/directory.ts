import { lstat, mkdir, statfs } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

/**
 * Where the platform keeps what can be made again: `$XDG_CACHE_HOME` or `~/.cache` on Linux, `~/Library/Caches` on macOS, `%LOCALAPPDATA%` on Windows;
 * in it, `service-auth`.
 */
export function defaultDirectory(): string {
  const { env, platform } = process;
  if (platform === 'win32') return join(env['LOCALAPPDATA'] ?? join(homedir(), 'AppData', 'Local'), 'service-auth');
  if (platform === 'darwin') return join(homedir(), 'Library', 'Caches', 'service-auth');
  // The specification wants relative paths ignored.
  const cache = env['XDG_CACHE_HOME']?.startsWith('/') ? env['XDG_CACHE_HOME'] : join(homedir(), '.cache');
  return join(cache, 'service-auth');
}

/** An error that says what to do; core passes its code on. */
export function storeError(code: string, message: string): Error {
  return Object.assign(new Error(`[service-auth/file] ${message}`), { code });
}

const nfs = 0x6969;

/** Creates the directory if it is missing, and refuses one that others could read or write, or that cannot do what is needed. */
export async function prepareDirectory(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  await checkDirectory(directory);
  // On NFS a link that was made may be reported as failed, and caches show different processes different states.
  if ((await statfs(directory)).type === nfs) {
    throw storeError(
      'ENOTSUP',
      `${directory} is on NFS; choose a directory on a local disk, or the Redis or PostgreSQL store.`,
    );
  }
}

/** Whether the directory is there. Throws if it is not one of ours. */
export async function checkDirectory(directory: string): Promise<boolean> {
  const found = await lstat(directory).catch((error) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (!found) return false;
  if (!found.isDirectory()) throw storeError('ENOTDIR', `${directory} is a symbolic link or no directory.`);
  // Windows knows neither.
  if (process.getuid && found.uid !== process.getuid()) {
    throw storeError('EPERM', `${directory} belongs to another user; choose another directory.`);
  }
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    throw storeError('EPERM', `${directory} is open to other users; run chmod 700 on it.`);
  }
  return true;
}

import { randomUUID } from 'node:crypto';
import { constants, link, open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { storeError } from './directory.ts';

const temporary = /^t\.[\w-]+$/;
const orphanedAfterMs = 3_600_000;

/** Whether a rejection is that of a system call with this code. */
export function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(String((error as { code?: unknown } | undefined)?.code));
}

/**
 * Makes a file with this content, complete and on disk, unless there is one of that name: false. A hard link either is there or is not, whoever else tries
 * and wherever a process dies; what is left then is a temporary file that nobody reads.
 */
export async function writeOnce(directory: string, file: string, content: string): Promise<boolean> {
  const unfinished = join(directory, `t.${randomUUID()}`);
  // Windows has no O_NOFOLLOW; O_EXCL alone follows no link either.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(unfinished, flags, 0o600);
  try {
    await handle.writeFile(content);
    await handle.sync();
    await handle.close();
    await link(unfinished, file);
    await syncDirectory(directory);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    if (isCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK')) {
      throw storeError(
        'ENOTSUP',
        `the file system of ${directory} has no hard links; choose a directory on another one.`,
      );
    }
    throw error;
  } finally {
    await handle.close().catch(() => {});
    await unlink(unfinished).catch(() => {});
  }
}

/** The names are on disk as well. Windows cannot and need not. */
async function syncDirectory(directory: string): Promise<void> {
  if (process.platform === 'win32') return;
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Removes files; one that is gone already is no matter, and one that cannot be removed will be tried again. */
export async function removeAll(directory: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => unlink(join(directory, name)).catch(() => {})));
}

/** Removes what processes left behind that died while they wrote. */
export async function removeOrphans(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => temporary.test(name));
  const now = Date.now();
  for (const name of names) {
    const found = await stat(join(directory, name)).catch(() => undefined);
    if (found && now - found.mtimeMs > orphanedAfterMs) await removeAll(directory, [name]);
  }
}

import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, link, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { errorWithAdvice, isCode } from './errors.ts';

const temporary = /^t\.[\w-]+$/;
const orphanedAfterMs = 3_600_000;

/**
 * Creates a complete file with this content on disk. Returns false if the name exists already. The
 * hard link makes this one atomic step, even if other processes do the same or this process dies;
 * then it leaves only a temporary file that is never read.
 */
export function writeOnce(directory: string, name: string, content: string): Promise<boolean> {
  const fill = async (file: FileHandle) => {
    await file.writeFile(content);
    await file.sync();
  };
  return withNewFile(directory, fill, (unfinished) => linkOnce(unfinished, join(directory, name), directory));
}

/**
 * Creates or replaces a file in one step. `contentAt` gets the time at which the file system
 * created the file. Without a name the file is removed again. The file is not synced, because it is
 * useless after a crash of the machine.
 */
export async function writeStamped(
  directory: string,
  name: string | undefined,
  contentAt: (fileSystemTime: number) => string,
): Promise<void> {
  const fill = async (file: FileHandle) => {
    const { mtimeMs } = await file.stat();
    await file.writeFile(contentAt(mtimeMs));
  };
  await withNewFile(directory, fill, async (unfinished) => {
    if (name !== undefined) await rename(unfinished, join(directory, name));
  });
}

async function withNewFile<Result>(
  directory: string,
  fill: (file: FileHandle) => Promise<void>,
  use: (path: string) => Promise<Result>,
): Promise<Result> {
  const unfinished = join(directory, `t.${randomUUID()}`);
  // Windows has no O_NOFOLLOW, but O_EXCL alone does not follow links either.
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(unfinished, flags, 0o600);
  try {
    try {
      await fill(handle);
    } finally {
      await handle.close();
    }
    return await use(unfinished);
  } finally {
    await unlink(unfinished).catch(() => {});
  }
}

async function linkOnce(from: string, to: string, directory: string): Promise<boolean> {
  try {
    await link(from, to);
    return true;
  } catch (error) {
    if (isCode(error, 'EEXIST')) return false;
    throw isCode(error, 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK') ? noLinks(directory) : error;
  }
}

function noLinks(directory: string): Error {
  return errorWithAdvice(
    'ENOTSUP',
    `the file system of ${directory} has no hard links; choose a directory on another one.`,
  );
}

// Windows has neither flag. Without O_NONBLOCK, opening a pipe in the place of a file would block
// one of Node's few threads for files.
const readOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The text of a file; undefined if the file is missing. Does not follow a symbolic link. */
export async function readText(directory: string, name: string): Promise<string | undefined> {
  try {
    const handle = await open(join(directory, name), readOnly);
    try {
      return await handle.readFile('utf8');
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

/**
 * Removes files. Ignores missing files, and files that cannot be removed now: a later call tries
 * again.
 */
export async function removeAll(directory: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => unlink(join(directory, name)).catch(() => {})));
}

/**
 * Removes the temporary files of processes that died while writing. The clock of the file system
 * decides their age: the directory was changed just now.
 */
export async function removeOrphans(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => temporary.test(name));
  if (names.length === 0) return;
  const { mtimeMs: now } = await stat(directory);
  for (const name of names) {
    const found = await stat(join(directory, name)).catch(() => undefined);
    if (found && now - found.mtimeMs > orphanedAfterMs) await removeAll(directory, [name]);
  }
}

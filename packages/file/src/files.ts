import { randomUUID } from 'node:crypto';
import { constants, type FileHandle, link, open, readdir, rename, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { isCode, storeError } from './errors.ts';

const temporary = /^t\.[\w-]+$/;
const orphanedAfterMs = 3_600_000;

/**
 * Makes a file with this content, complete and on disk, unless there is one of that name: false. A hard link either is there or is not, whoever else
 * tries and wherever a process dies; what is left then is a temporary file that nobody reads.
 */
export function writeOnce(directory: string, name: string, content: string): Promise<boolean> {
  const fill = async (file: FileHandle) => {
    await file.writeFile(content);
    await file.sync();
  };
  return withNewFile(directory, fill, (unfinished) => linkOnce(unfinished, join(directory, name), directory));
}

/**
 * Makes or replaces a file, in one step. Its content is made of the time at which the file system says that the file was made; without a name that is all, and nothing
 * is kept. Not synced: after a crash of the machine nobody needs it.
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
  // Windows has no O_NOFOLLOW; O_EXCL alone follows no link either.
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
  return storeError('ENOTSUP', `the file system of ${directory} has no hard links; choose a directory on another one.`);
}

// Windows has neither. Without O_NONBLOCK a pipe in the place of a file would be waited for, in one of the few threads that Node has for files.
const readOnly = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** The text of a file; undefined if there is none. A symbolic link is not followed. */
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

/** Removes files; one that is gone already is no matter, and one that cannot be removed will be tried again. */
export async function removeAll(directory: string, names: readonly string[]): Promise<void> {
  await Promise.all(names.map((name) => unlink(join(directory, name)).catch(() => {})));
}

/** Removes what processes left behind that died while they wrote. What is old is old by the clock of the file system: the directory was changed just now. */
export async function removeOrphans(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => temporary.test(name));
  if (names.length === 0) return;
  const { mtimeMs: now } = await stat(directory);
  for (const name of names) {
    const found = await stat(join(directory, name)).catch(() => undefined);
    if (found && now - found.mtimeMs > orphanedAfterMs) await removeAll(directory, [name]);
  }
}

import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { threadId } from 'node:worker_threads';

/** Runs a program to its end and returns what it printed. The error of one that fails has all that it printed, too. */
export async function run(command: string, args: readonly string[], options: object = {}): Promise<string> {
  const executed = promisify(execFile)(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options });
  const { stdout } = await executed.catch((error) => {
    throw new Error(`${error.stdout}${error.message}`);
  });
  return stdout.toString();
}

/** The last output of a failed program. */
export function lastLine(error: unknown): string {
  return (error instanceof Error ? error.message : '').trim().split('\n').at(-1) ?? '';
}

export function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of the first of these programs that PATH contains. */
export function onPath(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

// A package of 20 MB over a slow connection.
const maxFillMs = 300_000;

/** The repository has one cache for all packages. */
const cache = fileURLToPath(new URL('../../../../node_modules/.cache/servers', import.meta.url));

/** A folder of the repository's cache that `fill` fills once, however many test files ask for it at the same time. Rejects when another process does not fill it in time. */
export async function cachedFolder(
  name: string,
  fill: (folder: string) => Promise<void>,
  withinMs: number = maxFillMs,
): Promise<string> {
  const folder = join(cache, name);
  if (existsSync(folder)) return folder;
  await oneAtATime(name, withinMs, async () => {
    if (existsSync(folder)) return;
    const unfinished = mkdtempSync(`${folder}-`);
    try {
      await fill(unfinished);
      if (!existsSync(folder)) renameSync(unfinished, folder);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  });
  return folder;
}

/**
 * Calls `work` while no other caller does this work, in this process or another one. The lock of a process that has ended is taken over.
 * Rejects when another caller has not finished in time.
 */
export async function oneAtATime<Result>(name: string, withinMs: number, work: () => Promise<Result>): Promise<Result> {
  const lock = join(cache, `${name}.lock`);
  mkdirSync(cache, { recursive: true });
  for (const giveUpAt = performance.now() + withinMs; !takes(lock); ) {
    if (performance.now() > giveUpAt) {
      throw new Error(`another process has not finished ${name} in time; if none is at it, delete ${lock}`);
    }
    await delay(100);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { force: true });
  }
}

function takes(lock: string): boolean {
  const own = `${lock}.${process.pid}.${threadId}`;
  try {
    // A link to a file that has the id already: no process ever sees a lock without one.
    writeFileSync(own, `${process.pid}`);
    linkSync(own, lock);
    return true;
  } catch {
    if (!isRunning(holderOf(lock))) rmSync(lock, { force: true });
    return false;
  } finally {
    rmSync(own, { force: true });
  }
}

function holderOf(lock: string): number {
  try {
    return Number(readFileSync(lock, 'utf8'));
  } catch {
    return 0;
  }
}

function isRunning(pid: number): boolean {
  try {
    // 0 would be this process and its group.
    return pid > 0 && process.kill(pid, 0);
  } catch {
    return false;
  }
}

import { execFile } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
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

/** Runs a program to its end and returns what it printed. */
export async function run(command: string, args: readonly string[], options: object = {}): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, { encoding: 'utf8', maxBuffer: 2 ** 26, ...options });
  return stdout.toString();
}

/** What a program that failed said last. */
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

/** Where the first of these programs is, of those that PATH knows. */
export function onPath(...names: string[]): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
}

/** Of the repository, in place of one for each package. */
const cache = fileURLToPath(new URL('../../../../node_modules/.cache/servers', import.meta.url));

/** A folder of the repository's cache that `fill` fills once, however many test files ask for it at the same time. */
export async function cachedFolder(name: string, fill: (folder: string) => Promise<void>): Promise<string> {
  const folder = join(cache, name);
  const lock = `${folder}.lock`;
  mkdirSync(cache, { recursive: true });
  while (!existsSync(folder)) {
    if (!takes(lock)) {
      await delay(100);
      continue;
    }
    const unfinished = mkdtempSync(`${folder}-`);
    try {
      await fill(unfinished);
      if (!existsSync(folder)) renameSync(unfinished, folder);
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
      rmSync(lock, { force: true });
    }
  }
  return folder;
}

function takes(lock: string): boolean {
  try {
    writeFileSync(lock, `${process.pid}`, { flag: 'wx' });
    return true;
  } catch {
    if (!isRunning(Number(readFileSync(lock, { encoding: 'utf8', flag: 'a+' })))) rmSync(lock, { force: true });
    return false;
  }
}

/** An empty lock belongs to a process that is just about to write its id. */
function isRunning(pid: number): boolean {
  try {
    return pid === 0 || process.kill(pid, 0);
  } catch {
    return false;
  }
}

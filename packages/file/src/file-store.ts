import { createHash } from 'node:crypto';
import { constants, open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Store, StoreChange } from '@service-auth/core';
import { machineTime } from './boot-clock.ts';
import { checkDirectory, defaultDirectory, prepareDirectory } from './directory.ts';
import { isCode, removeAll, removeOrphans, writeOnce } from './files.ts';

/** One state of a record: a file that is never changed. */
interface State {
  readonly number: number;
  readonly version: string;
  /** The version that it replaced; empty for the first. */
  readonly replaced: string;
  readonly record: string;
}

const header = 'service-auth-file/1';
/** States that a reader may still be about to read, or a writer may have to look at. */
const keptStates = 4;

/**
 * Keeps records in a directory of this machine, for all processes of one user: command-line tools, cron jobs, workers, a developer's watch mode.
 * `directory`: created with mode 0700 if missing, on a local disk with hard links. Default: `service-auth` in the user's cache directory.
 * Survives crashes of processes and of the machine. Both methods reject when the directory cannot be used, with what to do in the message.
 */
export function fileStore(directory: string = defaultDirectory()): Store {
  let prepared: Promise<void> | undefined;

  async function newest(key: string): Promise<State | undefined> {
    for (;;) {
      const [number] = await numbersOf(directory, key);
      if (number === undefined) return undefined;
      const state = await readState(directory, key, number);
      // Others have gone on so far meanwhile that it was removed.
      if (state) return state;
    }
  }

  /** The state was linked; but is it the newest, or did it fill the gap of one that was removed long ago? */
  async function isLinkedOn(key: string, { number, version }: State): Promise<boolean> {
    const numbers = await numbersOf(directory, key);
    if (numbers[0] === number) return true;
    const next = numbers.includes(number + 1) ? await readState(directory, key, number + 1) : undefined;
    if (next) return next.replaced === version;
    throw new Error('[service-auth/file] others wrote so much meanwhile that the outcome is unknown');
  }

  async function replace(key: string, { expected, version, record }: StoreChange): Promise<boolean> {
    const present = await newest(key);
    if (present?.version === version) return true;
    if (present?.version !== expected) return false;
    const state = { number: (present?.number ?? 0) + 1, version, replaced: expected ?? '', record };
    const linked = await writeOnce(directory, join(directory, nameOf(key, state.number)), encode(state));
    // Somebody else was faster; or it is this very change, executed twice at once.
    if (!linked) return (await newest(key))?.version === version;
    return isLinkedOn(key, state);
  }

  return {
    durability: 'durable',
    async load(key, { signal } = {}) {
      signal?.throwIfAborted();
      const state = (await checkDirectory(directory)) ? await newest(key) : undefined;
      if (!state) await prepareDirectory(directory);
      const now = await machineTime(directory);
      return state ? { record: state.record, version: state.version, now } : { now };
    },
    async swap(key, change, { signal } = {}) {
      signal?.throwIfAborted();
      prepared ??= prepareDirectory(directory).then(() => removeOrphans(directory));
      await prepared.catch((error) => {
        prepared = undefined;
        throw error;
      });
      if (!(await checkDirectory(directory))) await prepareDirectory(directory);
      const swapped = await replace(key, change);
      if (swapped)
        await removeAll(
          directory,
          (await numbersOf(directory, key)).slice(keptStates).map((number) => nameOf(key, number)),
        );
      return { swapped, now: await machineTime(directory) };
    },
  };
}

/** Keys may contain anything, names of files may not, and some file systems do not tell upper from lower case. */
function prefixOf(key: string): string {
  return `${createHash('sha256').update(key).digest('hex').slice(0, 40)}.`;
}

function nameOf(key: string, number: number): string {
  return `${prefixOf(key)}${String(number).padStart(12, '0')}`;
}

/** The numbers of the states that are there, the newest first. */
async function numbersOf(directory: string, key: string): Promise<number[]> {
  const prefix = prefixOf(key);
  const names = (await readdir(directory)).filter((name) => name.startsWith(prefix));
  return names.map((name) => Number(name.slice(prefix.length))).sort((a, b) => b - a);
}

async function readState(directory: string, key: string, number: number): Promise<State | undefined> {
  try {
    const handle = await open(join(directory, nameOf(key, number)), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    try {
      return decode(await handle.readFile('utf8'), number);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}

function encode({ version, replaced, record }: State): string {
  const content = JSON.stringify([version, replaced, record]);
  return `${header} ${digest(content)} ${content}`;
}

function decode(text: string, number: number): State {
  const [found, sum, ...rest] = text.split(' ');
  const content = rest.join(' ');
  // A damaged file is handed over as it is: core finds that it is no record, says so, and overwrites nothing.
  if (found !== header || sum !== digest(content)) return { number, version: digest(text), replaced: '', record: text };
  const [version, replaced, record] = JSON.parse(content) as [string, string, string];
  return { number, version, replaced, record };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

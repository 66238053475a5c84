import { resolve } from 'node:path';
import type { Store, StoreChange } from '@service-auth/core';
import { onePerConnection } from '@service-auth/core/store';
import { clockFiles } from './clock-files.ts';
import { defaultDirectory, prepareDirectory, syncDirectory } from './directory.ts';
import { directoryTime } from './directory-clock.ts';
import { errorWithAdvice, explained } from './errors.ts';
import { kernelClock } from './kernel-clock.ts';
import { openStates, type State, type States } from './states.ts';

// The machine is the connection.
const storeOf = onePerConnection((_: object, path) => createStore(path));

/**
 * Keeps records in a directory of this machine, for all processes of one user: command-line tools,
 * cron jobs, workers, a developer's watch mode. `directory` must be on a local disk with hard
 * links; it is created with mode 0700 if it is missing. Default: `service-auth` in the user's cache
 * directory. The records survive crashes of processes and of the machine. Both methods reject if
 * the directory cannot be used; the message says what to do. The same directory gives the same
 * store.
 * @throws TypeError if `directory` is no path: an empty string, an address such as
 * `file:/var/lib/orders`, or one that begins with `~/`
 */
export function fileStore(directory: string = defaultDirectory()): Store {
  // An environment variable that is not set must not select the working directory.
  if (typeof directory !== 'string' || directory === '') {
    throw new TypeError('[service-auth/file] fileStore(directory) takes the path of a directory, or nothing.');
  }
  // Each working directory would have a store of its own.
  if (/^file:|^~[/\\]|\0/i.test(directory)) {
    throw new TypeError(
      '[service-auth/file] fileStore(directory) takes a path: no address such as file:/var/lib/orders, no ~ for the home directory, and no null character.',
    );
  }
  // Resolve the path now, because a process may change its working directory later.
  return storeOf(fileStore, resolve(directory));
}

function createStore(path: string): Store {
  const time = (present: State | undefined) => directoryTime(kernelClock, clockFiles(path), present?.at);

  async function use<Result>(signal: AbortSignal | undefined, run: () => Promise<Result>): Promise<Result> {
    signal?.throwIfAborted();
    try {
      // Check the directory at every operation: it may have been deleted or replaced.
      await prepareDirectory(path);
      return await run();
    } catch (error) {
      throw explained(error, path);
    }
  }

  return {
    durability: 'durable',
    name: `the directory ${path}`,
    load: (key, { signal } = {}) =>
      use(signal, async () => {
        const state = await openStates(path, key).newest();
        const now = await time(state);
        return state ? { record: state.record, version: state.version, now } : { now };
      }),
    swap: (key, change, { signal } = {}) =>
      use(signal, async () => {
        const states = openStates(path, key);
        const present = await states.newest();
        const now = await time(present);
        signal?.throwIfAborted();
        const swapped = await replace(states, present, change, now);
        if (swapped) {
          await syncDirectory(path);
          // Ignore the error: the next swap removes the remaining files.
          await states.tidy().catch(() => {});
        }
        return { swapped, now };
      }),
  };
}

/**
 * Compares and swaps without a lock: only one process can link the file with the next number. A
 * process that dies could leave a lock behind.
 */
async function replace(
  states: States,
  present: State | undefined,
  { expected, version, record }: StoreChange,
  now: number,
): Promise<boolean> {
  if (present?.version === version) return true;
  if (present?.version !== expected) return false;
  const next: State = { number: (present?.number ?? 0) + 1, version, replaced: expected, at: now, record };
  if (await states.add(next)) return isInPlace(states, next);
  // Another process linked this number first, or this same change ran twice at once.
  return (await states.newest())?.version === version;
}

/**
 * Checks after the link that the state is the newest: it may fill the gap of a state that was
 * removed while this process was delayed.
 */
async function isInPlace(states: States, { number, version }: State): Promise<boolean> {
  const [newest] = await states.numbers();
  if (newest === number) return true;
  const following = await states.read(number + 1);
  if (following) return following.replaced === version;
  throw errorWithAdvice(
    'EAGAIN',
    'too many concurrent writes, so this one may or may not have succeeded; load the record again.',
  );
}

import { AsyncLocalStorage } from 'node:async_hooks';
import type * as FileSystem from 'node:fs/promises';

type Call = (...given: never[]) => Promise<unknown>;

/** Runs around every call of the file system within {@link watched}. The call itself is real. */
export type Watch = (name: string, run: () => Promise<unknown>) => Promise<unknown>;

const watching = new AsyncLocalStorage<Watch>();
const opened = new Set<FileSystem.FileHandle>();

/** Closes what a watch kept from being closed. */
export async function closeAll(): Promise<void> {
  for (const handle of opened) await handle.close().catch(() => {});
  opened.clear();
}

/** Runs with `watch` around every call; what runs beside it is not watched. */
export function watched<Result>(watch: Watch, run: () => Promise<Result>): Promise<Result> {
  return watching.run(watch, run);
}

function watchedCall(name: string, call: Call): Call {
  return async (...given) => {
    const run = () => call(...given);
    return (watching.getStore() ?? ((_, run) => run()))(name, run);
  };
}

const handleCalls = ['writeFile', 'readFile', 'stat', 'sync', 'close'] as const;
const calls = ['mkdir', 'lstat', 'statfs', 'readdir', 'readFile', 'link', 'rename', 'unlink', 'stat'] as const;

/** The file system, for `vi.mock('node:fs/promises', watchedFileSystem)`. */
export async function watchedFileSystem(importOriginal: () => Promise<typeof FileSystem>): Promise<object> {
  const real = await importOriginal();
  const open = watchedCall('open', async (...given: Parameters<typeof real.open>) => {
    const handle = await real.open(...given);
    opened.add(handle);
    return handle;
  }) as typeof real.open;
  return {
    ...real,
    ...Object.fromEntries(calls.map((name) => [name, watchedCall(name, real[name] as Call)])),
    async open(...given: Parameters<typeof real.open>) {
      const handle = await open(...given);
      return Object.fromEntries(
        handleCalls.map((name) => [name, watchedCall(name, (handle[name] as Call).bind(handle))]),
      );
    },
  };
}

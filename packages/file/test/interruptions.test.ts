import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm, unlink, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Store, StoreChange } from '@service-auth/core';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fileStore } from '../src/index.ts';
import { closeAll, type Watch, watched } from './watched-file-system.ts';

vi.mock('node:fs/promises', async (importOriginal) => {
  const { watchedFileSystem } = await import('./watched-file-system.ts');
  return watchedFileSystem(importOriginal);
});

let directory: string;
let store: Store;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-auth-interruptions-'));
  store = fileStore(directory);
});
afterEach(async () => {
  await closeAll();
  await rm(directory, { recursive: true });
});

async function nextChange(): Promise<StoreChange> {
  const { version } = await store.load('key');
  return { expected: version, version: randomUUID(), record: `a record ${randomUUID()}` };
}

async function write(times = 1): Promise<StoreChange> {
  const change = await nextChange();
  expect((await store.swap('key', change)).swapped).toBe(true);
  return times > 1 ? write(times - 1) : change;
}

function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: as the system would say it`), { code, syscall: 'any' });
}

/** The number of calls of the file system during `run`. */
async function countCalls(run: () => Promise<unknown>): Promise<number> {
  let count = 0;
  await watched((_, call) => {
    count += 1;
    return call();
  }, run);
  return count;
}

/** Something that happens at the call of that number and, where `lasting`, at every one after it. */
function at(number: number, happens: Watch, lasting = false): Watch {
  let count = 0;
  return (name, run) => {
    count += 1;
    return count === number || (lasting && count > number) ? happens(name, run) : run();
  };
}

const swapCalls = () => countCalls(() => write());

describe.each(['ENOSPC', 'EIO', 'EACCES'])('%s, at whichever call it comes', (code) => {
  const failures: Record<string, Watch> = {
    'instead of the call': async () => {
      throw systemError(code);
    },
    'after the call was done': async (_, run) => {
      await run();
      throw systemError(code);
    },
  };

  test.each(Object.keys(failures))('a swap rejects or did what it says: %s', async (when) => {
    await write(20);
    const total = await swapCalls();
    let rejected = 0;
    for (let number = 1; number <= total; number += 1) {
      const before = await store.load('key');
      const change = await nextChange();
      const outcome = await watched(at(number, failures[when] as Watch), () => store.swap('key', change)).catch(
        (error: unknown) => {
          expect(error).toMatchObject({ code, message: expect.stringContaining('[service-auth/file]') });
          rejected += 1;
        },
      );
      const { record } = await store.load('key');
      if (outcome) expect(record).toBe(outcome.swapped ? change.record : before.record);
      else expect([before.record, change.record]).toContain(record);
    }
    expect(rejected).toBeGreaterThan(total / 2);
  });

  test.each(Object.keys(failures))('a load rejects or shows the record: %s', async (when) => {
    const { record } = await write();
    const total = await countCalls(() => store.load('key'));
    for (let number = 1; number <= total; number += 1) {
      await watched(at(number, failures[when] as Watch), () => store.load('key')).then(
        (snapshot) => expect(snapshot.record).toBe(record),
        (error) => expect(error).toMatchObject({ code }),
      );
    }
  });
});

describe('a process that dies', () => {
  const forEver = new Promise<never>(() => {});

  test('leaves the record as it was or as it was to be, at whichever call', async () => {
    await write(20);
    const total = await swapCalls();
    for (let number = 1; number <= total; number += 1) {
      const before = await store.load('key');
      const change = await nextChange();
      await new Promise<void>((resolve) => {
        const dies: Watch = () => {
          resolve();
          return forEver;
        };
        // It may need fewer calls this time, and live.
        void watched(at(number, dies, true), () => store.swap('key', change)).then(() => resolve());
      });
      expect([before.record, change.record]).toContain((await store.load('key')).record);
      await write();
    }
  });

  test('leaves temporary files that are removed after an hour, and not before', async () => {
    await write();
    const change = await nextChange();
    await new Promise<void>((resolve) => {
      const diesAtLink: Watch = (name, run) => {
        if (name !== 'link') return run();
        resolve();
        return forEver;
      };
      void watched(diesAtLink, () => store.swap('key', change));
    });
    const temporaries = async () => (await readdir(directory)).filter((name) => name.startsWith('t.'));
    const [orphan = ''] = await temporaries();
    await write();
    expect(await temporaries()).toEqual([orphan]);
    const old = Date.now() / 1_000 - 3_601;
    await utimes(join(directory, orphan), old, old);
    await write();
    expect(await temporaries()).toEqual([]);
  });
});

describe('a process that is delayed', () => {
  /** Executes `change`, and `meanwhile` just before or after its call of that name. */
  function delayedAt(call: string, moment: 'before' | 'after', change: StoreChange, meanwhile: () => Promise<unknown>) {
    return watched(
      async (name, run) => {
        if (name !== call) return run();
        if (moment === 'before') await meanwhile();
        const result = await run();
        if (moment === 'after') await meanwhile();
        return result;
      },
      () => store.swap('key', change),
    );
  }

  // Within `watched`, so that it would be watched too: another process would not be.
  const unwatched = (run: () => Promise<unknown>) => () => watched((_, run) => run(), run);

  test.each([1, 5, 40])('before it links its state finds out that others came first: %i of them', async (others) => {
    await write();
    const change = await nextChange();
    const meanwhile = unwatched(() => write(others));
    await delayedAt('link', 'before', change, meanwhile).then(
      ({ swapped }) => expect(swapped).toBe(false),
      (error) => expect(error).toMatchObject({ code: 'EAGAIN' }),
    );
    expect((await store.load('key')).record).not.toBe(change.record);
  });

  test.each([1, 5, 10])('after it linked its state knows that others built on it: %i of them', async (others) => {
    await write();
    const change = await nextChange();
    const { swapped } = await delayedAt(
      'link',
      'after',
      change,
      unwatched(() => write(others)),
    );
    expect(swapped).toBe(true);
  });

  test('for an unknown time is reported as such', async () => {
    await write();
    const change = await nextChange();
    const meanwhile = unwatched(() => write(40));
    await expect(delayedAt('link', 'after', change, meanwhile)).rejects.toMatchObject({ code: 'EAGAIN' });
  });

  test('while its temporary file is removed rejects', async () => {
    await write();
    const change = await nextChange();
    const meanwhile = unwatched(async () => {
      for (const name of await readdir(directory)) if (name.startsWith('t.')) await unlink(join(directory, name));
    });
    await expect(delayedAt('link', 'before', change, meanwhile)).rejects.toMatchObject({ code: 'ENOENT' });
    expect((await store.load('key')).version).toBe(change.expected);
  });

  test('between finding the newest state and reading it reads the newest', async () => {
    await write();
    let kept: StoreChange | undefined;
    let first = true;
    const snapshot = await watched(
      async (name, run) => {
        const result = await run();
        if (name === 'readdir' && first) {
          first = false;
          kept = (await unwatched(() => write(40))()) as StoreChange;
        }
        return result;
      },
      () => store.load('key'),
    );
    expect(snapshot.version).toBe(kept?.version);
  });
});

test('content is on disk before its name, and the name before the swap is acknowledged', async () => {
  await write();
  const order: string[] = [];
  await watched(
    (name, run) => {
      order.push(name);
      return run();
    },
    () => write(),
  );
  const written = order.slice(order.indexOf('writeFile'));
  expect(written.slice(0, 4)).toEqual(['writeFile', 'sync', 'close', 'link']);
  expect(written.slice(4)).toContain('sync');
});

test('a swap that cannot tidy up afterwards is a swap', async () => {
  await write(20);
  const change = await nextChange();
  let linked = false;
  let onDisk = false;
  const broken: Watch = async (name, run) => {
    if (onDisk) throw systemError('EIO');
    const result = await run();
    if (name === 'link') linked = true;
    if (linked && name === 'close') onDisk = true;
    return result;
  };
  expect((await watched(broken, () => store.swap('key', change))).swapped).toBe(true);
  // One number more than before, and nothing was removed.
  expect((await readdir(directory)).filter((name) => /\.\d{12}$/.test(name))).toHaveLength(17);
});

test('a file system without hard links is refused, in words', async () => {
  const change = await nextChange();
  for (const code of ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS']) {
    const without: Watch = (name, run) => (name === 'link' ? Promise.reject(systemError(code)) : run());
    await expect(watched(without, () => store.swap('key', change))).rejects.toMatchObject({
      code: 'ENOTSUP',
      message: expect.stringContaining('has no hard links'),
    });
  }
  expect((await readdir(directory)).filter((name) => !name.startsWith('clock.'))).toEqual([]);
});

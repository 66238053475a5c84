import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmod, lstat, mkdtemp, readdir, readFile, rename, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createServiceAuth, type Store } from '@service-auth/core';
import { movedByDate } from '@service-auth/test-support/store-time';
import { startTestService, storeContract } from '@service-auth/testing';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fileStore } from '../src/index.ts';

let parent: string;
let directory: string;
beforeEach(async () => {
  parent = await mkdtemp(join(tmpdir(), 'service-auth-file-'));
  directory = join(parent, 'store');
});
afterEach(() => rm(parent, { recursive: true }));

describe('the store contract', () => {
  const cases = storeContract(async () => ({
    store: fileStore(directory),
    another: async () => fileStore(directory),
    close: async () => {},
  }));
  test.each(cases)('$name', ({ run }) => run());
});

test('the same directory gives the same store, so that clients share its reads', () => {
  expect(fileStore(directory)).toBe(fileStore(join(directory, '..', 'store')));
  expect(fileStore(directory)).not.toBe(fileStore(parent));
});

test('messages name the directory', async () => {
  await using service = await startTestService();
  const { options } = service;
  const store = fileStore(directory);
  await createServiceAuth({ ...options, store }).getToken();
  const { load } = store;
  const damaged = { ...store, load: async (key: string) => ({ ...(await load(key)), record: 'damaged' }) };
  await expect(createServiceAuth({ ...options, store: damaged }).getUsage()).rejects.toThrow(
    new RegExp(`The record [0-9a-f]{40} in the directory ${directory} is damaged`),
  );
});

test('the clock of the store does not follow the Date of this process', async () => {
  expect(await movedByDate(fileStore(directory))).toBeLessThan(60_000);
});

/** Replaces the record `times` times, and returns the last one. */
async function write(store: Store, times = 1): Promise<string> {
  const { version: expected } = await store.load('key');
  const change = { expected, version: randomUUID(), record: `record ${randomUUID()}` };
  expect((await store.swap('key', change)).swapped).toBe(true);
  return times > 1 ? write(store, times - 1) : change.record;
}

async function states(): Promise<string[]> {
  return (await readdir(directory)).filter((name) => !name.startsWith('clock.')).sort();
}

describe('the directory', () => {
  test('and all in it are for this user alone, whatever the umask', async () => {
    const before = process.umask(0);
    try {
      await write(fileStore(directory));
    } finally {
      process.umask(before);
    }
    expect((await lstat(directory)).mode & 0o777).toBe(0o700);
    const names = await readdir(directory);
    expect(names.some((name) => name.startsWith('clock.'))).toBe(true);
    expect(await states()).toHaveLength(1);
    for (const name of names) expect((await lstat(join(directory, name))).mode & 0o777).toBe(0o600);
  });

  test('keeps the clocks of the sixteen latest starts of machines', async () => {
    await write(fileStore(directory));
    const clocks = async () => (await readdir(directory)).filter((name) => name.startsWith('clock.'));
    const present = await clocks();
    for (const name of present) await rm(join(directory, name));
    const former = Array.from({ length: 20 }, (_, index) => `clock.${index}`);
    for (const [index, name] of former.entries()) {
      await writeFile(join(directory, name), '0\n', { mode: 0o600 });
      await utimes(join(directory, name), index, index);
    }
    await fileStore(directory).load('key');
    const kept = [...former.slice(present.length - 16), ...present];
    expect((await clocks()).sort()).toEqual(kept.sort());
  });

  test('stays the same when the process changes its working directory', async () => {
    const before = process.cwd();
    try {
      process.chdir(parent);
      const store = fileStore('store');
      process.chdir(tmpdir());
      const record = await write(store);
      expect(await fileStore(directory).load('key')).toMatchObject({ record });
    } finally {
      process.chdir(before);
    }
  });

  test('that is deleted while the store is open contains no record, and is created again', async () => {
    const store = fileStore(directory);
    await write(store, 3);
    await rm(directory, { recursive: true });
    expect(await store.load('key')).toEqual({ now: expect.any(Number) });
    const record = await write(store);
    expect(await store.load('key')).toMatchObject({ record });
  });

  test('that is replaced by a symbolic link while the store is open is refused', async () => {
    const store = fileStore(directory);
    await write(store);
    await rename(directory, join(parent, 'elsewhere'));
    await symlink(join(parent, 'elsewhere'), directory);
    await expect(store.load('key')).rejects.toMatchObject({ code: 'ENOTDIR' });
    await expect(write(store)).rejects.toMatchObject({ code: 'ENOTDIR' });
  });

  test('that is opened to others while the store is open is refused', async () => {
    const store = fileStore(directory);
    await write(store);
    await chmod(directory, 0o711);
    await expect(store.load('key')).rejects.toMatchObject({
      code: 'EPERM',
      message: expect.stringMatching(/chmod 700/),
    });
    const options = { authUrl: 'http://127.0.0.1', audience: 'a', clientId: 'b', clientSecret: 'c' };
    await using auth = createServiceAuth({ ...options, store });
    await expect(auth.getToken()).rejects.toMatchObject({
      code: 'ERR_STORE',
      message: expect.stringMatching(/EPERM.* run chmod 700 on it/),
    });
  });

  test('keeps few states, however often the record is replaced', async () => {
    const record = await write(fileStore(directory), 40);
    expect(await states()).toHaveLength(16);
    expect(await fileStore(directory).load('key')).toMatchObject({ record });
  });

  test('may contain other files, which are not changed', async () => {
    const store = fileStore(directory);
    await write(store, 2);
    const [, newest = ''] = await states();
    const strays = [`${newest}~`, `${newest}.bak`, newest.replace(/\d+$/, '9'), '.DS_Store', 'clock', 'README'];
    for (const name of strays) await writeFile(join(directory, name), 'not ours');
    const record = await write(store, 20);
    expect(await store.load('key')).toMatchObject({ record });
    expect(await readdir(directory)).toEqual(expect.arrayContaining(strays));
  });

  test('whose newest file is a symbolic link is not read through it', async () => {
    const store = fileStore(directory);
    await write(store);
    const [state = ''] = await states();
    await rename(join(directory, state), join(parent, 'planted'));
    await symlink(join(parent, 'planted'), join(directory, state));
    await expect(store.load('key')).rejects.toMatchObject({
      code: 'ELOOP',
      message: expect.stringMatching(/symbolic link/),
    });
    await expect(write(store)).rejects.toMatchObject({ code: 'ELOOP' });
  });
});

describe('a pipe in the place of a file', () => {
  test('is taken for a damaged record, and not waited for', async () => {
    const store = fileStore(directory);
    await write(store);
    const [state = ''] = await states();
    await rm(join(directory, state));
    await promisify(execFile)('mkfifo', [join(directory, state)]);
    expect(await store.load('key')).toMatchObject({ record: '', version: expect.stringMatching(/^damaged/) });
  });
});

describe('a damaged file', () => {
  const damages: Record<string, (text: string) => string> = {
    'that is empty': () => '',
    'that ends in its first line': (text) => text.slice(0, 40),
    'that ends after its first line': (text) => text.slice(0, text.indexOf('\n') + 1),
    'that ends in the record': (text) => text.slice(0, -20),
    'with a changed letter': (text) => text.replace('record', 'recorb'),
    'of zeros, as a crash of the machine may leave': (text) => '\0'.repeat(text.length),
    'of another format': (text) => text.replace('service-auth-file/1', 'service-auth-file/2'),
  };

  test.each(Object.entries(damages))('%s is neither taken for no record nor for the one it was', async (_, damage) => {
    const store = fileStore(directory);
    const record = await write(store, 2);
    const [, newest = ''] = await states();
    const file = join(directory, newest);
    await writeFile(file, damage(await readFile(file, 'utf8')));
    const snapshot = await store.load('key');
    expect(snapshot.record).toBeDefined();
    expect(snapshot.record).not.toBe(record);
    const creating = { version: randomUUID(), record: 'first' };
    expect((await store.swap('key', creating)).swapped).toBe(false);
  });

  test.each(Object.entries(damages))('%s stops the client, and is left as it is', async (_, damage) => {
    await using service = await startTestService();
    const first = createServiceAuth({ ...service.options, store: fileStore(directory) });
    await first.getToken();
    await first.close();
    const newest = (await states()).at(-1) ?? '';
    const file = join(directory, newest);
    await writeFile(file, damage(await readFile(file, 'utf8')));
    const damaged = await readFile(file, 'utf8');

    const second = createServiceAuth({ ...service.options, store: fileStore(directory) });
    await expect(second.getToken()).rejects.toMatchObject({ code: 'ERR_STORE_INTEGRITY' });
    await second.close();
    expect(await readFile(file, 'utf8')).toBe(damaged);
    expect((await states()).at(-1)).toBe(newest);
    expect(service.counts.issued).toBe(1);
  });
});

test('clients of one directory share one token, in turn and at once, and no file contains it or the secret', async () => {
  await using service = await startTestService();
  for (let turn = 0; turn < 3; turn += 1) {
    const clients = [1, 2, 3].map(() => createServiceAuth({ ...service.options, store: fileStore(directory) }));
    const tokens = await Promise.all(clients.map((client) => client.getToken()));
    expect(new Set(tokens.map(({ id }) => id)).size).toBe(1);
    await Promise.all(clients.map((client) => client.close()));
  }
  expect(service.counts.issued).toBe(1);
  for (const name of await readdir(directory)) {
    expect(service.findSecrets(await readFile(join(directory, name), 'utf8'))).toEqual([]);
  }
});

test('a process that issues needs one load and two swaps, one that adopts one load', async () => {
  await using service = await startTestService();
  const calls: string[] = [];
  const kept = fileStore(directory);
  const store: Store = {
    durability: kept.durability,
    load(key, options) {
      calls.push('load');
      return kept.load(key, options);
    },
    swap(key, change, options) {
      calls.push('swap');
      return kept.swap(key, change, options);
    },
  };
  await using issuing = createServiceAuth({ ...service.options, store });
  await issuing.getToken();
  expect(calls.splice(0)).toEqual(['load', 'swap', 'swap']);
  await using adopting = createServiceAuth({ ...service.options, store });
  await adopting.getToken();
  expect(calls).toEqual(['load']);
  expect(service.counts.tokenRequests).toBe(1);
});

test('a directory that cannot be used is ERR_STORE with the code of the system, and nothing is sent', async () => {
  await using service = await startTestService();
  await writeFile(directory, 'a file where the directory should be');
  await using auth = createServiceAuth({ ...service.options, store: fileStore(join(directory, 'below')) });
  await expect(auth.getToken()).rejects.toMatchObject({
    code: 'ERR_STORE',
    message: expect.stringContaining('ENOTDIR'),
  });
  expect(service.counts.tokenRequests).toBe(0);
});

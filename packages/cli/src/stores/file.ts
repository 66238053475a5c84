import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Store } from '@service-auth/core';
import { defaultDirectory, fileStore } from '@service-auth/file';
import { AddressError, type OpenedStore, type OpenOptions, type Trial } from './address.ts';

/**
 * `file:` is the default directory, `file:DIRECTORY` and `file:///DIRECTORY` are others. `~/` is
 * the home directory, because no shell expands it there.
 */
export function openFileStore(address: string, { writes }: OpenOptions): OpenedStore {
  const directory = pathIn(address, 'file:DIRECTORY, or file:///DIRECTORY with three slashes') || defaultDirectory();
  const trial = (key: string): Trial => {
    const folder = join(directory, key);
    return { store: fileStore(folder), remove: () => rm(folder, { recursive: true, force: true }) };
  };
  const label = `file:${directory}`;
  const store = fileStore(directory);
  if (writes || existsSync(directory)) return { store, label, trial };
  // A command that only reads creates no directory, because that would belong to whoever runs it.
  const load: Store['load'] = async (...read) => (existsSync(directory) ? store.load(...read) : { now: Date.now() });
  return { store: { ...store, load }, label };
}

/**
 * The path in an address of the form `SCHEME:PATH` or `SCHEME:///PATH`; empty if it names none.
 * `form`: what to write instead.
 * @throws AddressError
 */
export function pathIn(address: string, form: string): string {
  const place = address.slice(address.indexOf(':') + 1);
  if (place.startsWith('//')) {
    try {
      const path = fileURLToPath(`file:${place}`);
      if (!path.includes('\0')) return path;
    } catch {}
    throw new AddressError(`must be ${form}`);
  }
  if (place === '') return '';
  return place.startsWith('~/') ? join(homedir(), place.slice(2)) : resolve(place);
}

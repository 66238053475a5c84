import { rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defaultDirectory, fileStore } from '@service-auth/file';
import { AddressError, type OpenedStore, type Trial } from './address.ts';

/** `file:` is the default directory, `file:DIRECTORY` and `file:///DIRECTORY` are others. `~/` is the home directory, because no shell expands it there. */
export function openFileStore(address: string): OpenedStore {
  const directory = directoryOf(address) || defaultDirectory();
  const trial = (key: string): Trial => {
    const folder = join(directory, key);
    return { store: fileStore(folder), remove: () => rm(folder, { recursive: true, force: true }) };
  };
  return { store: fileStore(directory), label: `file:${directory}`, trial };
}

function directoryOf(address: string): string {
  if (address.startsWith('file://')) {
    const path = pathOf(address);
    if (path === undefined || path.includes('\0')) {
      throw new AddressError('must be file:DIRECTORY, or file:///DIRECTORY with three slashes');
    }
    return path;
  }
  const path = address.slice('file:'.length);
  if (path === '') return '';
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path);
}

function pathOf(address: string): string | undefined {
  try {
    return fileURLToPath(address);
  } catch {
    return undefined;
  }
}

import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileStore } from '@service-auth/file';
import { AddressError, type OpenedStore } from './address.ts';

/** `file:` is the default directory, `file:DIRECTORY` and `file:///DIRECTORY` are others. `~/` is the home directory, because no shell expands it there. */
export function openFileStore(address: string): OpenedStore {
  const directory = directoryOf(address);
  if (directory === '') return { store: fileStore(), label: 'file: (in your cache directory)' };
  return { store: fileStore(directory), label: `file:${directory}` };
}

function directoryOf(address: string): string {
  if (address.startsWith('file://')) {
    try {
      return fileURLToPath(address);
    } catch {
      throw new AddressError('must be file:DIRECTORY, or file:///DIRECTORY with three slashes');
    }
  }
  const path = address.slice('file:'.length);
  if (path === '') return '';
  return path.startsWith('~/') ? join(homedir(), path.slice(2)) : resolve(path);
}

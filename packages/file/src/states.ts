import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mark } from './directory-clock.ts';
import { readText, removeAll, removeOrphans, writeOnce } from './files.ts';

/** One state of a record. Its file never changes. */
export interface State {
  /** The number of the replaced state plus one. */
  readonly number: number;
  readonly version: string;
  /** The version of the replaced state; undefined for the first state. */
  readonly replaced: string | undefined;
  /** The time of writing, by the store's clock, in epoch milliseconds. */
  readonly at: number;
  readonly record: string;
}

/** The states of one record. */
export interface States {
  newest(): Promise<State | undefined>;
  read(number: number): Promise<State | undefined>;
  /** The numbers of the existing states, the newest first. */
  numbers(): Promise<number[]>;
  /** Writes a state. Returns false if its number exists already. */
  add(state: State): Promise<boolean>;
  /** Removes old states and the temporary files of dead processes. */
  tidy(): Promise<void>;
}

const header = 'service-auth-file/1';
/**
 * The number of kept states. A reader may be about to read them, and a delayed writer learns from
 * them whether other processes built on its state.
 */
const keptStates = 16;

export function openStates(directory: string, key: string): States {
  // A key may contain characters that a file name cannot, and some file systems ignore case.
  const prefix = `${digest(key).slice(0, 40)}.`;
  const nameOf = (number: number): string => `${prefix}${String(number).padStart(12, '0')}`;

  async function numbers(): Promise<number[]> {
    const suffixes = (await readdir(directory))
      .filter((name) => name.startsWith(prefix))
      .map((name) => name.slice(prefix.length));
    return suffixes
      .filter((suffix) => /^\d{12}$/.test(suffix))
      .map(Number)
      .sort((a, b) => b - a);
  }

  async function read(number: number): Promise<State | undefined> {
    const text = await readText(directory, nameOf(number));
    return text === undefined ? undefined : decode(text, number);
  }

  return {
    numbers,
    read,
    async newest() {
      for (;;) {
        const [number] = await numbers();
        if (number === undefined) return undefined;
        const state = await read(number);
        // If the file is missing, other processes wrote so many states meanwhile that it was
        // removed: read again.
        if (state) return state;
      }
    },
    add: (state) => writeOnce(directory, nameOf(state.number), encode(state)),
    async tidy() {
      await removeAll(directory, (await numbers()).slice(keptStates).map(nameOf));
      await removeOrphans(directory);
    },
  };
}

/** The latest time among the newest states of all records. */
export async function latestMark(directory: string): Promise<Mark | undefined> {
  const newest = new Map<string, string>();
  // The names sort by number.
  for (const name of (await readdir(directory)).sort()) {
    const [, prefix] = /^([\da-f]{40})\.\d{12}$/.exec(name) ?? [];
    if (prefix !== undefined) newest.set(prefix, name);
  }
  let latest: Mark | undefined;
  for (const name of newest.values()) {
    const text = await readText(directory, name);
    const { at } = decode(text ?? '', 0);
    if (at > (latest?.at ?? 0)) latest = { at, writtenAt: (await stat(join(directory, name))).mtimeMs };
  }
  return latest;
}

function encode({ version, replaced, at, record }: State): string {
  // Without a prototype, so that no `toJSON` of a polluted `Object.prototype` changes the text.
  const content = JSON.stringify({ __proto__: null, version, replaced, at, record });
  return `${header} ${digest(content)}\n${content}\n`;
}

function decode(text: string, number: number): State {
  const [head, content = ''] = text.split('\n');
  // Return a damaged file unchanged: core recognises that it is no record, reports it, and does not
  // overwrite it.
  if (head !== `${header} ${digest(content)}`) {
    return { number, version: `damaged ${digest(text)}`, replaced: undefined, at: 0, record: text };
  }
  const { version, replaced, at, record } = JSON.parse(content) as Omit<State, 'number'>;
  return { number, version, replaced, at, record };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

import { createHash } from 'node:crypto';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mark } from './directory-clock.ts';
import { readText, removeAll, removeOrphans, writeOnce } from './files.ts';

/** One state of a record: a file that is never changed. */
export interface State {
  /** One more than that of the state it replaced. */
  readonly number: number;
  readonly version: string;
  /** The version that it replaced; absent for the first. */
  readonly replaced: string | undefined;
  /** When it was written, by the store's clock. */
  readonly at: number;
  readonly record: string;
}

/** The states of one record. */
export interface States {
  newest(): Promise<State | undefined>;
  read(number: number): Promise<State | undefined>;
  /** The numbers of the states that are there, the newest first. */
  numbers(): Promise<number[]>;
  /** Writes a state unless there is one of that number: false. */
  add(state: State): Promise<boolean>;
  /** Removes old states, and what dead processes left behind. */
  tidy(): Promise<void>;
}

const header = 'service-auth-file/1';
/** States that a reader may still be about to read, and by which a writer that was held up finds out whether others built on what it wrote. */
const keptStates = 16;

export function openStates(directory: string, key: string): States {
  // Keys may contain anything, names of files may not, and some file systems do not tell upper from lower case.
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
        // Without one, others have gone on so far meanwhile that it was removed: look again.
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

/** The latest time that the newest states of all records have. */
export async function latestMark(directory: string): Promise<Mark | undefined> {
  const newest = new Map<string, string>();
  // In the order of their numbers.
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
  const content = JSON.stringify({ version, replaced, at, record });
  return `${header} ${digest(content)}\n${content}\n`;
}

function decode(text: string, number: number): State {
  const [head, content = ''] = text.split('\n');
  // A damaged file is handed over as it is: core finds that it is no record, says so, and overwrites nothing.
  if (head !== `${header} ${digest(content)}`) {
    return { number, version: `damaged ${digest(text)}`, replaced: undefined, at: 0, record: text };
  }
  const { version, replaced, at, record } = JSON.parse(content) as Omit<State, 'number'>;
  return { number, version, replaced, at, record };
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

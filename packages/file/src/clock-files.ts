import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClockFiles } from './directory-clock.ts';
import { errorWithAdvice } from './errors.ts';
import { readText, removeAll, writeStamped } from './files.ts';
import { latestMark } from './states.ts';

const clockFile = /^clock\.[\w-]{1,64}(\.awake)?$/;
const keptClocks = 16;

/**
 * The lead of the store's clock over a clock that only this process reads, for each directory, in
 * milliseconds.
 */
const ofThisProcess = new Map<string, number>();

/**
 * The time information of a directory: a file for each running clock, and the states of all
 * records.
 */
export function clockFiles(directory: string): ClockFiles {
  return {
    async lead(id) {
      if (id === undefined) return ofThisProcess.get(directory);
      const name = `clock.${id}`;
      const text = await readText(directory, name);
      if (text !== undefined && !/^-?\d{1,15}\n$/.test(text)) {
        throw errorWithAdvice('EIO', `the file ${name} is damaged; delete it.`);
      }
      return text === undefined ? undefined : Number(text);
    },
    async keepLead(id, decide) {
      let lead = 0;
      const contentAt = (fileSystemTime: number) => {
        lead = decide(fileSystemTime);
        return `${lead}\n`;
      };
      await writeStamped(directory, id === undefined ? undefined : `clock.${id}`, contentAt);
      if (id === undefined) ofThisProcess.set(directory, lead);
      else await removeOldClocks(directory);
      return lead;
    },
    latest: () => latestMark(directory),
  };
}

async function removeOldClocks(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => clockFile.test(name));
  if (names.length <= keptClocks) return;
  const found = await Promise.all(
    names.map(async (name) => ({ name, at: (await stat(join(directory, name)).catch(() => undefined))?.mtimeMs ?? 0 })),
  );
  const old = found.sort((a, b) => b.at - a.at).slice(keptClocks);
  await removeAll(
    directory,
    old.map(({ name }) => name),
  );
}

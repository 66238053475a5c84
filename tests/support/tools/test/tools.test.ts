import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { cachedFolder, oneAtATime } from '../servers/tools.ts';

const name = `test-${process.pid}`;

/** The folder that a test fills, and its lock. */
async function emptyFolder(): Promise<string> {
  const folder = await cachedFolder(name, async () => {});
  rmSync(folder, { recursive: true });
  onTestFinished(() => {
    for (const path of [folder, `${folder}.lock`]) rmSync(path, { recursive: true, force: true });
  });
  return folder;
}

const write = async (folder: string) => writeFileSync(join(folder, 'content'), '');

test('a folder is filled once, however many ask for it at the same time', async () => {
  const folder = await emptyFolder();
  let filled = 0;
  const fill = async (unfinished: string) => {
    filled += 1;
    await write(unfinished);
  };
  expect(await Promise.all(Array.from({ length: 5 }, () => cachedFolder(name, fill)))).toEqual(Array(5).fill(folder));
  expect([filled, readdirSync(folder)]).toEqual([1, ['content']]);
  expect(readdirSync(dirname(folder)).filter((file) => file.startsWith(`${name}.lock`))).toEqual([]);
});

test.each([
  ['finishes', (child: ChildProcess) => child.stdin?.end()],
  ['is killed', (child: ChildProcess) => child.kill('SIGKILL')],
])(
  'work of another process is left to it until that process %s',
  async (_, end) => {
    await emptyFolder();
    const program = `
    import { text } from 'node:stream/consumers';
    import { oneAtATime } from ${JSON.stringify(new URL('../servers/tools.ts', import.meta.url))};
    await oneAtATime(${JSON.stringify(name)}, 60_000, () => {
      process.stdout.write('begun');
      return text(process.stdin);
    });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program]);
    onTestFinished(() => void child.kill('SIGKILL'));
    await once(child.stdout, 'data');
    await expect(oneAtATime(name, 0, async () => 'done')).rejects.toThrow('another process has not finished');
    end(child);
    await once(child, 'close');
    expect(await oneAtATime(name, 60_000, async () => 'done')).toBe('done');
  },
  60_000,
);

test('work that fails leaves no lock behind', async () => {
  await emptyFolder();
  await expect(oneAtATime(name, 0, () => Promise.reject(new Error('it failed')))).rejects.toThrow('it failed');
  expect(await oneAtATime(name, 0, async () => 'done')).toBe('done');
});

test.each([
  ['is empty', ''],
  ['a process left behind that has ended', '4194304'],
])('a lock that %s blocks no process', async (_, content) => {
  const folder = await emptyFolder();
  writeFileSync(`${folder}.lock`, content);
  expect(await cachedFolder(name, write)).toBe(folder);
});

test('no process waits without limit for another one that fills the folder', async () => {
  const folder = await emptyFolder();
  writeFileSync(`${folder}.lock`, `${process.pid}`);
  await expect(cachedFolder(name, write, 0)).rejects.toThrow(`if none is at it, delete ${folder}.lock`);
});

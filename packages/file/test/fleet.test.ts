import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { fileStore } from '../src/index.ts';

const contender = fileURLToPath(new URL('contender.ts', import.meta.url));
const limit = 150;
const processes = 8;

let directory: string;
let log: string;
const running = new Set<ChildProcess>();

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-auth-fleet-'));
  log = join(directory, 'log');
  await writeFile(log, '');
});
afterEach(async () => {
  for (const child of running) child.kill('SIGKILL');
  await rm(directory, { recursive: true });
});

/** Numbers from 0 to below `bound` that are the same in every run. */
function randomNumbers(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

/** Starts a contender that `onGrant` hears of. Resolves when it is gone. */
async function contend(onGrant: (child: ChildProcess) => void): Promise<void> {
  const child = fork(contender, [join(directory, 'store'), log, String(limit)], {
    execArgv: ['--conditions=@service-auth/source'],
  });
  running.add(child);
  child.on('message', () => onGrant(child));
  const [code, signal] = await once(child, 'exit');
  running.delete(child);
  if (signal === 'SIGKILL') return contend(onGrant);
  expect(code).toBe(0);
}

test('processes that are killed and stopped at any moment never grant more than the limit, and lose nothing', async () => {
  const random = randomNumbers(150);
  const stopped: ChildProcess[] = [];
  const counts = { issued: 0, kills: 0, stops: 0 };

  function disturb(): void {
    counts.issued += 1;
    const awake = [...running].filter((child) => !stopped.includes(child));
    const victim = awake[random(awake.length)];
    // Each is stopped while others write more often than states are kept, and four are always awake.
    if (counts.issued % 5 === 0 && victim) {
      stopped.push(victim);
      counts.stops += Number(victim.kill('SIGSTOP'));
    } else if (counts.issued % 7 === 0 && victim) {
      counts.kills += Number(victim.kill('SIGKILL'));
    }
    if (stopped.length > 4 || counts.issued > limit - 30) stopped.shift()?.kill('SIGCONT');
  }
  await Promise.all(Array.from({ length: processes }, () => contend(disturb)));

  const { record } = await fileStore(join(directory, 'store')).load('fleet');
  const kept: string[] = JSON.parse(record ?? '[]');
  const granted = (await readFile(log, 'utf8')).split('\n').filter((id) => id !== '');
  expect(kept).toHaveLength(limit);
  expect(new Set(kept).size).toBe(limit);
  expect(new Set(granted).size).toBe(granted.length);
  expect(granted.filter((id) => !kept.includes(id))).toEqual([]);
  // The run was what it says it is.
  expect(counts.kills).toBeGreaterThan(10);
  expect(counts.stops).toBeGreaterThan(20);
  expect(granted.length).toBeGreaterThan(limit - counts.kills - 1);
}, 60_000);

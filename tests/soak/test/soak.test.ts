import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createTestClock } from '@service-auth/testing';
import { describe, expect, test } from 'vitest';
import { exercises } from '../exercises.ts';
import { isLeak, measure } from '../measure.ts';

const measured = [...Object.keys(exercises), 'crowd', 'audiences'];

describe('a long life', () => {
  test('leaves no memory, listeners, timers or handles behind', { timeout: 120_000 }, () => {
    const program = fileURLToPath(new URL('../index.ts', import.meta.url));
    const argv = [...process.execArgv, program, '--short', ...measured];
    const { stdout, stderr, status } = spawnSync(process.execPath, argv, {
      encoding: 'utf8',
    });
    expect([status, stderr, stdout]).toEqual([0, expect.any(String), expect.not.stringMatching(/LEAK|TOO LARGE/)]);
    expect(stdout.match(/^[\d,]+ (calls|renewals|aborts|clients|crowd|audiences): /gm)).toHaveLength(measured.length);
  });

  const kept: unknown[] = [];
  const leaks: Record<string, (signal: AbortSignal, clock: ReturnType<typeof createTestClock>) => void> = {
    memory: () => kept.push(new Array(200).fill(kept.length)),
    listeners: (signal) => signal.addEventListener('abort', () => {}),
    timers: (_, clock) => clock.setTimer(() => {}, 1_000),
    handles: () => kept.push(setTimeout(() => {}, 60_000)),
  };

  test.each(Object.entries(leaks))('would be noticed to leave %s', async (_, leave) => {
    const clock = createTestClock();
    const { signal } = new AbortController();
    const run = async (times: number) => {
      for (let time = 0; time < times; time += 1) leave(signal, clock);
    };
    expect(isLeak(await measure({ clock, signal, run }, 1_000))).toBe(true);
    for (const timer of kept.splice(0)) clearTimeout(timer as NodeJS.Timeout);
  });

  test('would be noticed to leave nothing', async () => {
    const clock = createTestClock();
    const { signal } = new AbortController();
    expect(isLeak(await measure({ clock, signal, run: async () => {} }, 1_000))).toBe(false);
  });
});

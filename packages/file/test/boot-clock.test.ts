import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Machine, machineTime, thisMachine } from '../src/boot-clock.ts';

const year2026 = 1_767_225_600_000;
const dayMs = 86_400_000;

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'service-auth-clock-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** A machine that a test starts, puts to sleep and gives a wrong time. */
function machineAt(wallTime: number, uptimeMs: number, boot: string | undefined = 'first'): Machine {
  return { bootId: async () => boot, uptime: () => uptimeMs, now: () => wallTime, processTime: () => wallTime };
}

const time = (machine: Machine, notBefore?: number) => machineTime(directory, notBefore, machine);

test('it is the wall clock at first', async () => {
  expect(await time(machineAt(year2026, 5_000))).toBe(year2026);
});

test('it counts on with the uptime, sleep included, whatever the wall clock says', async () => {
  await time(machineAt(year2026, 5_000));
  expect(await time(machineAt(year2026 + 365 * dayMs, 6_000))).toBe(year2026 + 1_000);
  expect(await time(machineAt(0, 5_000 + 8 * 3_600_000))).toBe(year2026 + 8 * 3_600_000);
});

test('all processes that ask for it first at the same time agree', async () => {
  const times = await Promise.all([0, 1, 2, 3].map((day) => time(machineAt(year2026 + day * dayMs, 5_000))));
  expect(new Set(times).size).toBe(1);
});

test('a new boot asks the wall clock again, and forgets the old one', async () => {
  await time(machineAt(year2026, 5_000));
  expect(await time(machineAt(year2026 + dayMs, 1_000, 'second'))).toBe(year2026 + dayMs);
  expect(await readdir(directory)).toEqual(['clock.second']);
});

test('a new boot whose wall clock is behind goes on from when the record was written', async () => {
  const machine = machineAt(year2026 - dayMs, 1_000, 'second');
  expect(await time(machine, year2026)).toBe(year2026);
  expect(await time({ ...machine, uptime: () => 3_000 })).toBe(year2026 + 2_000);
});

test('within a boot the clock is not moved by a record from the future', async () => {
  await time(machineAt(year2026, 5_000));
  expect(await time(machineAt(year2026, 6_000), year2026 + dayMs)).toBe(year2026 + 1_000);
});

test('where a boot has no id it is the time of the process', async () => {
  expect(await time({ ...machineAt(year2026, 5_000), bootId: async () => undefined })).toBe(year2026);
  expect(await readdir(directory)).toEqual([]);
});

test('a damaged clock is reported, and not taken for the year 1970', async () => {
  await writeFile(join(directory, 'clock.first'), '');
  await expect(time(machineAt(year2026, 5_000))).rejects.toMatchObject({
    code: 'EIO',
    message: expect.stringMatching(/clock\.first.*delete/),
  });
});

test('the machine that the tests run on tells its own time', async () => {
  expect(Math.abs((await machineTime(directory)) - Date.now())).toBeLessThan(5_000);
  expect(Math.abs(thisMachine.processTime() - Date.now())).toBeLessThan(60_000);
  expect(thisMachine.uptime()).toBeGreaterThan(0);
});

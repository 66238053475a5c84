import { describe, expect, test } from 'vitest';
import { type ClockFiles, directoryTime, type Mark } from '../src/directory-clock.ts';
import { kernelClock, type RunningClock } from '../src/kernel-clock.ts';
import { type Container, createMachine, type Machine } from './machine.ts';

const year2026 = 1_767_225_600_000;
const secondMs = 1_000;
const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

type ReadTime = (container: Container, machine: Machine) => Promise<number>;

const rightWay: ReadTime = ({ kernel }, { files, present }) =>
  directoryTime(() => kernelClock(kernel), files, present()?.at);

async function timeOf(clock: RunningClock, files: ClockFiles, notBefore?: number): Promise<number> {
  return directoryTime(() => clock, files, notBefore);
}

/** A directory whose file system has this time. */
function directoryAt(fileSystemTime: number, latest?: Mark) {
  const leads = new Map<RunningClock['id'], number>();
  const files: ClockFiles = {
    lead: async (id) => leads.get(id),
    async keepLead(id, decide) {
      leads.set(id, decide(fileSystemTime));
      return leads.get(id) ?? 0;
    },
    latest: async () => latest,
  };
  return { files, leads };
}

describe("the store's clock", () => {
  const first = (elapsedMs: number) => ({ id: 'first', elapsedMs });

  test('begins with the time of the file system', async () => {
    expect(await timeOf(first(5_000), directoryAt(year2026).files)).toBe(year2026);
  });

  test('counts on with the running clock, whatever the time of the file system is by then', async () => {
    const { files, leads } = directoryAt(year2026);
    await timeOf(first(5_000), files);
    const later = directoryAt(0).files;
    expect(await timeOf(first(65_000), { ...later, lead: async (id) => leads.get(id) })).toBe(year2026 + 60_000);
  });

  test('goes on, with another running clock, from the latest state, for as long as the file system says that this is ago', async () => {
    const latest = { at: year2026 - 40 * dayMs, writtenAt: year2026 - hourMs };
    expect(await timeOf(first(5_000), directoryAt(year2026, latest).files)).toBe(year2026 - 40 * dayMs + hourMs);
  });

  test('stands where the latest state was written if the clock of the file system was set back since', async () => {
    const latest = { at: year2026, writtenAt: year2026 + dayMs };
    const { files } = directoryAt(year2026, latest);
    expect(await timeOf(first(5_000), files)).toBe(year2026);
    expect(await timeOf(first(8_000), files, year2026)).toBe(year2026 + 3_000);
  });

  test('is decided anew where a state is from the future, and only then', async () => {
    const { files, leads } = directoryAt(year2026 + hourMs, { at: year2026 + hourMs, writtenAt: year2026 + hourMs });
    leads.set('first', year2026);
    expect(await timeOf(first(0), files, year2026 + secondMs)).toBe(year2026 + secondMs);
    expect(leads.get('first')).toBe(year2026);
    expect(await timeOf(first(0), files, year2026 + hourMs)).toBe(year2026 + hourMs);
    expect(await timeOf(first(60_000), files, year2026 + hourMs)).toBe(year2026 + hourMs + 60_000);
  });
});

interface Mode {
  /** The machine sleeps now and then. */
  readonly sleeps?: true;
  /** Its wall clock is set; at any time, or only just before a state is written. */
  readonly steps?: 'at any time' | 'before a state';
  readonly reboots?: true;
  /** Some containers have an uptime of their own, which a program makes up. */
  readonly ownUptimes?: true;
}

const modes: Record<string, Mode> = {
  'in time namespaces, while the machine sleeps and its clock is set': { sleeps: true, steps: 'at any time' },
  'with uptimes of their own, while the clock of the machine is set': { ownUptimes: true, steps: 'at any time' },
  'over reboots, also if the clock was set before': { reboots: true, steps: 'before a state' },
  'with uptimes of their own, while the machine sleeps': { ownUptimes: true, sleeps: true },
};

/** Containers start, stop, read and write. Returns the promise that their clock broke, if it broke one. */
async function simulate(seed: number, mode: Mode, readTime: ReadTime): Promise<string | undefined> {
  const machine = createMachine(seed, mode.ownUptimes ?? false);
  const { random, truth } = machine;
  const containers = [0, 1, 2].map(machine.start);
  const begunAt = truth.now;

  for (let turn = 0; turn < 50; turn += 1) {
    const event = random(8);
    let writes = random(3) === 0;
    if (event === 0) machine.pass(random(2 * dayMs));
    if (event === 1) containers[random(3)] = machine.start();
    if (event === 2 && mode.sleeps) machine.sleep(random(10 * hourMs));
    if (event === 3 && mode.steps && turn > 0) {
      machine.step(random(20 * dayMs) - 10 * dayMs);
      writes ||= mode.steps === 'before a state';
    }
    if (event === 4 && mode.reboots) {
      machine.reboot(random(hourMs));
      for (const index of containers.keys()) containers[index] = machine.start();
    }
    machine.pass(random(20 * secondMs));
    const now = await readTime(containers[random(3)] as Container, machine);
    const rightMs = now - machine.wallAtFirst - (truth.now - begunAt);
    // A clock that does not count sleep is behind by what it missed, and by no more.
    const missedMs = mode.ownUptimes ? truth.sleptMs : 0;
    if (rightMs > 2 * secondMs || rightMs < -missedMs - 2 * secondMs) return `turn ${turn}: wrong by ${rightMs} ms`;
    if (now < (machine.present()?.at ?? 0)) return `turn ${turn}: earlier than the state that it read`;
    if (writes) machine.write(now);
  }
  return undefined;
}

/** Ways to tell the time that are wrong in one thing each. */
const mistakes: Record<string, ReadTime> = {
  'believes the uptime of a time namespace': ({ kernel }, { files, present }) =>
    directoryTime(() => kernelClock({ ...kernel, link: () => undefined }), files, present()?.at),
  'believes the uptime that a program makes up': ({ kernel }, { files, present }) =>
    directoryTime(() => kernelClock({ ...kernel, isGenuine: () => true }), files, present()?.at),
  'takes a clock that does not count sleep for one that does': ({ kernel }, { files, present }) =>
    directoryTime(() => ({ ...kernelClock(kernel), id: 'one' }), files, present()?.at),
  'does not tell processes that can read the other clock only': ({ kernel }, { files, present }) =>
    directoryTime(() => ({ ...kernelClock(kernel), other: undefined }), files, present()?.at),
  'asks the wall clock at every start of the machine': ({ kernel }, { files, present }) =>
    directoryTime(() => kernelClock(kernel), { ...files, latest: async () => undefined }, present()?.at),
  'asks the wall clock every time': ({ kernel }, { files, present }) =>
    directoryTime(() => kernelClock(kernel), { ...files, lead: async () => undefined }, present()?.at),
  'ignores a state from the future': ({ kernel }, { files }) =>
    directoryTime(() => kernelClock(kernel), files, undefined),
};

const seeds = Array.from({ length: 200 }, (_, index) => index + 1);

describe('containers that share a directory have one clock', () => {
  test.each(Object.entries(modes))('%s', async (_, mode) => {
    for (const seed of seeds) expect([seed, await simulate(seed, mode, rightWay)]).toEqual([seed, undefined]);
  });

  test.each(Object.entries(mistakes))('which is not so if it %s', async (_, readTime) => {
    const broken = [];
    for (const mode of Object.values(modes)) {
      for (const seed of seeds) if (await simulate(seed, mode, readTime)) broken.push(seed);
    }
    expect(broken).not.toEqual([]);
  });
});

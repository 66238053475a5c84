import type { ClockFiles, Mark } from '../src/directory-clock.ts';
import type { Kernel, RunningClock } from '../src/kernel-clock.ts';

/** The view of the kernel for the processes of a container. */
export interface Container {
  readonly kernel: Kernel;
}

/** Numbers below `bound` that are the same in every run. */
function randomNumbers(seed: number): (bound: number) => number {
  let state = Math.imul(seed, 2_654_435_761) >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * bound);
  };
}

const dayMs = 86_400_000;

export interface Machine {
  /** The facts that its processes cannot see: the true time, and how long it has slept. */
  readonly truth: { readonly now: number; readonly sleptMs: number };
  readonly random: (bound: number) => number;
  readonly files: ClockFiles;
  /** The wall clock as it was at first, which may be wrong. */
  readonly wallAtFirst: number;
  start(): Container;
  present(): Mark | undefined;
  /** A state is written that has this time. */
  write(at: number): void;
  pass(ms: number): void;
  sleep(ms: number): void;
  /** Somebody sets the wall clock. */
  step(ms: number): void;
  reboot(offMs: number): void;
}

/** A machine that a test starts, puts to sleep and gives a wrong time, with a directory on its disk. */
export function createMachine(seed: number, ownUptimes: boolean): Machine {
  const random = randomNumbers(seed);
  const truth = { now: 1_767_225_600_000, sleptMs: 0 };
  let stepsMs = random(2) * random(400) * dayMs;
  let boot = { number: 1, at: truth.now - random(10 * dayMs), sleptMs: 0 };
  const leads = new Map<RunningClock['id'], number>();
  let mark: Mark | undefined;
  const wall = () => truth.now + stepsMs;
  const uptimeMs = () => truth.now - boot.at;

  const files: ClockFiles = {
    lead: async (id) => leads.get(id),
    async keepLead(id, decide) {
      const lead = decide(wall());
      leads.set(id, lead);
      return lead;
    },
    latest: async () => mark,
  };

  function start(): Container {
    const offsets = {
      monotonic: (random(40) - 20) * dayMs + random(1_000),
      boottime: (random(40) - 20) * dayMs + random(1_000),
    };
    const startedAt = truth.now - random(dayMs);
    const isGenuine = !(ownUptimes && random(2) === 0);
    const proc: Record<string, () => string> = {
      'sys/kernel/random/boot_id': () => `boot-${boot.number}\n`,
      'self/timens_offsets': () =>
        Object.entries(offsets)
          .map(([clock, ms]) => {
            const seconds = Math.floor(ms / 1_000);
            return `${clock} ${seconds} ${(ms - seconds * 1_000) * 1_000_000}\n`;
          })
          .join(''),
      'self/ns/time': () => 'time:[1]',
      'self/ns/time_for_children': () => 'time:[1]',
    };
    const kernel: Kernel = {
      read: (path) => proc[path]?.(),
      link: (path) => proc[path]?.(),
      isGenuine: () => isGenuine,
      uptime: () => (isGenuine ? uptimeMs() + offsets.boottime : truth.now - startedAt) / 1_000,
      monotonic: () => BigInt(uptimeMs() - (truth.sleptMs - boot.sleptMs) + offsets.monotonic) * 1_000_000n,
    };
    return { kernel };
  }

  return {
    truth,
    random,
    files,
    wallAtFirst: wall(),
    start,
    present: () => mark,
    write(at: number) {
      mark = { at, writtenAt: wall() };
    },
    pass(ms: number) {
      truth.now += ms;
    },
    sleep(ms: number) {
      truth.now += ms;
      truth.sleptMs += ms;
    },
    step(ms: number) {
      stepsMs += ms;
    },
    reboot(offMs: number) {
      truth.now += offMs;
      boot = { number: boot.number + 1, at: truth.now, sleptMs: truth.sleptMs };
    },
  };
}

import { readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { uptime } from 'node:os';

/** A clock that counts time and that nobody can set. */
export interface RunningClock {
  /** All processes that read a clock of this id read the same one; undefined: only this process reads it. */
  readonly id: string | undefined;
  /** Milliseconds since a moment that is the same for all its readers. */
  readonly elapsedMs: number;
  /** Another clock of the same machine: some processes can read that one only. */
  readonly other?: RunningClock | undefined;
}

/** What the kernel says. Replaced in tests only. */
export interface Kernel {
  /** The text of a file below /proc; undefined if there is none. */
  read(path: string): string | undefined;
  /** Where a link below /proc leads; undefined if there is none. */
  link(path: string): string | undefined;
  /** Whether a file below /proc comes from the kernel, and not from a program that answers in its place. */
  isGenuine(path: string): boolean;
  /** Seconds since the start, sleep included, as /proc/uptime has them. */
  uptime(): number;
  /** Nanoseconds of the monotonic clock, which stands still while the machine sleeps. */
  monotonic(): bigint;
}

function unlessMissing<Result>(read: () => Result): Result | undefined {
  try {
    return read();
  } catch (error) {
    if ((error as { code?: unknown }).code === 'ENOENT') return undefined;
    throw error;
  }
}

// Test suites replace `process.hrtime` by a clock of their own.
const { bigint: monotonic } = process.hrtime;
const procFileSystem = 0x9fa0;

// Synchronous calls, because these files are memory of the kernel: a call takes microseconds, and a thread of the pool would take longer.
export const thisKernel: Kernel = {
  read: (path) => unlessMissing(() => readFileSync(`/proc/${path}`, 'utf8')),
  link: (path) => unlessMissing(() => readlinkSync(`/proc/${path}`)),
  isGenuine: (path) => statfsSync(`/proc/${path}`).type === procFileSystem,
  uptime,
  monotonic: () => monotonic(),
};

/**
 * The clock of the kernel, the same in all its containers. Linux lets a container have an uptime and a monotonic clock of its own in two ways: a time
 * namespace adds an offset, which the kernel tells and which is taken away here; lxcfs puts a file of its own over /proc/uptime, which is not read then.
 * Without the uptime it is the monotonic clock, and a clock of another id, because it does not count sleep. Where the kernel does not tell enough, as
 * outside Linux, it is the monotonic clock of this process.
 */
export function kernelClock(kernel: Kernel = thisKernel): RunningClock {
  const awakeMs = Number(kernel.monotonic() / 1_000n) / 1_000;
  try {
    const boot = kernel.read('sys/kernel/random/boot_id')?.trim() ?? '';
    const offsets = offsetsOf(kernel);
    if (!/^[\w-]{1,64}$/.test(boot) || !offsets) return { id: undefined, elapsedMs: awakeMs };
    const awake = { id: `${boot}.awake`, elapsedMs: awakeMs - offsets.monotonic };
    if (!kernel.isGenuine('uptime')) return awake;
    return { id: boot, elapsedMs: kernel.uptime() * 1_000 - offsets.boottime, other: awake };
  } catch {
    return { id: undefined, elapsedMs: awakeMs };
  }
}

/** By how many milliseconds the clocks of this process are ahead of the machine's; undefined if the kernel does not tell. */
function offsetsOf(kernel: Kernel): { monotonic: number; boottime: number } | undefined {
  const own = kernel.link('self/ns/time');
  // A kernel without time namespaces.
  if (own === undefined) return { monotonic: 0, boottime: 0 };
  // The file has the offsets of the namespace that children will be in.
  if (own !== kernel.link('self/ns/time_for_children')) return undefined;
  const text = kernel.read('self/timens_offsets') ?? '';
  const [monotonic, boottime] = ['monotonic', 'boottime'].map((clock) => {
    const [, seconds, nanoseconds] = new RegExp(`^${clock}\\s+(-?\\d+)\\s+(\\d+)$`, 'm').exec(text) ?? [];
    return Number(seconds) * 1_000 + Number(nanoseconds) / 1_000_000;
  });
  return Number.isFinite(monotonic) && Number.isFinite(boottime)
    ? { monotonic: monotonic as number, boottime: boottime as number }
    : undefined;
}

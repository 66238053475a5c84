import { readFileSync, readlinkSync, statfsSync } from 'node:fs';
import { uptime } from 'node:os';

/** A clock that only runs: no user can set it. */
export interface RunningClock {
  /** Processes with the same id read the same clock. Undefined: only this process reads it. */
  readonly id: string | undefined;
  /** Milliseconds since an instant that is the same for all readers of this clock. */
  readonly elapsedMs: number;
  /** Another clock of the same machine, because some processes can read only that one. */
  readonly other?: RunningClock | undefined;
}

/** The information of the kernel. Only tests replace it. */
export interface Kernel {
  /** The text of a file below /proc; undefined if it is missing. */
  read(path: string): string | undefined;
  /** The target of a link below /proc; undefined if it is missing. */
  link(path: string): string | undefined;
  /**
   * True if a file below /proc comes from the kernel itself, and not from a program that is mounted
   * over it.
   */
  isGenuine(path: string): boolean;
  /** Seconds since the start of the machine, including sleep, as in /proc/uptime. */
  uptime(): number;
  /** Nanoseconds of the monotonic clock, which stops while the machine sleeps. */
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

// Read the function now, because test suites replace `process.hrtime`.
const { bigint: monotonic } = process.hrtime;
const procFileSystem = 0x9fa0;

// The calls are synchronous, because these files are memory of the kernel: a read takes
// microseconds, and a thread of the pool would take longer.
export const thisKernel: Kernel = {
  read: (path) => unlessMissing(() => readFileSync(`/proc/${path}`, 'utf8')),
  link: (path) => unlessMissing(() => readlinkSync(`/proc/${path}`)),
  isGenuine: (path) => statfsSync(`/proc/${path}`).type === procFileSystem,
  uptime,
  monotonic: () => monotonic(),
};

/**
 * The clock of the kernel, which is the same in all containers of a machine. On Linux a container
 * can have its own uptime and monotonic clock in two ways. A time namespace adds an offset: the
 * kernel reports it, and this function subtracts it. lxcfs mounts its own file over /proc/uptime:
 * this function then does not read the file and uses the monotonic clock, with another id, because
 * that clock does not count sleep. If the kernel reports too little, as outside Linux, the result
 * is the monotonic clock of this process.
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

/**
 * The lead of this process's clocks over the machine's, in milliseconds; undefined if the kernel
 * does not report it.
 */
function offsetsOf(kernel: Kernel): { monotonic: number; boottime: number } | undefined {
  const own = kernel.link('self/ns/time');
  // This kernel has no time namespaces.
  if (own === undefined) return { monotonic: 0, boottime: 0 };
  // The file contains the offsets of the namespace of future children.
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

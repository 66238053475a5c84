import { readdir, readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { storeError } from './errors.ts';
import { readText, removeAll, writeOnce } from './files.ts';

/** What the machine says of itself. Replaced in tests only. */
export interface Machine {
  /** Differs after every start of the machine; undefined where none can be had. */
  bootId(): Promise<string | undefined>;
  /** Milliseconds since the machine started, sleep included. */
  uptime(): number;
  /** The wall clock, in epoch milliseconds. */
  now(): number;
  /** Epoch milliseconds by the wall clock as it was when this process started. */
  processTime(): number;
}

export const thisMachine: Machine = {
  async bootId() {
    const id = await readFile('/proc/sys/kernel/random/boot_id', 'utf8').catch(() => '');
    return /^[\w-]{1,64}$/.test(id.trim()) ? id.trim() : undefined;
  },
  // On Linux from /proc/uptime, which counts sleep; the monotonic clock of Node does not.
  uptime: () => uptime() * 1_000,
  now: () => Date.now(),
  processTime: () => performance.timeOrigin + performance.now(),
};

/**
 * A clock that all processes of a machine share: it counts while the machine sleeps, and setting the wall clock does not move it. The wall clock is
 * asked once in each boot, and overruled by `notBefore`, the time at which a record was written. Outside Linux a boot has no id: there each process
 * asks once, and core allows for a clock that goes back.
 */
export async function machineTime(directory: string, notBefore = 0, machine: Machine = thisMachine): Promise<number> {
  const boot = await machine.bootId();
  if (boot === undefined) return Math.floor(machine.processTime());
  const name = `clock.${boot}`;
  for (;;) {
    const startedAt = await readText(directory, name);
    if (startedAt !== undefined) return Math.floor(instant(startedAt, name) + machine.uptime());
    // Whoever is first decides for all.
    const decided = Math.floor(Math.max(machine.now(), notBefore) - machine.uptime());
    const first = await writeOnce(directory, name, `${decided}\n`);
    if (first) await removeAll(directory, await clocksOfOtherBoots(directory, name));
  }
}

function instant(text: string, name: string): number {
  if (!/^-?\d{1,15}\n$/.test(text)) throw storeError('EIO', `the file ${name} is damaged; delete it.`);
  return Number(text);
}

async function clocksOfOtherBoots(directory: string, name: string): Promise<string[]> {
  return (await readdir(directory)).filter((other) => other.startsWith('clock.') && other !== name);
}

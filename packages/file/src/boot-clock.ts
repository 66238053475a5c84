import { readFile } from 'node:fs/promises';
import { uptime } from 'node:os';
import { join } from 'node:path';
import { isCode, writeOnce } from './files.ts';

/**
 * A clock that all processes of this machine share: it counts while the machine sleeps, and setting the wall clock does not move it. The wall clock
 * is asked once in each boot. Where a boot has no id (outside Linux) it is asked every time, and core guards against a clock that goes back.
 */
export async function machineTime(directory: string): Promise<number> {
  const boot = await bootId();
  if (boot === undefined) return Date.now();
  const file = join(directory, `clock.${boot}`);
  for (;;) {
    try {
      return Math.floor(Number(await readFile(file, 'utf8')) + uptime() * 1_000);
    } catch (error) {
      if (!isCode(error, 'ENOENT')) throw error;
    }
    // Whoever is first decides for all.
    await writeOnce(directory, file, `${Math.floor(Date.now() - uptime() * 1_000)}`);
  }
}

async function bootId(): Promise<string | undefined> {
  try {
    const id = (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim();
    return /^[\w-]{1,64}$/.test(id) ? id : undefined;
  } catch {
    return undefined;
  }
}

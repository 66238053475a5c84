import { existsSync, readFileSync } from 'node:fs';

/** True where Linux tells the processor time of other processes. */
export const tellsProcessorTime: boolean = existsSync('/proc/self/stat');

/** User and system time of a process of this machine, in seconds. Linux counts it in hundredths of a second. */
export function processorSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / 100;
}

import { cpuUsage } from 'node:process';

/** Milliseconds. */
export interface Spent {
  readonly ms: number;
  /** The processor time of all threads of this process, which other processes disturb least. */
  readonly processorMs: number;
}

/** The resources that a process uses until `run` has ended. */
export async function spentOn(run: () => Promise<unknown>): Promise<Spent> {
  const [startedAt, before] = [performance.now(), cpuUsage()];
  await run();
  const { user, system } = cpuUsage(before);
  return { ms: performance.now() - startedAt, processorMs: (user + system) / 1_000 };
}

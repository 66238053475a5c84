import type { RunningClock } from './kernel-clock.ts';

/**
 * A time of the store's clock (`at`), and the time of the file system's clock when it was written.
 */
export interface Mark {
  readonly at: number;
  readonly writtenAt: number;
}

/** The time information of a directory. */
export interface ClockFiles {
  /**
   * The lead of the store's clock over the running clock with this id, in milliseconds; undefined
   * if it is not decided yet.
   */
  lead(id: RunningClock['id']): Promise<number | undefined>;
  /** Calls `decide` with the time of the file system, stores the resulting lead and returns it. */
  keepLead(id: RunningClock['id'], decide: (fileSystemTime: number) => number): Promise<number>;
  /** The latest time of any state in the directory; undefined if there is no state. */
  latest(): Promise<Mark | undefined>;
}

/**
 * The possible difference between two readers of one running clock: the uptime has hundredths of a
 * second, and a process may pause between two steps.
 */
const toleranceMs = 1_000;

/**
 * The store's clock, one for all processes that share the directory. It is the running clock plus a
 * lead. The directory keeps the lead, which is decided once for each running clock. If the lead of
 * the machine's other clock is known, it follows from that one. Otherwise the store's clock
 * continues from the latest state and adds the age of that state by the clock of the file system.
 * The clock of the file system is the same for all processes, but it can be set, so it is used only
 * once. It is used again only if a state is from the future: then this running clock has stood
 * still, or another machine wrote the state. `notBefore` is the time of the present state.
 */
export async function directoryTime(
  clock: () => RunningClock,
  files: ClockFiles,
  notBefore: number | undefined,
): Promise<number> {
  const lead = await files.lead(clock().id);
  const now = lead === undefined ? undefined : lead + clock().elapsedMs;
  const isPlausible = now !== undefined && now >= (notBefore ?? now) - toleranceMs;
  const settled = isPlausible ? now : (await decideLead(clock, files, lead === undefined)) + clock().elapsedMs;
  return Math.floor(Math.max(settled, notBefore ?? settled));
}

async function decideLead(clock: () => RunningClock, files: ClockFiles, isFirst: boolean): Promise<number> {
  const { id, other } = clock();
  const leadOfOther = isFirst && other ? await files.lead(other.id) : undefined;
  const latest = await files.latest();
  const lead = await files.keepLead(id, (fileSystemTime) => {
    const { elapsedMs, other } = clock();
    const byOther = other && leadOfOther !== undefined ? leadOfOther + other.elapsedMs : undefined;
    return Math.floor(timeNow(fileSystemTime, latest, byOther) - elapsedMs);
  });
  if (other && leadOfOther === undefined) {
    await files.keepLead(other.id, () => {
      const { elapsedMs, other } = clock();
      return Math.floor(lead + elapsedMs - (other?.elapsedMs ?? 0));
    });
  }
  return lead;
}

function timeNow(fileSystemTime: number, latest: Mark | undefined, byOther: number | undefined): number {
  if (byOther !== undefined) return Math.max(byOther, latest?.at ?? byOther);
  return latest ? latest.at + Math.max(0, fileSystemTime - latest.writtenAt) : fileSystemTime;
}

import type { RunningClock } from './kernel-clock.ts';

/** A time by the store's clock, and when it was written down by the clock of the file system. */
export interface Mark {
  readonly at: number;
  readonly writtenAt: number;
}

/** What a directory knows of time. */
export interface ClockFiles {
  /** What the store's clock is ahead of the running clock of that id, in milliseconds; undefined if nobody decided yet. */
  lead(id: RunningClock['id']): Promise<number | undefined>;
  /** Keeps what `decide` makes of the time of the file system, and returns it. */
  keepLead(id: RunningClock['id'], decide: (fileSystemTime: number) => number): Promise<number>;
  /** The latest time that any state in the directory has; undefined if there is no state. */
  latest(): Promise<Mark | undefined>;
}

/** Two readers of one running clock may differ by this: the uptime has hundredths of a second, and a process may be interrupted between two steps. */
const toleranceMs = 1_000;

/**
 * The store's clock: one for all processes that share the directory. It counts with the running clock. By how much it is ahead of that is kept in the
 * directory, and decided once for each running clock: by the other clock of the machine, if that was decided; or else the store's clock goes on from the latest
 * state, for as long as the clock of the file system says that this is ago. The clock of the file system is the same for all, but it can be set. So it is asked no
 * second time, unless a state is from the future: then this running clock stood still, or another machine wrote the state. `notBefore`: the time that
 * the present state has.
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

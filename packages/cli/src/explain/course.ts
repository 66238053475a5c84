import { counted, duration, instant, windowName } from '../report/text.ts';
import type { Usage } from '../report/usage.ts';
import type { Finding } from './finding.ts';
import { usualIntervalMs } from './journal.ts';

const minute = 60_000;

/** The present state of a finding: whether its tokens go on being spent, and how many a window takes then. */
interface Course {
  readonly latestAt: number;
  readonly goesOn: boolean;
  /** Undefined: there are too few of them, or something else bounds them. */
  readonly perWindow: number | undefined;
}

function courseOf({ series = [], isBounded }: Finding, { windowMs }: Usage, now: number): Course | undefined {
  const instants = series.map(({ at }) => at).sort((a, b) => b - a);
  const [latestAt] = instants;
  if (latestAt === undefined) return undefined;
  const pauses = instants.slice(0, 4).map((at, index) => (instants[index - 1] ?? at) - at);
  const goesOn = now - latestAt <= Math.max(15 * minute, 2 * Math.max(...pauses));
  const everyMs = usualIntervalMs(series);
  const isKnown = !isBounded && everyMs !== undefined && everyMs > 0;
  return { latestAt, goesOn, perWindow: isKnown ? Math.round(windowMs / everyMs) : undefined };
}

/** Says when the newest token of a finding was spent, and what comes of it. */
export function courseSentences(finding: Finding, usage: Usage, now: number): string {
  const course = courseOf(finding, usage, now);
  if (!course) return '';
  const { latestAt, goesOn, perWindow } = course;
  const latest = `The latest of them was at ${instant(latestAt, now)}.`;
  if (!goesOn) return `${latest} None has followed for ${duration(now - latestAt)}, so it may be over.`;
  if (perWindow === undefined) return latest;
  const window = windowName(usage.windowMs);
  return `${latest} If it goes on, it takes ${counted(perWindow, 'token')} in ${window}; ${usage.usable} are usable.`;
}

/** True if a finding goes on, and if that takes a large part of the limit. */
export function isPressing(finding: Finding, usage: Usage, now: number): boolean {
  const course = courseOf(finding, usage, now);
  if (!course?.goesOn) return false;
  return finding.isBounded === true || (course.perWindow ?? 0) >= usage.usable / 4;
}

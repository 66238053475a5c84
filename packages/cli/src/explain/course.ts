import { minute } from '../line/units.ts';
import { isUnlimited } from '../report/sentences.ts';
import { counted, countedBy, duration, instant, windowName } from '../report/text.ts';
import type { Usage } from '../report/usage.ts';
import { audiencesIn, culprits, isPartial, listed } from '../report/whose.ts';
import type { Finding } from './finding.ts';
import { usualIntervalMs } from './journal.ts';

/**
 * Whether the tokens of a finding go on being spent, and how many a window takes then. Undefined:
 * there are too few of them, or something else bounds them.
 */
function courseOf({ about = [], series = about, isBounded }: Finding, { windowMs }: Usage, now: number) {
  const instants = series.map(({ at }) => at).sort((a, b) => b - a);
  const [latestAt] = instants;
  if (latestAt === undefined) return undefined;
  const pauses = instants.slice(0, 4).map((at, index) => (instants[index - 1] ?? at) - at);
  const goesOn = now - latestAt <= Math.max(15 * minute, 2 * Math.max(...pauses));
  const everyMs = usualIntervalMs(series);
  const isKnown = !isBounded && everyMs !== undefined && everyMs > 0;
  const perWindow = isKnown ? Math.round(windowMs / everyMs) : undefined;
  return { firstAt: instants.at(-1) ?? latestAt, latestAt, goesOn, perWindow };
}

/** Says whom a finding concerns, since when, and whether it goes on. Empty: the whole record. */
export function scopeSentences(finding: Finding, usage: Usage, now: number): string {
  const { about = [], series = about, audiences } = finding;
  const course = courseOf(finding, usage, now);
  if (!course) {
    if (!audiences) return '';
    return audiences.length === 0 ? 'For all audiences.' : `For ${listed(audiences)}.`;
  }
  const { firstAt, latestAt, goesOn } = course;
  const who = `For ${listed(audiencesIn(series))}, by ${culprits(series)}`;
  if (series.length === 1) return `${who}: at ${instant(latestAt, now)}.`;
  const earlier = isOlderPossible(firstAt, usage, now) ? ' or earlier' : '';
  const times = `first at ${instant(firstAt, now)}${earlier}, last at ${instant(latestAt, now)}`;
  const state = goesOn ? 'It goes on.' : `None has followed for ${duration(now - latestAt)}, so it may be over.`;
  return `${who}: ${times}. ${state}`;
}

/** A record lists its newest issuances alone, and none that has left the window. */
function isOlderPossible(firstAt: number, usage: Usage, now: number): boolean {
  return isPartial(usage) || now - firstAt > usage.windowMs * 0.95;
}

/**
 * Says how many tokens a window takes if a finding goes on. Empty: that is unknown, it is not an
 * hour old, it may be over, or something holds.
 */
export function paceSentence(finding: Finding, usage: Usage, now: number): string {
  const course = finding.series && courseOf(finding, usage, now);
  const { goesOn, perWindow } = course ?? {};
  if (
    !course ||
    !goesOn ||
    usage.holds.length > 0 ||
    perWindow === undefined ||
    course.latestAt - course.firstAt < 60 * minute
  )
    return '';
  return `At this pace it takes ${counted(perWindow, countedBy(usage))} in ${windowName(usage.windowMs)}${isUnlimited(usage) ? '' : `; ${usage.usable} are usable`}.`;
}

/** True if a finding goes on, and if that takes a large part of the limit. */
export function isPressing(finding: Finding, usage: Usage, now: number): boolean {
  const course = finding.series && courseOf(finding, usage, now);
  if (!course?.goesOn) return false;
  return finding.isBounded === true || (course.perWindow ?? 0) >= usage.usable / 4;
}

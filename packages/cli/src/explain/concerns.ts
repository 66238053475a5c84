import { settingsOfProvider } from '../configuration/environment.ts';
import { doubtsOf } from '../report/doubts.ts';
import type { Failure, Usage } from '../report/usage.ts';
import { isPressing } from './course.ts';
import { causesOfHolds, explain } from './explain.ts';
import type { Cause } from './finding.ts';

/** The causes that failures in a row tell already. */
const causes: Readonly<Record<Failure['kind'], Cause>> = { ...causesOfHolds, backoff: 'unknown-outcomes' };

/** What monitoring has to tell although the limit has room: failures, and causes that go on. */
export function concernsOf(
  usage: Usage,
  failures: readonly Failure[],
  now: number,
  settings: string = settingsOfProvider,
): string[] {
  const doubts = doubtsOf(usage, failures, now).filter(({ count, kind }) => count > 1 || kind === 'credentials');
  const told = new Set(doubts.map(({ kind }) => causes[kind]));
  const pressing = explain(usage, { now, audiences: [], failures }).filter(
    (finding) => isPressing(finding, usage, now) && !told.has(finding.cause),
  );
  const texts = doubts.map(({ kind, text }) =>
    kind === 'credentials' ? `${text}: compare their client secret and audience with ${settings}` : text,
  );
  return [...texts, ...pressing.flatMap(({ short }) => short ?? [])];
}

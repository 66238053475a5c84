import { doubtsOf } from '../report/doubts.ts';
import type { Failure, Usage } from '../report/usage.ts';
import { isPressing } from './course.ts';
import { explain } from './explain.ts';

/** Returns what monitoring has to tell, although the limit has room: failures in a row, and causes that go on and take a large part of the limit. */
export function concernsOf(usage: Usage, failures: readonly Failure[], now: number): string[] {
  const doubts = doubtsOf(usage, failures, now).filter(({ count, kind }) => count > 1 || kind === 'credentials');
  const known = new Set(doubts.map(({ kind }) => kind));
  const causes = explain(usage, { now, audience: undefined, failures })
    .filter((finding) => isPressing(finding, usage, now))
    // The failures say it already.
    .filter(({ cause }) => !(cause === '401-storm' && known.has('rejections')))
    .filter(({ cause }) => !(cause === 'unknown-outcomes' && known.has('backoff')));
  return [...doubts.map(({ text }) => text), ...causes.map(({ short }) => short)];
}

import type { Usage } from '../report/usage.ts';
import type { Cause, Circumstances, Finding } from './finding.ts';
import { rules } from './rules.ts';

/** The causes that a record shows: what refuses callers now first, then what spent most. */
export function explain(usage: Usage, circumstances: Circumstances): readonly Finding[] {
  const found = rules.flatMap((rule) => rule(usage, circumstances) ?? []);
  const causes = new Set(found.map(({ cause }) => cause));
  return found.filter(({ cause }) => !isExplainedBy(cause, causes)).sort((a, b) => b.weight - a.weight);
}

/** One program that restarts is found by the rule for many programs, too; an outage by the requests that failed in it. */
function isExplainedBy(cause: Cause, causes: ReadonlySet<Cause>): boolean {
  return cause === 'different-keys' && causes.has('restarts');
}

/** True if the budget is in such a state that a reader expects a cause. */
export function isUnusual({ used, usable, refusedUntil }: Usage): boolean {
  return refusedUntil !== undefined || used > usable / 2;
}

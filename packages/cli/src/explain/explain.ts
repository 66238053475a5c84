import type { Failure, Hold, Usage } from '../report/usage.ts';
import type { Cause, Circumstances, Finding } from './finding.ts';
import { rules } from './rules.ts';

/** The causes that a record shows: what refuses callers now first, then what spent most. */
export function explain(usage: Usage, circumstances: Circumstances): readonly Finding[] {
  return rules.flatMap((rule) => rule(usage, circumstances) ?? []).sort((a, b) => b.weight - a.weight);
}

/** The causes that explain holds. */
export const causesOfHolds: Readonly<Record<Failure['kind'], Cause>> & { readonly renewal: undefined } = {
  credentials: 'credentials-rejected',
  rate_limited: 'other-programs',
  backoff: 'outage',
  deaths: 'deaths',
  rejections: '401-storm',
  renewal: undefined,
};

export function otherHolds({ holds }: Usage, findings: readonly Finding[]): readonly Hold[] {
  return holds.filter(({ kind }) => findings.every(({ cause }) => cause !== causesOfHolds[kind]));
}

/** True if the budget is in such a state that a reader expects a cause. */
export function isUnusual({ used, usable, refusedUntil }: Usage): boolean {
  return refusedUntil !== undefined || used > usable / 2;
}

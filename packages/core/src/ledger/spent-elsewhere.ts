import type { Limits } from './limits.ts';
import type { LedgerRecord, SpentElsewhere } from './record.ts';
import { keptTerms } from './terms.ts';

/**
 * Returns the record in which at most so many tokens count that it has not seen, whenever they were issued in the last window. It knows all others then, so
 * it is not new any more. Undefined: the record knows that there were more of them, or it has seen all tokens and none is added.
 */
export function withSpentElsewhere(
  record: LedgerRecord,
  now: number,
  told: Omit<SpentElsewhere, 'at'>,
  limits: Limits,
): LedgerRecord | undefined {
  const before = record.spentElsewhere ?? { at: 0, count: 0 };
  const windowAt = Math.max(0, now - Math.max(...keptTerms(record, limits).map(({ pendingMs }) => pendingMs)));
  const known = before.at > windowAt ? before.count : 0;
  const isComplete = record.completeSince <= windowAt;
  if (told.count < known || (told.count === 0 && isComplete)) return undefined;
  return {
    ...record,
    completeSince: Math.min(record.completeSince, windowAt),
    spentElsewhere: { ...told, at: now },
  };
}

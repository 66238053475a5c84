import { minute } from '@service-auth/test-tools/units';
import type { Issuance, Usage } from '../src/report/usage.ts';

const hour: number = 60 * minute;

/** The present of all journals: a night in November. */
export const now: number = Date.UTC(2026, 10, 22, 3, 0);

type Entry = Partial<Issuance> & Pick<Issuance, 'reason'> & { readonly ago: number };

/** A usage in which nothing is unusual, with changes. `entries`: the issuances, `ago` in minutes before now. */
export function usageOf(entries: readonly Entry[], changes: Partial<Usage> = {}): Usage {
  const issuances = entries
    .map(
      ({ ago, ...entry }, index): Issuance => ({
        id: `token-${index}`,
        instance: 'api-1',
        audience: 'https://api.example/',
        pending: false,
        ...entry,
        at: now - ago * minute,
      }),
    )
    .sort((a, b) => b.at - a.at);
  const used = issuances.length;
  const unknown = issuances.filter(({ pending }) => pending).length;
  const [newest] = issuances;
  return {
    limit: 150,
    usable: 120,
    used,
    underWay: 0,
    unknown,
    pending: unknown,
    remaining: Math.max(0, 120 - used),
    availableNow: Math.max(0, 110 - used),
    available: {
      cold: Math.max(0, 110 - used),
      refresh: Math.max(0, 84 - used),
      rejected: 1,
      reset: Math.max(0, 120 - used),
    },
    refusedUntil: used < 110 ? undefined : now + hour,
    refusedBecause: used < 110 ? undefined : 'limit',
    nextFreeAt: used === 0 ? undefined : now + hour,
    spentAt: undefined,
    newRecord: undefined,
    windowMs: 24 * hour,
    windows: [],
    holds: [],
    recordId: 'record-1',
    storeAheadMs: 0,
    tokens: newest
      ? [{ id: newest.id, audience: newest.audience, issuedAt: newest.at, expiresAt: newest.at + 24 * hour }]
      : [],
    warnings: [],
    issuances,
    resets: [],
    spentElsewhere: undefined,
    ...changes,
  };
}

/** So many entries, one every `everyMinutes`, the newest so many minutes ago. */
export function series(count: number, everyMinutes: number, entry: Omit<Entry, 'ago'>, newestAgo = 1): Entry[] {
  return Array.from({ length: count }, (_, index) => ({ ...entry, ago: newestAgo + index * everyMinutes }));
}

/** A name for each of many processes, as a library or an orchestrator gives it. */
export function names(count: number, prefix = 'job-'): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${(index * 7919).toString(36)}`);
}

export { hour, minute };

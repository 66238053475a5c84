import { sparingMs } from './admission.ts';
import type { Limits } from './limits.ts';
import type { Deaths, LedgerRecord } from './record.ts';

const minute = 60_000;
// Processes crash now and then. Two in a row cause no back-off.
const freeDeaths = 2;

/**
 * Counts the deaths that the leases of a record show. If a lease ended and nothing was settled, its process died or stood still during the
 * request. A token may have been issued.
 */
export function withDeaths(record: LedgerRecord, now: number, limits: Limits): LedgerRecord {
  const { countedUntil } = record.deaths;
  const ended = record.audiences.flatMap(({ lease }) =>
    lease && lease.until > countedUntil && lease.until <= now ? [lease] : [],
  );
  if (ended.length === 0) return record;
  const until = Math.max(...ended.map((lease) => lease.until));
  const reservedAt = (id: string) => record.entries.find((entry) => entry.id === id)?.at ?? until;
  const lastReservedAt = Math.max(...ended.map(({ id }) => reservedAt(id)));
  // One process may request tokens for many audiences. A lease that began before the first of them ended is the same death. It is not counted later either:
  // a chain of leases, each of which begins before the one before it ends, would be one death for ever.
  if (lastReservedAt < countedUntil) return record;
  return { ...record, deaths: { ...another(record, lastReservedAt, until, limits), countedUntil: until } };
}

function another(record: LedgerRecord, reservedAt: number, until: number, limits: Limits): Deaths {
  const { deaths } = record;
  // If this request came more than an hour after requests were allowed again, the count starts anew.
  const before = reservedAt > deaths.retryAt + 60 * minute ? 0 : deaths.count;
  const doublings = Math.min(before - freeDeaths, 30);
  // The audiences whose processes died take turns after the pause, for up to five minutes.
  const maxMs = record.audiences.length > 1 ? 10 * minute : 15 * minute;
  const pauseMs = before < freeDeaths ? 0 : Math.min(maxMs, minute * 2 ** doublings);
  const retryAt = Math.ceil(until + Math.max(pauseMs, sparingMs(record, until, limits)));
  return { ...deaths, count: before + 1, retryAt: Math.max(deaths.retryAt, retryAt) };
}

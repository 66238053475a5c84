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
  // One process may request tokens for many audiences. Leases that ran at the same time are one death.
  const deaths = lastReservedAt < countedUntil ? record.deaths : another(record, lastReservedAt, until, limits);
  return { ...record, deaths: { ...deaths, countedUntil: until } };
}

function another(record: LedgerRecord, reservedAt: number, until: number, limits: Limits): Deaths {
  const { deaths } = record;
  // If this request came more than an hour after requests were allowed again, the count starts anew.
  const before = reservedAt > deaths.retryAt + 60 * minute ? 0 : deaths.count;
  const doublings = Math.min(before - freeDeaths, 30);
  const pauseMs = before < freeDeaths ? 0 : Math.min(15 * minute, minute * 2 ** doublings);
  const retryAt = Math.ceil(until + Math.max(pauseMs, sparingMs(record, until, limits)));
  return { ...deaths, count: before + 1, retryAt: Math.max(deaths.retryAt, retryAt) };
}

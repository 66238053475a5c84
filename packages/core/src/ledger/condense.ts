import { isRefusal } from './bound.ts';
import { isRemembered } from './generations.ts';
import type { Limits } from './limits.ts';
import {
  type AudienceState,
  type Condensed,
  type LedgerEntry,
  type LedgerRecord,
  maxDetailedEntries,
  maxLeaseMs,
} from './record.ts';
import { currentTerms, keptTerms } from './terms.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** So many of the newest entries stay in detail, whatever their age. */
const newest = 150;
/** So many of the entries that are younger than a lease stay in detail. Their outcome may still be written once more. */
const maxUnderWay = 2_000;
/** A record keeps so many refusals of audiences that it knows nothing else of: those that end last. */
const maxRefusals = 512;
/** Entries that have left all terms are kept for this long, so that a longer window can begin at once. */
const leastKeptMs = 8 * day;

/** Drops what no longer counts, and moves older entries into buckets. `now` is the ledger's time. */
export function compact(whole: LedgerRecord, now: number, limits: Limits): LedgerRecord {
  const record = { ...whole, terms: currentTerms(whole, limits) };
  const spans = keptTerms(record, limits).map(({ pendingMs }) => pendingMs);
  const longestMs = Math.max(0, ...spans);
  const keptFrom = now - Math.max(leastKeptMs, longestMs);
  const isKept = ({ at }: { readonly at: number }) => at > keptFrom;
  const entries = record.entries.filter(isKept);
  const told = record.spentElsewhere ? [record.spentElsewhere] : [];
  const dropped = [...record.entries, ...record.condensed, ...told].filter((part) => !isKept(part));
  const { detailed, surplus } = divided(entries, record.audiences, now, longestMs);
  const counted = new Set(detailed.filter(({ at }) => at + longestMs > now).map(({ audience }) => audience));
  const needed = (state: AudienceState) =>
    counted.has(state.audience) ||
    isRemembered(state.revoked, now) ||
    (state.token?.expiresAt ?? 0) > now ||
    // A lease that ended without an outcome is a death. Keep it for a day, until somebody has counted it.
    (state.lease?.until ?? 0) > Math.max(now - day, Math.min(now, record.deaths.countedUntil)) ||
    // Keep the count of failures for an hour after its back-off. The back-off would never grow otherwise.
    (state.credentialsBackoff?.retryAt ?? 0) + hour > now;
  return {
    ...record,
    // A term that is longer than all others cannot know what was dropped before it came.
    completeSince: Math.max(record.completeSince, ...dropped.map(({ at }) => at + 1)),
    entries: detailed,
    condensed: addUp([...record.condensed.filter(isKept), ...surplus], now, spans),
    audiences: withLatestRefusals(record.audiences.filter(needed)),
    spentElsewhere: told.find(isKept),
  };
}

function withLatestRefusals(audiences: readonly AudienceState[]): readonly AudienceState[] {
  const refusals = audiences.filter(isRefusal);
  if (refusals.length <= maxRefusals) return audiences;
  const lastFirst = refusals.sort((a, b) => b.credentialsBackoff.retryAt - a.credentialsBackoff.retryAt);
  const dropped = new Set<AudienceState>(lastFirst.slice(maxRefusals));
  return audiences.filter((state) => !dropped.has(state));
}

/**
 * Divides entries into those that stay in detail and those that are only counted. An entry stays while its request may be under way, or while it is a
 * renewal after a 401 that counts in a term.
 */
function divided(entries: readonly LedgerEntry[], audiences: readonly AudienceState[], now: number, longestMs: number) {
  const leased = new Set(audiences.flatMap(({ lease }) => (lease && lease.until > now ? [lease.id] : [])));
  const stays = (entry: LedgerEntry, index: number) => {
    const newer = entries.length - 1 - index;
    const mayBeUnderWay = newer < maxUnderWay && entry.at + maxLeaseMs > now;
    const isSpaced = entry.reason === 'rejected' && entry.at + longestMs > now;
    return newer < newest || mayBeUnderWay || isSpaced || leased.has(entry.id);
  };
  const detailed = entries.filter(stays).slice(-maxDetailedEntries);
  const kept = new Set(detailed);
  const surplus = entries
    .filter((entry) => !kept.has(entry))
    .map(({ at, pending }): Condensed => ({ at, pending, count: 1 }));
  return { detailed, surplus };
}

/** Merges buckets: for pending and for settled entries, one remains for each span of time. The spans grow with the age of what is in them. */
function addUp(parts: readonly Condensed[], now: number, lives: readonly number[]): Condensed[] {
  const buckets = new Map<string, Condensed>();
  for (const part of parts) {
    // The last entry of a bucket decides for all. So an entry counts for longer than it must, by 1/96 at most.
    const spanMs = Math.min(...lives.filter((life) => life > now - part.at)) / 96;
    const span = Number.isFinite(spanMs) ? spanMs : hour;
    const key = `${part.pending} ${span} ${Math.floor(part.at / span)}`;
    const bucket = buckets.get(key);
    buckets.set(key, {
      at: Math.max(part.at, bucket?.at ?? 0),
      pending: part.pending,
      count: part.count + (bucket?.count ?? 0),
    });
  }
  return [...buckets.values()];
}

import { chargeOf, costOf, isCertain, isFolded, isIssued, isOpen, requestsOf } from './attempt.ts';
import { countsFrom, leavesAt } from './count.ts';
import { type Attempt, type Bucket, type LedgerRecord, type Order, raised } from './journal.ts';
import type { Limits } from './limits.ts';
import { bucketName } from './merge.ts';
import { notesOf } from './notes.ts';
import { byInstant } from './orders.ts';
import { currentTerms, keptTerms } from './terms.ts';
import { isRemembered } from './tokens.ts';

const minute = 60_000;
const day = 1_440 * minute;

/** Buckets must not depend on who adds up, or when: the same attempt is in the same bucket in every copy of a record. */
export const slotMs: number = 15 * minute;

/** So many of the newest attempts that count stay in detail, whatever their age. */
const newest = 150;
/** Younger ones than this stay in detail, too, up to a number, so that two copies of a record that went different ways can be united exactly. */
const detailMs = 70 * minute;
const maxYoung = 600;
/** What has left all terms is kept for this long, so that a longer window can begin at once. */
const leastKeptMs = 8 * day;
/** A record keeps at most this many orders of each kind. */
const maxOrders = 20;

/** Drops what no longer counts, and moves older attempts into buckets. Nothing that is counted or paced changes. `now` is the ledger's time. */
export function compact(whole: LedgerRecord, now: number, limits: Limits): LedgerRecord {
  const current = { ...whole, terms: currentTerms(whole, limits) };
  const terms = keptTerms(current, limits);
  const isCounted = (attempt: Attempt) => terms.some((term) => costOf(attempt, term) > 0);
  const record = folding(current, now, isCounted);
  const keptFrom = now - Math.max(leastKeptMs, ...terms.map(({ pendingMs }) => pendingMs));
  const isKept = (attempt: Attempt) => countsFrom(attempt) > keptFrom;
  const isNote = notesOf(record, now, (attempt) => {
    return terms.some((term) => costOf(attempt, term) > 0 && leavesAt(attempt, term) > now);
  });
  const counts = (attempt: Attempt) => isOpen(attempt, now) || (isCounted(attempt) && !isFolded(record, attempt));
  const gone = [
    ...record.attempts.filter((attempt) => counts(attempt) && !isKept(attempt)).map(countsFrom),
    ...[...record.buckets.map(({ last }) => last), ...saidAt(record)].filter((at) => at <= keptFrom),
  ];
  const buckets = record.buckets.filter(({ last }) => last > keptFrom);
  const attempts = record.attempts.filter((attempt) => isKept(attempt) && (counts(attempt) || isNote(attempt)));
  const epochs = new Set([record.epoch, ...[...buckets, ...attempts].map(({ epoch }) => epoch)]);
  return {
    ...record,
    // A term that is longer than all others cannot know what was dropped before it came.
    completeSince: Math.max(record.completeSince, ...gone.map((at) => at + 1)),
    attempts: attempts.map(shortened),
    folded: only(record.folded, (epoch) => epochs.has(epoch)),
    buckets,
    orders: keptOrders(record.orders, keptFrom),
    tokens: record.tokens.filter(({ expiresAt }) => expiresAt + day > now),
    revoked: only(record.revoked, (_, revoked) => isRemembered(revoked, now)),
  };
}

/** When people said what was spent elsewhere. */
function saidAt({ orders }: LedgerRecord): number[] {
  return orders.filter(({ kind }) => kind === 'spent').map(({ at }) => at);
}

/** Moves the oldest attempts of each epoch into buckets. An attempt whose outcome is awaited stays, and so do all later ones of its epoch. */
function folding(record: LedgerRecord, now: number, isCounted: (attempt: Attempt) => boolean): LedgerRecord {
  const counted = record.attempts.filter((attempt) => isCounted(attempt) && !isFolded(record, attempt));
  let surplus = counted.length - newest;
  if (surplus <= 0) return record;
  const staying = new Set<string>();
  const buckets = new Map(record.buckets.map((bucket) => [bucketName(bucket), bucket]));
  let { folded } = record;
  for (const attempt of counted) {
    const { epoch, generation, at } = attempt;
    const isYoung = at + detailMs > now && surplus <= maxYoung - newest;
    if (surplus <= 0 || staying.has(epoch) || isOpen(attempt, now) || isYoung) {
      staying.add(epoch);
      continue;
    }
    surplus -= 1;
    folded = raised(folded, epoch, generation);
    const one: Bucket = {
      epoch,
      slot: Math.floor(at / slotMs),
      unknown: !isCertain(attempt),
      last: countsFrom(attempt),
      count: chargeOf(attempt),
      refused: requestsOf(attempt) - chargeOf(attempt) || undefined,
    };
    const bucket = buckets.get(bucketName(one));
    buckets.set(bucketName(one), bucket ? added(bucket, one) : one);
  }
  return { ...record, folded, buckets: [...buckets.values()] };
}

function added(bucket: Bucket, one: Bucket): Bucket {
  const refused = (one.refused ?? 0) + (bucket.refused ?? 0) || undefined;
  return { ...bucket, refused, last: Math.max(one.last, bucket.last), count: one.count + bucket.count };
}

/** Nobody asks how a token was waited for once it arrived. */
function shortened(attempt: Attempt): Attempt {
  if (!isIssued(attempt) || attempt.until === 0) return attempt;
  return { ...attempt, until: 0, streak: 0, fleetStreak: 0 };
}

function keptOrders(orders: readonly Order[], keptFrom: number): readonly Order[] {
  const kinds = new Map<string, Order[]>();
  for (const order of orders) kinds.set(order.kind, [...(kinds.get(order.kind) ?? []), order]);
  const kept = [...kinds].flatMap(([kind, ofKind]) => {
    const live = kind === 'reset' ? ofKind : ofKind.filter(({ at }) => at > keptFrom);
    return live.sort(byInstant).slice(-maxOrders);
  });
  return kept.sort(byInstant);
}

function only(numbers: Readonly<Record<string, number>>, isKept: (name: string, number: number) => boolean) {
  const kept: Record<string, number> = Object.create(null);
  for (const [name, number] of Object.entries(numbers)) if (isKept(name, number)) kept[name] = number;
  return kept;
}

import type { Failures, LedgerEntry, LedgerRecord } from './record.ts';

const minute = 60_000;

/** A pause after requests that failed. */
export interface Pause {
  /** `deaths`: processes died during their requests. So nobody reported how these failed. */
  readonly kind: 'backoff' | 'deaths';
  readonly until: number;
  /** The status that the token endpoint answered. */
  readonly status?: number | undefined;
  /** The audience that waits. Undefined: all of them do. */
  readonly audience?: string | undefined;
}

/** The failures that cause a pause. */
interface Trouble extends Pick<Failures, 'failedAt' | 'audience' | 'shared' | 'toldUntil' | 'status'> {
  readonly kind: Pause['kind'];
  /** The end of the pause that `audience` waits for, and all others if it is shared. */
  readonly until: number;
  /** From here on, requests for several audiences may be under way at the same time again. */
  readonly aloneUntil: number;
  /** The next request may cost a token. If the endpoint cannot be reached, it costs none, and it makes no difference who asks. */
  readonly costs: boolean;
  /** The failures of each audience in a row. */
  readonly failed: ReadonlyMap<string, number>;
}

/** Returns the pauses of these audiences. */
export function pausesOf(record: LedgerRecord, asking: readonly string[]): Pause[] {
  return troublesOf(record).flatMap((trouble) => pausesAfter(trouble, record, asking));
}

/**
 * Returns the pauses after one trouble. After a shared one the audiences that failed wait for longer than the others: those that fail and are always the
 * first to ask would never let another one have a token. Of those that failed, the one that failed less often comes first.
 */
function pausesAfter(trouble: Trouble, { audiences }: LedgerRecord, asking: readonly string[]): Pause[] {
  const { kind, failedAt, audience, shared, toldUntil = 0, until, costs, failed, status } = trouble;
  const sharedUntil = shared ? until : toldUntil;
  const counts = [...failed.values()].filter((count) => count > 0);
  // The audiences that failed wait for the end of the pause even if a token of another one ended it for the rest.
  const end = Math.max(until, sharedUntil);
  const hasOthers = failed.size > 1 || audiences.some((other) => other.audience !== audience);
  const takesTurns = hasOthers && costs;
  const pauseMs = takesTurns ? Math.max(0, (counts.length > 1 ? end : sharedUntil) - failedAt) : 0;
  const turnMs =
    pauseMs > 15 * minute ? Math.min(pauseMs / 4, 15 * minute) : Math.min(pauseMs / 2, 15.5 * minute - pauseMs);
  const turns = asking.map((name): Pause => {
    const count = failed.get(name) ?? 0;
    const place = counts.filter((other) => other <= count).length;
    const from = takesTurns && count > 0 ? end : sharedUntil;
    const turnAt = Math.ceil(from + (turnMs * place) / Math.max(1, counts.length));
    return { kind, until: name === audience ? Math.max(until, turnAt) : turnAt, status, audience: name };
  });
  return [{ kind, until: sharedUntil, status }, ...turns.filter((turn) => turn.until > sharedUntil)];
}

/**
 * Returns until when a request for an audience must wait for one that is under way. 0: it need not wait. After a shared pause there is one request at
 * a time: if all audiences asked when a pause ends, each pause would cost a token for each of them. After a token of another audience, those that failed
 * still ask one at a time.
 */
export function underWayUntil(record: LedgerRecord, now: number, asking: string): number {
  const leases = record.audiences.flatMap(({ lease }) => (lease && lease.until > now ? [lease] : []));
  if (leases.length === 0) return 0;
  const untils = troublesOf(record).flatMap(({ shared, failed, aloneUntil }) => {
    const failing = record.entries.filter(({ audience }) => failed.get(audience));
    const isFailing = failing.some(({ audience }) => audience === asking);
    const waitsFor = leases.filter(({ id }) => shared || (isFailing && failing.some((entry) => entry.id === id)));
    return waitsFor.map(({ until }) => Math.min(aloneUntil, until));
  });
  return Math.max(0, ...untils);
}

/** Returns whether processes died, and the last request of another audience was lost. A token of this audience does not show that the other would get one. */
export function isOtherDying({ deaths, entries }: LedgerRecord, audience: string): boolean {
  if (deaths.count === 0) return false;
  return [...failuresByAudience(entries, deaths.countedUntil)].some(
    ([other, count]) => other !== audience && count > 0,
  );
}

function troublesOf({ deaths, entries, failures }: LedgerRecord): Trouble[] {
  const troubles: Trouble[] = [];
  if (failures) {
    const { failedAt, audience, probeAt, retryAt, ambiguous } = failures;
    troubles.push({
      ...failures,
      kind: 'backoff',
      until: probeAt ?? retryAt,
      aloneUntil: Number.POSITIVE_INFINITY,
      costs: ambiguous || probeAt !== undefined,
      failed: failuresByAudience(entries, failedAt, audience),
    });
  }
  if (deaths.count > 0) {
    const { count, retryAt, countedUntil: failedAt } = deaths;
    const audience = entries.filter(({ at, pending }) => pending && at <= failedAt).at(-1)?.audience ?? '';
    troubles.push({
      kind: 'deaths',
      failedAt,
      audience,
      shared: isFirstLoss(entries, failedAt),
      until: retryAt,
      // One death holds up nobody. An hour after the last pause, deaths are counted anew.
      aloneUntil: count > 1 ? retryAt + 60 * minute : 0,
      costs: true,
      failed: failuresByAudience(entries, failedAt, audience),
    });
  }
  return troubles;
}

/**
 * Counts the failures of each audience in a row: its entries of unknown outcome since its last token, and of the last two days. The one that failed last
 * comes after those that failed as often. A request after `failedAt` has no outcome yet.
 */
function failuresByAudience(entries: readonly LedgerEntry[], failedAt: number, last?: string): Map<string, number> {
  const failed = new Map(last === undefined ? [] : [[last, 1]]);
  for (const { at, audience, pending } of entries) {
    const count = failed.get(audience) ?? 0;
    failed.set(audience, pending ? count + Number(at <= failedAt && at > failedAt - 2_880 * minute) : 0);
  }
  return failed;
}

/** Returns whether the last token of the fleet is older than the first loss of the audience that was the last to begin with losses. */
function isFirstLoss(entries: readonly LedgerEntry[], failedAt: number): boolean {
  const losing = new Set<string>();
  let isFirst = true;
  for (const { at, audience, pending } of entries) {
    if (!pending) {
      losing.delete(audience);
      isFirst = false;
    } else if (at <= failedAt && !losing.has(audience)) {
      losing.add(audience);
      isFirst = true;
    }
  }
  return isFirst || losing.size === 0;
}

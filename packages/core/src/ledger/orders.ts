import { withReset } from './decide.ts';
import { keptTerms, type Situation } from './limits.ts';
import { oneMoreSpaced, spacedUntil } from './pace.ts';
import { type LedgerRecord, type LogEntry, none, resetUpTo, type Spent, type StoredToken, tokenOf } from './record.ts';
import { minute, second } from './units.ts';

/** Every process that needs a token reads the record more often than this. */
const noticedWithinMs = minute;

/**
 * Returns the instant from which another order to try again has an effect. Such orders are 1, 2, 4
 * … 60 minutes apart.
 */
export function retryRoomAt({ retries }: LedgerRecord): number {
  return retries ? spacedUntil(retries) : 0;
}

/**
 * Returns whether the last order to try again is so recent that a process may not have noticed it.
 */
export function isJustOrdered({ retries }: LedgerRecord, now: number): boolean {
  return retries !== undefined && now < retries.at + noticedWithinMs;
}

function withNote(record: LedgerRecord, note: LogEntry): LedgerRecord {
  return { ...record, log: [...record.log.filter(({ id }) => id !== note.id), note] };
}

/**
 * Returns the record in which all pauses have ended. If a request fails again, its row of failures
 * continues. The limit, its share for 401s, and three quarters of the usable tokens still decide.
 */
export function withRetry(record: LedgerRecord, now: number, { id, by }: Pick<LogEntry, 'id' | 'by'>): LedgerRecord {
  if (record.retries?.id === id) return record;
  const tokens = record.tokens.map((token): StoredToken => ({ ...token, renewAfter: undefined }));
  // An outcome may be settled by a clock that is a moment ahead of the store's, but what the record
  // has came before the order.
  const at = Math.max(now, Math.min(now + second, latestStreakAt(record)));
  const retries = { ...oneMoreSpaced(record.retries, at), id };
  return withNote({ ...record, retries, later: undefined, tokens }, { id, at: now, kind: 'retry', by });
}

/** Returns the instant of the latest failure, refusal or 401. */
function latestStreakAt({ lost, refusals, states }: LedgerRecord): number {
  const ofStates = Object.values(states).flatMap(({ failures, rejections, refusals = none }) => {
    return [failures, rejections, ...Object.values(refusals)];
  });
  return Math.max(0, ...[lost, ...Object.values(refusals), ...ofStates].map((streak) => streak?.at ?? 0));
}

/** A process reports that the tokens of a name are compromised. */
export interface Reset {
  /** Identifies the reset. A reset that is written twice is listed once. */
  readonly id: string;
  readonly name: string;
  readonly keyId: string;
  readonly instance: string;
  readonly reason?: string | undefined;
  /**
   * The token in the memory of this process. `isServed`: true if callers got this token until now,
   * so that it is the reported one.
   */
  readonly cached?: { readonly id: string; readonly generation: number; readonly isServed: boolean } | undefined;
}

/**
 * Returns the record in which all tokens of a name are reset, and in which the reset is listed. If
 * the token that the process reports was reset before, its replacement is not. Nothing changes if
 * the record knows no token of this name, because the name is probably wrong. A record that nobody
 * has written yet knows nothing: it may follow one that was lost.
 */
export function withCompromise(record: LedgerRecord, now: number, reset: Reset): LedgerRecord {
  const { id, name, keyId, instance: by, reason, cached } = reset;
  const before = resetUpTo(record, name);
  const known = [...record.spent.filter(({ refusedAt }) => refusedAt === undefined), ...record.tokens];
  const isKnown = before > 0 || cached !== undefined || known.some((part) => part.name === name);
  if (!isKnown && record.sequence > 0) return record;
  const generation = cached?.generation ?? 0;
  // Many processes may report one token for one alarm.
  const isReset = cached?.isServed && generation <= before;
  const upTo = isReset ? before : Math.max(record.generation, generation, now);
  const other = record.tokens.find((token) => token.name === name && token.generation > before);
  const tokenId = (cached ?? tokenOf(record, name, keyId) ?? other)?.id;
  const next = withReset({ ...record, generation: Math.max(record.generation, upTo) }, name, upTo);
  return withNote(next, { id, at: now, kind: 'reset', by, name, tokenId, reason });
}

/** A statement about tokens that the record has not seen. */
export interface Statement extends Pick<LogEntry, 'id' | 'by'> {
  readonly reason: string;
  readonly tokens: number;
}

const statedId = 'stated';

/** Returns the row of stated tokens, if it is later than `from` and so still counts. */
export function statedIn({ spent }: LedgerRecord, from: number): Spent | undefined {
  return spent.find(({ id, at }) => id === statedId && at > from);
}

/**
 * Returns the record with at most `tokens` that were issued elsewhere in the last window, and marks
 * it as complete. Undefined: a larger statement counts already, or the record has seen all tokens
 * and none is added.
 */
export function withStated(situation: Situation, { id, by, reason, tokens }: Statement): LedgerRecord | undefined {
  const { record, now } = situation;
  const windowAt = Math.max(0, now - Math.max(...keptTerms(situation).map(({ pendingMs }) => pendingMs)));
  const known = statedIn(record, windowAt)?.tokens ?? 0;
  if (tokens < known || (tokens === 0 && record.completeSince <= windowAt)) return undefined;
  const generation = Math.max(record.generation, now) + 1;
  const row: Spent = {
    ...{ id: statedId, at: now, generation, name: '', keyId: '', instance: by, reason: 'stated' },
    ...{ issuedAt: now, tokens },
  };
  const spent = [...record.spent.filter((one) => one.id !== statedId), row];
  const next = { ...record, generation, spent, completeSince: Math.min(record.completeSince, windowAt) };
  return withNote(next, { id, at: now, kind: 'spent', by, reason });
}

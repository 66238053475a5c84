import type { Attempt, LedgerRecord, StoredToken } from './journal.ts';

const hour = 3_600_000;

/** The store's clock leapt forward, or was set back. */
export interface ClockStep {
  /** The instant that the clock shows. */
  readonly now: number;
  /** The earliest instant that it can show now if it had made no step: the latest one it showed, plus the time measured since. */
  readonly minOldNow: number;
  /** The latest instant that it can show in that case. */
  readonly maxOldNow: number;
  /** The step, as this process measured it: an attempt that it saw keeps its age. */
  readonly stepMs: number;
  /** What this process saw before. An attempt that it did not see may be of the present clock already. */
  readonly known: LedgerRecord | undefined;
}

/**
 * Translates a record to a clock that made a step. What is past keeps its age if this process measured the step, and counts for longer otherwise. After a
 * leap what lies ahead keeps its distance; after a clock was set back, an hour at most. A token never gains life by it.
 */
export function translated(record: LedgerRecord, step: ClockStep): LedgerRecord {
  const { now, stepMs, minOldNow } = step;
  const isBack = stepMs < 0;
  const seen = new Map(step.known?.attempts.map((attempt) => [attempt.id, attempt]));
  const isSeen = (attempt: Attempt) => {
    const before = seen.get(attempt.id);
    return before?.at === attempt.at && before.outcome?.at === attempt.outcome?.at;
  };
  const buckets = new Set(step.known?.buckets.map((bucket) => JSON.stringify(bucket)));
  const past = (at: number, byMs = isBack ? 0 : stepMs) => Math.max(0, Math.min(now, Math.ceil(at + byMs)));
  const ahead = (until: number) => {
    if (!isBack) return until === 0 ? 0 : Math.ceil(until + stepMs);
    return Math.min(until, now + Math.ceil(Math.max(0, Math.min(until - minOldNow, hour))));
  };
  const aheadIf = (until: number | undefined) => (until === undefined ? undefined : ahead(until));
  const { quota } = record;
  return {
    ...record,
    completeSince: past(record.completeSince),
    highWaterAt: now,
    era: record.era + (isBack ? 1 : 0),
    leaptMs: record.leaptMs + (isBack ? 0 : Math.ceil(stepMs)),
    terms: record.terms.map((term) => ({ ...term, seenAt: past(term.seenAt) })),
    attempts: record.attempts.map((attempt): Attempt => {
      const { at, until, outcome } = attempt;
      const byMs = isBack && !isSeen(attempt) ? 0 : stepMs;
      return {
        ...attempt,
        at: past(at, byMs),
        until: ahead(until),
        outcome: outcome && {
          ...outcome,
          at: past(outcome.at, byMs),
          toldUntil: aheadIf(outcome.toldUntil),
          holdUntil: aheadIf(outcome.holdUntil),
        },
      };
    }),
    buckets: record.buckets.map((bucket) => {
      return { ...bucket, last: past(bucket.last, isBack && !buckets.has(JSON.stringify(bucket)) ? 0 : stepMs) };
    }),
    quota: quota && { ...quota, askedAt: past(quota.askedAt, stepMs), at: past(quota.at, stepMs) },
    orders: record.orders.map((order) => ({ ...order, at: past(order.at) })),
    tokens: isBack ? record.tokens.map((token) => aged(token, step)) : record.tokens,
  };
}

/** Translates the tokens alone: another process wrote the record after the clock was set back, and could not know how old they are. */
export function withMeasuredTokens(record: LedgerRecord, step: ClockStep): LedgerRecord {
  const tokens = record.tokens.map((token) => (isKnown(token, step) ? aged(token, step) : token));
  return tokens.every((token, index) => token === record.tokens[index]) ? record : { ...record, tokens };
}

/**
 * Translates a token. If its remaining life is unknown, it counts as expired. Its life is unknown if this process sees it for the first time: its writer may
 * have stood still between its read and its write.
 */
function aged(token: StoredToken, step: ClockStep): StoredToken {
  const { now, minOldNow, maxOldNow } = step;
  const leftMs = isKnown(token, step) ? Math.floor(token.expiresAt - maxOldNow) : 0;
  const earlier = expiringBy(token, now + Math.max(0, leftMs));
  if (earlier === token || token.expiredBy === undefined) return earlier;
  // The token may have this much life left.
  const mostMs = Math.ceil(Math.max(0, token.expiredBy - minOldNow));
  return { ...earlier, expiredBy: Math.min(token.expiredBy, now + mostMs) };
}

function isKnown({ id, expiresAt }: StoredToken, { known }: ClockStep): boolean {
  return known?.tokens.some((token) => token.id === id && token.expiresAt === expiresAt) ?? false;
}

/** Returns the token with an expiry no later than `at`. */
export function expiringBy(token: StoredToken, at: number): StoredToken {
  const aheadMs = token.expiresAt - at;
  return aheadMs > 0 ? { ...token, expiresAt: at, aheadMs: token.aheadMs + aheadMs } : token;
}

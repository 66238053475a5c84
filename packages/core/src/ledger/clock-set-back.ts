import type { AudienceState, Backoff, LedgerRecord, StoredToken } from './record.ts';

const hour = 3_600_000;

/** The store's clock was set back, or leapt forward. */
export interface ClockStep {
  /** The earliest instant that the clock can show now if it had made no step: the latest one it showed, plus the time measured since. */
  readonly minOldNow: number;
  /** The latest instant that it can show in that case. It holds for the tokens of `known`, because this process measured the time since it saw them. */
  readonly maxOldNow: number;
  /** The record as this process saw it last. */
  readonly known: LedgerRecord | undefined;
  /** The instant that the clock shows. */
  readonly now: number;
}

/**
 * Translates what a record counts to a clock that made a step. Nothing lies in the future, so an entry of a clock that was set back counts in full or
 * longer. If the clock leapt forward, what this process has seen keeps its age, and so does what was written before the leap.
 */
export function withClockStep(record: LedgerRecord, { now, minOldNow, maxOldNow, known }: ClockStep): LedgerRecord {
  const { completeSince, highWaterAt, spentElsewhere } = record;
  const leapSince = (at: number) => Math.max(0, Math.ceil(now - at));
  const restLeapMs = now > maxOldNow ? leapSince(Math.max(highWaterAt, minOldNow)) : 0;
  const since = known && { completeSince: known.completeSince };
  const seen = known && [...known.entries, ...known.condensed, ...known.terms, since, known.spentElsewhere];
  const asSeen = new Set(seen?.map((part) => JSON.stringify(part)));
  const moved = (at: number, part: object) =>
    Math.min(now, at + (asSeen.has(JSON.stringify(part)) ? leapSince(minOldNow) : restLeapMs));
  const movedPart = <Part extends { at: number }>(part: Part): Part => ({ ...part, at: moved(part.at, part) });
  return {
    ...record,
    terms: record.terms.map((term) => ({ ...term, seenAt: moved(term.seenAt, term) })),
    completeSince: moved(completeSince, { completeSince }),
    highWaterAt: now,
    entries: record.entries.map(movedPart).sort((a, b) => a.at - b.at),
    condensed: record.condensed.map(movedPart),
    spentElsewhere: spentElsewhere && movedPart(spentElsewhere),
  };
}

/**
 * Translates a record to a clock that was set back. All instants in it come from a clock that was ahead.
 * An entry never lies before its true instant, so it counts in full or longer.
 * A back-off or a lease keeps the time that it had left at `minOldNow`, an hour at most. A token keeps the life that it certainly has, and its
 * fingerprint the life that it may have.
 */
export function withClockSetBack(record: LedgerRecord, setBack: ClockStep): LedgerRecord {
  const { now, minOldNow } = setBack;
  const { probeAt, toldUntil } = record.failures ?? {};
  const moved = (until: number, mostMs = Number.POSITIVE_INFINITY) =>
    Math.min(until, now + Math.ceil(Math.max(0, Math.min(until - minOldNow, mostMs))));
  const rest = (until: number) => moved(until, hour);
  const shorter = <Part extends Backoff>(backoff: Part): Part => ({ ...backoff, retryAt: rest(backoff.retryAt) });
  return {
    ...withClockStep(record, setBack),
    audiences: record.audiences.map(
      (state): AudienceState => ({
        ...state,
        token: state.token && aged(state.token, setBack),
        lease: state.lease && { ...state.lease, until: rest(state.lease.until) },
        renewAfter: rest(state.renewAfter),
        unreadableUntil: rest(state.unreadableUntil),
        credentialsBackoff: state.credentialsBackoff && shorter(state.credentialsBackoff),
        fingerprints: state.fingerprints?.map((known) => ({ ...known, until: moved(known.until) })),
      }),
    ),
    failures: record.failures && {
      ...shorter(record.failures),
      failedAt: Math.min(record.failures.failedAt, now),
      probeAt: probeAt === undefined ? undefined : rest(probeAt),
      toldUntil: toldUntil === undefined ? undefined : rest(toldUntil),
    },
    rateLimit: record.rateLimit && shorter(record.rateLimit),
    resets: record.resets.map((reset) => ({ ...reset, at: Math.min(reset.at, now) })),
    retry: record.retry && { ...shorter(record.retry), openUntil: rest(record.retry.openUntil) },
    // Leases that ended before are counted already.
    deaths: { ...shorter(record.deaths), countedUntil: now },
  };
}

/** Translates the tokens alone: another process wrote the record after the clock was set back, and could not know how old they are. */
export function withMeasuredTokens(record: LedgerRecord, setBack: ClockStep): LedgerRecord {
  const audiences = record.audiences.map((state): AudienceState => {
    const token = state.token && isKnown(state.token, setBack) ? aged(state.token, setBack) : state.token;
    return { ...state, token };
  });
  const isSame = audiences.every(({ token }, index) => token === record.audiences[index]?.token);
  return isSame ? record : { ...record, audiences };
}

/**
 * Translates a token. If its remaining life is unknown, it counts as expired. It stays in the record, because later tokens need a higher generation.
 * Its life is unknown if this process sees it for the first time: its writer may have stood still between its read and its write.
 */
function aged(token: StoredToken, setBack: ClockStep): StoredToken {
  const { now, maxOldNow } = setBack;
  const leftMs = isKnown(token, setBack) ? Math.floor(token.expiresAt - maxOldNow) : 0;
  return expiringBy(token, now + Math.max(0, leftMs));
}

function isKnown({ id, expiresAt }: StoredToken, { known }: ClockStep): boolean {
  return known?.audiences.some(({ token }) => token?.id === id && token.expiresAt === expiresAt) ?? false;
}

/** Returns the token with an expiry no later than `at`. */
export function expiringBy(token: StoredToken, at: number): StoredToken {
  const aheadMs = token.expiresAt - at;
  return aheadMs > 0 ? { ...token, expiresAt: at, aheadMs: (token.aheadMs ?? 0) + aheadMs } : token;
}

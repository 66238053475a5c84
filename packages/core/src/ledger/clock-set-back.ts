import type { AudienceState, Backoff, Condensed, LedgerEntry, LedgerRecord, StoredToken } from './record.ts';

const hour = 3_600_000;

/** The store's clock was ahead and was set back. */
export interface SetBack {
  /** The earliest instant that the clock can show now if it had not been set back: the latest one it showed, plus the time measured since. */
  readonly minOldNow: number;
  /** The latest instant that it can show in that case. It holds for the tokens of `known`, because this process measured the time since it saw them. */
  readonly maxOldNow: number;
  /** The record as this process saw it last. */
  readonly known: LedgerRecord | undefined;
  /** The instant that the clock shows. */
  readonly now: number;
}

/**
 * Translates a record to a clock that was set back. All instants in it come from a clock that was ahead.
 * An entry never lies before its true instant, so it counts in full or longer.
 * A back-off or a lease keeps the time that it had left at `minOldNow`, an hour at most. A token keeps the life that it certainly has, and its
 * fingerprint the life that it may have.
 */
export function withClockSetBack(record: LedgerRecord, setBack: SetBack): LedgerRecord {
  const { now, minOldNow } = setBack;
  const { probeAt, toldUntil } = record.failures ?? {};
  const notLater = <Part extends LedgerEntry | Condensed>(part: Part): Part => ({
    ...part,
    at: Math.min(part.at, now),
  });
  const moved = (until: number, mostMs = Number.POSITIVE_INFINITY) =>
    Math.min(until, now + Math.ceil(Math.max(0, Math.min(until - minOldNow, mostMs))));
  const rest = (until: number) => moved(until, hour);
  const shorter = <Part extends Backoff>(backoff: Part): Part => ({ ...backoff, retryAt: rest(backoff.retryAt) });
  return {
    ...record,
    terms: record.terms.map((term) => ({ ...term, seenAt: Math.min(term.seenAt, now) })),
    completeSince: Math.min(record.completeSince, now),
    highWaterAt: now,
    entries: record.entries.map(notLater),
    condensed: record.condensed.map(notLater),
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
export function withMeasuredTokens(record: LedgerRecord, setBack: SetBack): LedgerRecord {
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
function aged(token: StoredToken, setBack: SetBack): StoredToken {
  const { now, maxOldNow } = setBack;
  const leftMs = isKnown(token, setBack) ? Math.floor(token.expiresAt - maxOldNow) : 0;
  return expiringBy(token, now + Math.max(0, leftMs));
}

function isKnown({ id, expiresAt }: StoredToken, { known }: SetBack): boolean {
  return known?.audiences.some(({ token }) => token?.id === id && token.expiresAt === expiresAt) ?? false;
}

/** Returns the token with an expiry no later than `at`. */
export function expiringBy(token: StoredToken, at: number): StoredToken {
  const aheadMs = token.expiresAt - at;
  return aheadMs > 0 ? { ...token, expiresAt: at, aheadMs: (token.aheadMs ?? 0) + aheadMs } : token;
}

import type { AudienceState, Backoff, Condensed, LedgerEntry, LedgerRecord, StoredToken } from './record.ts';

const hour = 3_600_000;

/** Two readings of the store's clock that was found to have been ahead: what it would show now, and what it shows. */
export interface SetBack {
  /** The least that the old clock can show now: the latest instant in the record, plus the time that this process measured since. */
  readonly minOldNow: number;
  /** The most that it can show now; infinite if this process has not measured for how long nobody looked. */
  readonly maxOldNow: number;
  readonly now: number;
}

/**
 * The record after the store's clock was set back: every instant in it is of a clock that was ahead.
 * Entries lie in the future or the past, but never before the true instant, so they count in full, or longer, from now on.
 * A pause or a lease has left what it had left when somebody measured last, and an hour at most. A token keeps the life that it is known to have.
 */
export function withClockSetBack(record: LedgerRecord, setBack: SetBack): LedgerRecord {
  const { now, minOldNow } = setBack;
  const probeAt = record.failures?.probeAt;
  const notLater = <Part extends LedgerEntry | Condensed>(part: Part): Part => ({
    ...part,
    at: Math.min(part.at, now),
  });
  const rest = (until: number) => Math.min(until, now + Math.ceil(Math.max(0, Math.min(until - minOldNow, hour))));
  const shorter = <Part extends Backoff>(backoff: Part): Part => ({ ...backoff, retryAt: rest(backoff.retryAt) });
  return {
    ...record,
    bornAt: Math.min(record.bornAt, now),
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
      }),
    ),
    failures: record.failures && {
      ...shorter(record.failures),
      probeAt: probeAt === undefined ? undefined : rest(probeAt),
    },
    rateLimit: record.rateLimit && shorter(record.rateLimit),
    rejections: shorter(record.rejections),
    // Leases that had ended stay counted.
    deaths: { ...shorter(record.deaths), countedUntil: now },
  };
}

/** The token by the clock as it is now. Without a measured life it counts as expired; it stays in the record, for later tokens have to have later generations. */
function aged(token: StoredToken, { now, maxOldNow }: SetBack): StoredToken {
  return expiringBy(token, Math.max(now, now + Math.floor(token.expiresAt - maxOldNow)));
}

/** The token with an expiry that is no later than `at`. */
export function expiringBy(token: StoredToken, at: number): StoredToken {
  const aheadMs = token.expiresAt - at;
  return aheadMs > 0 ? { ...token, expiresAt: at, aheadMs: (token.aheadMs ?? 0) + aheadMs } : token;
}

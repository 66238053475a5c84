import { marginOf } from './decide.ts';
import { type Limits, nextBackoff, sparingMs } from './limits.ts';
import type { OAuthErrorCode } from './oauth-error.ts';
import {
  type AudienceState,
  audienceStateOf,
  type LedgerEntry,
  type LedgerRecord,
  type StoredToken,
  withAudienceState,
} from './record.ts';

const second = 1_000;
const minute = 60 * second;
/** Whatever failed may be put right at any moment: a process without a token is served within 16 minutes of that. */
const maxBackoffMs = 15 * minute;
/** From a reservation until its outcome is known, unless the process was stopped meanwhile. */
const maxRequestMs = 6 * minute;

/** What became of a reserved token request. */
export type Outcome =
  /** A token arrived. */
  | { readonly kind: 'issued'; readonly token: StoredToken }
  /** Nothing was sent: this process was too slow. */
  | { readonly kind: 'unsent' }
  /** Surely no token was issued. */
  | {
      readonly kind: 'released';
      readonly cause: 'unreachable' | 'misconfigured';
      readonly status?: number | undefined;
    }
  | {
      readonly kind: 'released';
      readonly cause: 'credentials';
      readonly status: number;
      readonly oauthError?: OAuthErrorCode | undefined;
    }
  | { readonly kind: 'released'; readonly cause: 'rate_limited'; readonly retryAfterMs?: number | undefined }
  /** A token may have been issued: as many as `charge`. */
  | {
      readonly kind: 'ambiguous';
      readonly charge: 1 | 2;
      /** The endpoint had answered a probe just before. */
      readonly answered?: boolean | undefined;
      readonly status?: number | undefined;
      readonly reason?: string | undefined;
    };

/** The reservation that an {@link Outcome} belongs to. */
export interface Reservation {
  readonly entry: LedgerEntry;
  readonly keyId: string;
  readonly secretId: string;
}

/** Enters the outcome of a reservation. Expects a reconciled record; `now` is the ledger's time. */
export function settle(
  record: LedgerRecord,
  now: number,
  reservation: Reservation,
  outcome: Outcome,
  limits: Limits,
): LedgerRecord {
  const { entry, keyId } = reservation;
  const found = audienceStateOf(record, entry.audience, keyId);
  // Whoever holds the lease now keeps it.
  const state = found.lease?.id === entry.id ? { ...found, lease: undefined } : found;
  // Entered again when the store did not confirm: what the first time added must not be added twice.
  const twin = `${entry.id}+`;
  const others = record.entries.filter(({ id }) => id !== entry.id && id !== twin);
  // The record's own, for its clock may be another by now.
  const known = record.entries.find(({ id }) => id === entry.id) ?? entry;
  // A store that was away hears of a failure late: nobody has to hold off for what is over.
  const failedAt = Math.min(now, known.at + maxRequestMs);

  switch (outcome.kind) {
    case 'issued': {
      // Stamped anew: the token was issued at some time between the reservation and now, but not so late that an unknown outcome would count for less.
      const at = Math.max(known.at, Math.min(now, known.at + limits.pendingMs - limits.settledMs));
      return {
        ...withAudienceState(record, withToken(state, outcome.token, entry.reason === 'refresh')),
        entries: [...others, { ...entry, at, pending: false }].sort((a, b) => a.at - b.at),
        failures: undefined,
        rateLimit: undefined,
        deaths: { count: 0, retryAt: 0, countedUntil: now },
      };
    }
    case 'unsent':
      return { ...withAudienceState(record, state), entries: others };
    case 'released':
      return released({ ...record, entries: others }, state, failedAt, reservation, outcome);
    case 'ambiguous': {
      const ids = outcome.charge === 2 ? [entry.id, twin] : [entry.id];
      const entries = [...others, ...ids.map((id) => ({ ...entry, id }))].sort((a, b) => a.at - b.at);
      const charged = { ...withAudienceState(record, state), entries };
      const { status, reason } = outcome;
      const spareMs = sparingMs(charged, now, limits);
      // It answers probes and yet fails: only time spares the budget then.
      const [pauseMs, probeMs] = outcome.answered ? [2 * spareMs, spareMs] : [spareMs, maxBackoffMs];
      const backoff = nextBackoff(record.failures, failedAt, second, maxBackoffMs, pauseMs);
      const probeAt = spareMs > 0 ? Math.ceil(failedAt + probeMs) : undefined;
      return { ...charged, failures: { ...backoff, probeAt, ambiguous: true, status, reason } };
    }
  }
}

function withToken(state: AudienceState, token: StoredToken, ahead: boolean): AudienceState {
  if (token.generation <= state.revoked) return state;
  const present = state.token;
  // A later one, or this very one entered before.
  if (present && present.generation >= token.generation) return state;
  // Renewed ahead of expiry, and yet it lives no longer: the endpoint hands out the same token, asking again soon is in vain.
  const inVain = ahead && present !== undefined && token.expiresAt < present.expiresAt + token.lifetimeMs / 100;
  const later = inVain && present.expiresAt > token.expiresAt ? present : token;
  const renewAfter = inVain ? Math.floor(later.expiresAt - marginOf(later.lifetimeMs)) : 0;
  return { ...state, token: later, renewAfter, credentialsBackoff: undefined };
}

function released(
  record: LedgerRecord,
  state: AudienceState,
  failedAt: number,
  { secretId }: Reservation,
  outcome: Outcome & { kind: 'released' },
): LedgerRecord {
  switch (outcome.cause) {
    case 'credentials': {
      const before = state.credentialsBackoff?.secretId === secretId ? state.credentialsBackoff : undefined;
      const backoff = nextBackoff(before, failedAt, 5 * minute, maxBackoffMs);
      const { status, oauthError } = outcome;
      return withAudienceState(record, { ...state, credentialsBackoff: { ...backoff, secretId, status, oauthError } });
    }
    case 'rate_limited': {
      const { retryAfterMs } = outcome;
      const pauseMs = retryAfterMs ?? maxBackoffMs;
      const rateLimit = nextBackoff(record.rateLimit, failedAt, pauseMs, pauseMs);
      return { ...withAudienceState(record, state), rateLimit };
    }
    default: {
      const [firstMs, maxMs] = outcome.cause === 'unreachable' ? [second, 5 * minute] : [5 * minute, maxBackoffMs];
      const { failures } = record;
      const backoff = nextBackoff(failures, failedAt, firstMs, maxMs);
      // Nothing was spent, so what spares the budget stays as it is.
      const probe =
        failures?.probeAt === undefined
          ? undefined
          : nextBackoff({ ...failures, retryAt: 0 }, failedAt, firstMs, maxMs);
      const { status } = outcome;
      return {
        ...withAudienceState(record, state),
        failures: { ...backoff, probeAt: probe?.retryAt, ambiguous: false, status },
      };
    }
  }
}

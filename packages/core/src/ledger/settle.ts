import { sparingMs } from './admission.ts';
import { nextBackoff } from './backoff.ts';
import { marginOf } from './decide.ts';
import { unitedFingerprints } from './generations.ts';
import type { Limits } from './limits.ts';
import type { OAuthErrorCode } from './oauth-error.ts';
import { isOtherDying } from './pauses.ts';
import {
  type AudienceState,
  audienceStateOf,
  type LedgerEntry,
  type LedgerRecord,
  mayProbe,
  probeMark,
  type StoredToken,
  withAudienceState,
} from './record.ts';
import { clientRefusalsOf, isAboutClient } from './refusals.ts';
import { withCredentialsAccepted, withRetryReturned } from './retry.ts';
import { keptTerms } from './terms.ts';

const second = 1_000;
const minute = 60 * second;
// A failure can end at any moment. A process without a token is served within 16 minutes of that.
const maxBackoffMs = 15 * minute;
// The outcome of a reservation is known within this time, unless the process was stopped.
const maxRequestMs = 6 * minute;

/** The outcome of a reserved token request. */
export type Outcome =
  /** A token arrived. */
  | {
      readonly kind: 'issued';
      readonly token: StoredToken;
      /** The fingerprint of the token. Undefined: it could not be computed. */
      readonly hash?: string | undefined;
    }
  /** No request was sent: this process was too slow, or the probe before it got a token, which counts. */
  | { readonly kind: 'unsent'; readonly probed?: boolean | undefined }
  /** It is certain that no token was issued. */
  | {
      readonly kind: 'released';
      readonly cause: 'unreachable';
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  | {
      readonly kind: 'released';
      readonly cause: 'credentials' | 'misconfigured';
      readonly status: number;
      readonly oauthError?: OAuthErrorCode | undefined;
    }
  | { readonly kind: 'released'; readonly cause: 'rate_limited'; readonly retryAfterMs?: number | undefined }
  /** As many tokens as `charge` says may have been issued. */
  | {
      readonly kind: 'ambiguous';
      readonly charge: 1 | 2;
      /** The endpoint answered a probe just before. */
      readonly answered?: boolean | undefined;
      readonly status?: number | undefined;
      /** The endpoint said with its 503 how long it will be unavailable. */
      readonly retryAfterMs?: number | undefined;
      readonly reason?: string | undefined;
    };

/** The reservation that an {@link Outcome} belongs to. */
export interface Reservation {
  readonly entry: LedgerEntry;
  readonly keyId: string;
  readonly secretId: string;
}

/** Returns the record with the outcome of a reservation. The record must be reconciled. `now` is the ledger's time. */
export function settle(
  record: LedgerRecord,
  now: number,
  reservation: Reservation,
  outcome: Outcome,
  limits: Limits,
): LedgerRecord {
  const { entry, keyId } = reservation;
  const found = audienceStateOf(record, entry.audience, keyId);
  // Another process may have the lease now. It keeps it.
  const state = found.lease?.id === entry.id ? { ...found, lease: undefined } : found;
  // If the store did not confirm the first write, the outcome is written again. It must not count twice.
  const [twin, probe] = [`${entry.id}+`, `${entry.id}${probeMark}`];
  const others = record.entries.filter(({ id }) => id !== entry.id && id !== twin && id !== probe);
  // Use the entry from the record: the store's clock may have been corrected since.
  const known = record.entries.find(({ id }) => id === entry.id) ?? entry;
  // Count the back-off from the request, even if the store hears of it late.
  const failedAt = Math.min(now, known.at + maxRequestMs);
  const { audience } = entry;
  const { failures } = record;
  // If nothing failed for an hour after a request was allowed again, the count starts anew.
  const before = failures && failedAt <= failures.retryAt + 60 * minute ? failures : undefined;

  switch (outcome.kind) {
    case 'issued': {
      // The token was issued between the reservation and now, so it counts from now. It need not count for longer than a pending entry in every term.
      const shifts = keptTerms(record, limits).map(({ pendingMs, settledMs }) => pendingMs - settledMs);
      const at = Math.max(known.at, Math.min(now, known.at + Math.max(0, ...shifts)));
      const next = withCredentialsAccepted(record, entry.id, reservation.secretId);
      const isRetry = record.retry?.id === entry.id;
      return {
        ...withAudienceState(
          next,
          withFingerprint(withToken(state, outcome.token, entry.reason === 'refresh'), now, outcome),
        ),
        entries: [...others, { ...entry, at, pending: false }].sort((a, b) => a.at - b.at),
        // If another audience failed last, it keeps its pause, unless somebody ordered to try again.
        failures:
          failures && failures.audience !== entry.audience && !isRetry
            ? { ...failures, shared: false, toldUntil: undefined }
            : undefined,
        // A 429 that came after this request was reserved is the newer answer.
        rateLimit: record.rateLimit && record.rateLimit.retryAt > known.at && !isRetry ? record.rateLimit : undefined,
        deaths:
          isOtherDying(record, audience) && !isRetry ? record.deaths : { count: 0, retryAt: 0, countedUntil: now },
      };
    }
    case 'unsent': {
      const probed = outcome.probed ? [{ ...entry, id: probe, at: Math.max(known.at, now), pending: false }] : [];
      return { ...withAudienceState(withRetryReturned(record, entry.id), state), entries: [...others, ...probed] };
    }
    case 'released':
      return released({ ...record, failures: before, entries: others }, state, failedAt, reservation, outcome);
    case 'ambiguous': {
      const ids = outcome.charge === 2 ? [entry.id, twin] : [entry.id];
      const entries = [...others, ...ids.map((id) => ({ ...entry, id }))].sort((a, b) => a.at - b.at);
      const charged = { ...withAudienceState(record, state), entries };
      const { status, reason, retryAfterMs = 0 } = outcome;
      const spareMs = sparingMs(charged, now, limits);
      // The endpoint answers probes but fails real requests, so only longer pauses save tokens.
      const [pauseMs, probeMs] = outcome.answered
        ? [sparingMs(charged, now, limits, 2), spareMs]
        : [spareMs, maxBackoffMs];
      // Another request may have been told to wait for longer.
      const probedAt = Math.max(before?.probeAt ?? 0, Math.ceil(failedAt + Math.max(probeMs, retryAfterMs)));
      const probeAt = spareMs > 0 && mayProbe(record) ? probedAt : undefined;
      // Another audience may go on, unless it failed, too.
      const isOther = before !== undefined && before.audience !== audience;
      const shared = before?.shared === true || isOther;
      // After a shared back-off there are turns, which take up to five minutes more.
      const maxMs = shared ? maxBackoffMs - 5 * minute : maxBackoffMs;
      const backoff = nextBackoff(before, failedAt, second, maxMs, Math.max(pauseMs, retryAfterMs));
      const toldUntil =
        retryAfterMs > 0 ? Math.max(before?.toldUntil ?? 0, failedAt + retryAfterMs) : before?.toldUntil;
      // If one audience failed alone until now, it leaves the next request to this one.
      const last = isOther && !before.shared ? before.audience : audience;
      const next = {
        ...backoff,
        failedAt,
        audience: last,
        shared,
        toldUntil,
        probeAt,
        ambiguous: true,
        status,
        reason,
      };
      return { ...charged, failures: next };
    }
  }
}

/** A token that was reset on its way has a fingerprint, too. */
function withFingerprint(
  state: AudienceState,
  now: number,
  { hash, token: { generation, lifetimeMs } }: Outcome & { kind: 'issued' },
): AudienceState {
  if (!hash) return state;
  const alive = (state.fingerprints ?? []).filter(({ until }) => until > now);
  return { ...state, fingerprints: unitedFingerprints(alive, [{ hash, generation, until: now + lifetimeMs }]) };
}

function withToken(state: AudienceState, token: StoredToken, ahead: boolean): AudienceState {
  if (token.generation <= state.revoked) return state;
  const present = state.token;
  // The record has a later token, or has this token already.
  if (present && present.generation >= token.generation) return state;
  // The renewal brought no later expiry: the endpoint returns one token until it expires. Do not ask again before that.
  const inVain = ahead && present !== undefined && token.expiresAt < present.expiresAt + token.lifetimeMs / 100;
  const later = inVain && present.expiresAt > token.expiresAt ? present : token;
  const renewAfter = inVain ? Math.floor(later.expiresAt - marginOf(later.lifetimeMs)) : 0;
  return { ...state, token: later, renewAfter, credentialsBackoff: undefined };
}

function released(
  record: LedgerRecord,
  state: AudienceState,
  failedAt: number,
  { entry: { audience, instance }, secretId }: Reservation,
  outcome: Outcome & { kind: 'released' },
): LedgerRecord {
  switch (outcome.cause) {
    case 'credentials':
    case 'misconfigured': {
      const own = state.credentialsBackoff?.secretId === secretId ? [state.credentialsBackoff] : [];
      // A client that is refused for one token after another is refused again and again.
      const [before] = [...own, ...(isAboutClient(outcome) ? clientRefusalsOf(record, secretId) : [])].sort(
        (a, b) => b.count - a.count,
      );
      const backoff = nextBackoff(before, failedAt, 5 * minute, maxBackoffMs);
      const { status, oauthError } = outcome;
      const credentialsBackoff = { ...backoff, secretId, status, oauthError, instance, failedAt };
      return withAudienceState(record, { ...state, credentialsBackoff });
    }
    case 'rate_limited': {
      const { retryAfterMs } = outcome;
      const pauseMs = retryAfterMs ?? maxBackoffMs;
      const rateLimit = nextBackoff(record.rateLimit, failedAt, pauseMs, pauseMs);
      return { ...withAudienceState(record, state), rateLimit };
    }
    case 'unreachable': {
      const [firstMs, maxMs] = [second, 5 * minute];
      const { failures } = record;
      const { status, retryAfterMs } = outcome;
      const backoff = nextBackoff(failures, failedAt, firstMs, maxMs, retryAfterMs);
      // Nothing was spent, so the back-off that spares the budget is not extended. Another request may have been told to wait for longer.
      const probe =
        failures?.probeAt === undefined
          ? undefined
          : nextBackoff({ ...failures, retryAt: failures.probeAt }, failedAt, firstMs, maxMs, retryAfterMs);
      return {
        ...withAudienceState(record, state),
        failures: {
          ...backoff,
          failedAt,
          // Nobody reaches the endpoint, which says nothing about one audience.
          audience: failures?.audience ?? audience,
          shared: true,
          probeAt: probe?.retryAt,
          ambiguous: false,
          status,
        },
      };
    }
  }
}

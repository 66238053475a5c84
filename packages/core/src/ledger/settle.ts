import { byGeneration } from './attempt.ts';
import type { Attempt, LedgerRecord, Outcome, Quota, QuotaSaid, StoredToken } from './journal.ts';
import { joinedAttempt, newerQuota } from './merge.ts';
import type { OAuthErrorCode } from './oauth-error.ts';
import { heldAfterRefusal } from './refusals.ts';
import { marginOf, tokenOf } from './tokens.ts';

const minute = 60_000;
/** After an answer that says "later", and no time. */
const laterMs = 15 * minute;
// The outcome of a reservation is known within this time, unless the process was stopped.
const maxRequestMs = 6 * minute;

/** What came of a reserved token request. */
export type Answer = AnswerKind & {
  /** What the endpoint said of its own count. */
  readonly quota?: readonly Quota[] | undefined;
};

type AnswerKind =
  /** A token arrived. */
  | {
      readonly kind: 'issued';
      readonly token: StoredToken;
    }
  /** No request was sent: this process was too slow. */
  | { readonly kind: 'unsent' }
  /** It is certain that no token was issued. */
  | {
      readonly kind: 'released';
      readonly cause: 'unreachable';
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  /** The endpoint refused the request. `rate_limited` and `unavailable`: it said that it may accept the same one later. */
  | {
      readonly kind: 'released';
      readonly cause: 'rate_limited' | 'unavailable' | 'credentials' | 'misconfigured';
      readonly status: number;
      readonly oauthError?: OAuthErrorCode | undefined;
      readonly retryAfterMs?: number | undefined;
    }
  /** A token may have been issued. */
  | {
      readonly kind: 'ambiguous';
      readonly status?: number | undefined;
      /** The endpoint said how long it will be unavailable. */
      readonly retryAfterMs?: number | undefined;
      readonly reason?: string | undefined;
    };

/** Returns the record with the outcome of an attempt. To settle twice has the effect of once. The record must be reconciled. `now` is the ledger's time. */
export function settle(record: LedgerRecord, now: number, reserved: Attempt, answer: Answer): LedgerRecord {
  // Use the attempt of the record: the store's clock may have been corrected since.
  const known = record.attempts.find(({ id }) => id === reserved.id) ?? reserved;
  const outcome = outcomeOf(record, now, known, answer);
  const said: QuotaSaid | undefined = answer.quota && { askedAt: known.at, at: outcome.at, figures: answer.quota };
  const settled = { ...withOutcome(record, known, outcome), quota: newerQuota(record.quota, said) };
  return answer.kind === 'issued' ? withToken(settled, now, answer.token) : settled;
}

function withOutcome(record: LedgerRecord, attempt: Attempt, outcome: Outcome): LedgerRecord {
  const others = record.attempts.filter(({ id }) => id !== attempt.id);
  return { ...record, attempts: [...others, joinedAttempt(attempt, { ...attempt, outcome })].sort(byGeneration) };
}

function outcomeOf(record: LedgerRecord, now: number, attempt: Attempt, answer: Answer): Outcome {
  const at = Math.max(attempt.at, now);
  // Count the pauses from the request, even if the store hears of it late.
  const failedAt = Math.max(attempt.at, Math.min(now, attempt.at + maxRequestMs));
  const told = (ms: number | undefined) => (ms ? { toldUntil: Math.ceil(failedAt + ms) } : {});
  switch (answer.kind) {
    case 'issued':
      return { kind: 'issued', at, charge: 1, ...renewalHold(record, attempt, answer.token) };
    case 'unsent':
      return { kind: 'unsent', at, charge: 0 };
    case 'ambiguous': {
      const { status, reason: code, retryAfterMs } = answer;
      return { kind: 'unknown', at: failedAt, charge: 1, status, code, ...told(retryAfterMs) };
    }
    case 'released':
      switch (answer.cause) {
        case 'unreachable':
          return { kind: 'unreached', at: failedAt, charge: 0, status: answer.status, ...told(answer.retryAfterMs) };
        case 'rate_limited':
        case 'unavailable': {
          const { cause, status, oauthError, retryAfterMs = laterMs } = answer;
          const code = cause === 'unavailable' ? oauthError : undefined;
          return { kind: 'refused', at: failedAt, charge: 0, status, code, ...told(retryAfterMs) };
        }
        case 'credentials':
        case 'misconfigured': {
          const { status, oauthError: code, retryAfterMs = 0 } = answer;
          const held = heldAfterRefusal(record, attempt, failedAt, { status, code });
          const holdUntil = Math.max(held.holdUntil, Math.ceil(failedAt + retryAfterMs));
          return { kind: 'refused', at: failedAt, charge: 0, status, code, ...held, holdUntil };
        }
      }
  }
}

/** The renewal brought no later expiry: the endpoint returns one token until it expires. Do not ask again before that. */
function renewalHold(record: LedgerRecord, { reason, audience, keyId }: Attempt, token: StoredToken) {
  const present = tokenOf(record, audience, keyId);
  if (reason !== 'refresh' || !present || present.id === token.id) return {};
  if (token.expiresAt >= present.expiresAt + token.lifetimeMs / 100) return {};
  const later = present.expiresAt > token.expiresAt ? present : token;
  return { holdUntil: Math.floor(later.expiresAt - marginOf(later.lifetimeMs)) };
}

/**
 * Returns the record with a token, unless it has a later one. A renewal ahead of expiry does not replace a token that
 * lives longer. A token that was reset on its way is never used, but an answer that repeats it is recognised.
 */
function withToken(record: LedgerRecord, now: number, token: StoredToken): LedgerRecord {
  const { audience, keyId, generation, id } = token;
  const before = record.tokens.find((other) => other.audience === audience && other.keyId === keyId);
  if (before && before.generation >= generation) return record;
  const present = tokenOf(record, audience, keyId);
  const attempt = record.attempts.find((attempt) => attempt.id === id);
  const isShorter =
    present !== undefined && attempt?.outcome?.holdUntil !== undefined && present.expiresAt > token.expiresAt;
  if (isShorter) return record;
  const resetHash = present ? present.resetHash : before?.hash;
  const next = { ...token, expiredBy: now + token.lifetimeMs, resetHash };
  return { ...record, tokens: [...record.tokens.filter((other) => other !== before), next] };
}

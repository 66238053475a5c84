import { nextBackoff } from './backoff.ts';
import type { CredentialsBackoff, LedgerRecord } from './record.ts';
import { isAboutClient } from './refusals.ts';

const minute = 60_000;
/** If nobody needs a token for so long, the permission ends. */
const openForMs = 15 * minute;

/** Returns the instant from which the fleet may be told to try again, `now` at the earliest. Such orders are 1, 2, 4 … 60 minutes apart. */
export function retryRoomAt({ retry }: LedgerRecord, now: number): number {
  return Math.max(now, retry?.retryAt ?? 0);
}

/** Returns whether the next token request of the fleet ignores the holds. */
export function isRetryOpen({ retry }: LedgerRecord, now: number): boolean {
  return retry !== undefined && retry.id === undefined && now < retry.openUntil;
}

/**
 * Returns the record in which the next token request, of whatever process and audience, ignores the holds. If it fails, they hold on. The limit, and the
 * share of it that 401s of the API may spend, still decide.
 */
export function withRetry(record: LedgerRecord, now: number): LedgerRecord {
  const { retry } = record;
  const before = retry && now > retry.retryAt + 60 * minute ? undefined : retry;
  return {
    ...record,
    retry: { ...nextBackoff(before, now, minute, 60 * minute), openUntil: now + openForMs },
    // Each of these holds allows one request of its own when it ends.
    audiences: record.audiences.map((state) => ({
      ...state,
      renewAfter: Math.min(state.renewAfter, now),
      unreadableUntil: Math.min(state.unreadableUntil, now),
    })),
  };
}

/** Returns the record in which this request is the one that ignores the holds. */
export function withRetryTaken(record: LedgerRecord, now: number, id: string): LedgerRecord {
  return isRetryOpen(record, now) && record.retry ? { ...record, retry: { ...record.retry, id } } : record;
}

/**
 * Returns the record after a request had a token issued: the client is accepted with these credentials. If the request ignored the holds, the credentials are
 * tried again for every audience.
 */
export function withCredentialsAccepted(record: LedgerRecord, id: string, secretId: string): LedgerRecord {
  const isRetry = record.retry?.id === id;
  const ends = (refusal: CredentialsBackoff | undefined) =>
    refusal?.secretId === secretId && (isRetry || isAboutClient(refusal));
  if (!record.audiences.some(({ credentialsBackoff }) => ends(credentialsBackoff))) return record;
  return {
    ...record,
    audiences: record.audiences.map((state) =>
      ends(state.credentialsBackoff) ? { ...state, credentialsBackoff: undefined } : state,
    ),
  };
}

/** Returns the record after the request that ignored the holds was not sent: the next one ignores them. */
export function withRetryReturned(record: LedgerRecord, id: string): LedgerRecord {
  return record.retry?.id === id ? { ...record, retry: { ...record.retry, id: undefined } } : record;
}

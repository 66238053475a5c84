import { rejectedRoomAt } from './admission.ts';
import type { Limits } from './limits.ts';
import { pausesOf } from './pauses.ts';
import type { AudienceState, IssuanceReason, LedgerRecord } from './record.ts';
import { isOfCredentials } from './refusals.ts';
import { isRetryOpen } from './retry.ts';

/**
 * Why no token is requested for a time, although the limit has room. `credentials`: the endpoint rejected them. `misconfigured`: it answered a redirect,
 * 404 or the like, so the address or the audience is wrong. `rate_limited`: it answered 429. `backoff`: it failed. `deaths`: processes died during
 * their requests. `rejections`: renewals that 401s of the API cause are spaced. `renewal`: the last renewal ahead of expiry brought no later expiry.
 * `unreadable`: a token that could not be decrypted was replaced a short time ago.
 */
export type HoldKind =
  | 'credentials'
  | 'misconfigured'
  | 'rate_limited'
  | 'backoff'
  | 'deaths'
  | 'rejections'
  | 'renewal'
  | 'unreadable';

/** A hold of the record. */
export interface Hold {
  readonly kind: HoldKind;
  readonly until: number;
  /** The status that the token endpoint answered. */
  readonly status?: number | undefined;
  /** The audience that the hold is for. Undefined: it is for all. */
  readonly audience?: string | undefined;
  /** The state of that audience under one key. */
  readonly state?: AudienceState | undefined;
}

/** A process that needs a token for an audience. */
export interface Caller {
  readonly audience: string;
  readonly keyId: string;
  readonly secretId: string;
  /** The stored token cannot be opened. */
  readonly unreadable?: boolean | undefined;
}

/** Returns the holds that apply to these audience states. The record must be reconciled. */
export function holdsOf(
  record: LedgerRecord,
  states: readonly AudienceState[],
  now: number,
  limits: Limits,
): readonly Hold[] {
  const { rateLimit } = record;
  const audiences = [...new Set(states.map(({ audience }) => audience))];
  const holds: readonly Hold[] = [
    ...states.flatMap((state): Hold[] => {
      const { audience, credentialsBackoff, renewAfter, unreadableUntil } = state;
      const { retryAt: until = 0, status } = credentialsBackoff ?? {};
      const kind = credentialsBackoff && isOfCredentials(credentialsBackoff) ? 'credentials' : 'misconfigured';
      return [
        { kind, until, status, audience, state },
        { kind: 'renewal', until: renewAfter, audience, state },
        { kind: 'unreadable', until: unreadableUntil, audience, state },
      ];
    }),
    ...audiences.map((audience): Hold => {
      return { kind: 'rejections', until: rejectedRoomAt(record, now, limits, audience), audience };
    }),
    { kind: 'rate_limited', until: rateLimit?.retryAt ?? 0, status: 429 },
    ...pausesOf(record, audiences),
  ];
  const isOpen = isRetryOpen(record, now);
  return holds.filter(({ kind, until }) => until > now && (!isOpen || kind === 'rejections'));
}

/** Returns whether a hold of the caller's audience denies it a token for this reason. */
export function binds({ kind, state }: Hold, caller: Caller, reason: IssuanceReason): boolean {
  switch (kind) {
    case 'credentials':
      // Another client secret is not affected.
      return state?.credentialsBackoff?.secretId === caller.secretId;
    case 'renewal':
      return reason === 'refresh';
    case 'rejections':
      return reason === 'rejected';
    case 'unreadable':
      return caller.unreadable === true;
    case 'misconfigured':
    case 'rate_limited':
    case 'backoff':
    case 'deaths':
      return true;
  }
}

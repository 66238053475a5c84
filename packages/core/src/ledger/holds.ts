import { rejectedRoomAt } from './admission.ts';
import type { Limits } from './limits.ts';
import type { AudienceState, IssuanceReason, LedgerRecord } from './record.ts';
import { isRetryOpen } from './retry.ts';

/**
 * Why no token is requested for a time, although the limit has room. `credentials`: the endpoint rejected them. `rate_limited`: it answered 429.
 * `backoff`: it failed. `deaths`: processes died during their requests. `rejections`: renewals that 401s of the API cause are spaced. `renewal`: the
 * last renewal ahead of expiry brought no later expiry. `unreadable`: a token that could not be decrypted was replaced a short time ago.
 */
export type HoldKind = 'credentials' | 'rate_limited' | 'backoff' | 'deaths' | 'rejections' | 'renewal' | 'unreadable';

/** A hold of the record. */
export interface Hold {
  readonly kind: HoldKind;
  readonly until: number;
  /** The status that the token endpoint answered. */
  readonly status?: number | undefined;
  /** The audience, under one key, that the hold is for. Undefined: it is for all. */
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
  const { failures, rateLimit, deaths } = record;
  const holds: readonly Hold[] = [
    ...states.flatMap((state): Hold[] => [
      {
        kind: 'credentials',
        until: state.credentialsBackoff?.retryAt ?? 0,
        status: state.credentialsBackoff?.status,
        state,
      },
      { kind: 'renewal', until: state.renewAfter, state },
      { kind: 'unreadable', until: state.unreadableUntil, state },
    ]),
    { kind: 'rate_limited', until: rateLimit?.retryAt ?? 0, status: 429 },
    { kind: 'backoff', until: failures?.probeAt ?? failures?.retryAt ?? 0, status: failures?.status },
    { kind: 'deaths', until: deaths.retryAt },
    { kind: 'rejections', until: rejectedRoomAt(record, now, limits) },
  ];
  const isOpen = isRetryOpen(record, now);
  return holds.filter(({ kind, until }) => until > now && (!isOpen || kind === 'rejections'));
}

/** Returns whether a hold on the audience of a caller denies it a token for this reason. */
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
    default:
      return true;
  }
}

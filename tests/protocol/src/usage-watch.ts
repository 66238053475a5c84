import { availableFor, type Purpose, refusalOf } from '../../../packages/core/src/ledger/availability.ts';
import { compact } from '../../../packages/core/src/ledger/condense.ts';
import { decide, type Query, withReservation } from '../../../packages/core/src/ledger/decide.ts';
import type { Caller } from '../../../packages/core/src/ledger/holds.ts';
import type { Limits } from '../../../packages/core/src/ledger/limits.ts';
import {
  type AudienceState,
  audienceStateOf,
  type LedgerRecord,
  withAudienceState,
} from '../../../packages/core/src/ledger/record.ts';

const purposes: readonly Purpose[] = ['cold', 'refresh', 'rejected', 'reset'];

/**
 * Compares what `getUsage()` says about the next tokens with what the decision does: as many callers as it says get a token each, the next one gets none,
 * and a caller that is refused gets one at the instant that it says, not earlier. Returns the difference.
 */
export function usageDiffers(known: LedgerRecord, now: number, limits: Limits): string | undefined {
  // The callers below are of other audiences, and an audience leaves some requests to others.
  const another = { audience: 'another', keyId: '', revoked: now, renewAfter: 0, unreadableUntil: 0 };
  const record = withAudienceState(known, another);
  const caller = someCaller(record);
  for (const purpose of purposes) {
    const said = availableFor(purpose, compact(record, now, limits), now, caller, limits);
    const admitted = admittedAt(record, now, caller, limits, purpose, said + 1);
    if (admitted !== said) return `${said} for ${purpose}, but ${admitted} are admitted`;
  }
  const refusal = refusalOf(compact(record, now, limits), now, caller, limits);
  if (!refusal) return undefined;
  const [before, then] = [refusal.until - 1, refusal.until].map((at) =>
    admittedAt(record, at, caller, limits, 'cold', 1),
  );
  // A request that is under way may end as a death. The pause after it may be shorter than the one before, and nobody foretells that.
  const mayEndEarlier = record.audiences.some(({ lease }) => lease && lease.until > now && lease.until < refusal.until);
  return (before === 0 || mayEndEarlier) && then === 1
    ? undefined
    : `refused for ${refusal.until - now} ms by ${refusal.cause}, but ${before} before and ${then} then are admitted`;
}

/** Takes a caller whose credentials were rejected, if there is one. */
function someCaller({ audiences }: LedgerRecord): Caller {
  const {
    audience = 'nobody',
    keyId = '',
    credentialsBackoff,
  } = audiences.find((state) => state.credentialsBackoff) ?? {};
  return { audience, keyId, secretId: credentialsBackoff?.secretId ?? '' };
}

/** Counts the callers, `most` at most, to whom the decision gives a token of their own. None of their requests is answered yet. */
function admittedAt(
  known: LedgerRecord,
  now: number,
  caller: Caller,
  limits: Limits,
  purpose: Purpose,
  most: number,
): number {
  let record = compact(known, now, limits);
  for (let count = 0; count < most; count++) {
    const asked = withoutToken(record, caller, purpose === 'reset' ? now : 0, `for caller ${count}`);
    const reason = purpose === 'reset' ? 'cold' : purpose;
    const what = { reason, unusable: [], resetUpTo: 0, unreadable: false, leaseMs: 60_000 } as const;
    const query: Query = { ...caller, ...what, id: `caller ${count}`, instance: 'usage' };
    // Nothing gives tokens back here, so the first decision and the last ones say what all of them are. To make each takes most of the time.
    if (count > 0 && count < most - 3) {
      record = withReservation(asked, now, query, purpose, limits);
      continue;
    }
    const decision = decide(asked, now, query, limits);
    if (decision.kind !== 'write') return count;
    record = decision.record;
  }
  return most;
}

/** The record as if the tokens of the caller's audience, and the requests for them, were of another audience. */
function withoutToken(record: LedgerRecord, { audience, keyId }: Caller, revoked: number, name: string): LedgerRecord {
  const own = audienceStateOf(record, audience, keyId);
  const bare: AudienceState = { ...own, revoked, token: undefined, lease: undefined };
  const others = record.audiences.map((state) =>
    state.audience === audience ? { ...state, audience: `${audience} ${name}`, credentialsBackoff: undefined } : state,
  );
  return { ...record, audiences: [...others, bare] };
}

import { latestGeneration, revoke } from './generations.ts';
import { audienceStateOf, audienceStatesOf, type LedgerRecord, maxResets, type ResetEntry } from './record.ts';

/** A process reports that the tokens of an audience are compromised. */
export interface Reset {
  /** Identifies the reset. A reset that is written twice is listed once. */
  readonly id: string;
  readonly audience: string;
  readonly keyId: string;
  readonly instance: string;
  readonly reason?: string | undefined;
  /** The token in the memory of this process. `isServed`: its callers were served this token until now, so it is the token that the process reports. */
  readonly cached?: { readonly id: string; readonly generation: number; readonly isServed: boolean } | undefined;
}

/**
 * Returns the record in which all tokens of an audience are reset, and in which the reset is listed. If the token that the process reports was reset before,
 * its replacement is not. Nothing changes if the record knows no token of this audience, because its name is probably wrong. A record that nobody has
 * written yet knows nothing: it may follow one that was lost.
 */
export function withReset(record: LedgerRecord, now: number, reset: Reset): LedgerRecord {
  const { id, audience, keyId, instance, reason, cached } = reset;
  const states = audienceStatesOf(record, audience);
  const { revoked, token: own } = audienceStateOf(record, audience, keyId);
  const isKnown =
    revoked > 0 ||
    states.some((state) => state.token || state.lease) ||
    record.entries.some((entry) => entry.audience === audience);
  if (!isKnown && !cached && record.sequence > 0) return record;
  const generation = cached?.generation ?? 0;
  // Many processes may report one token for one alarm.
  const isReset = cached?.isServed && generation <= revoked;
  const upTo = isReset ? revoked : Math.max(latestGeneration(record, audience, now), generation);
  const tokenId = (cached ?? own ?? states.find(({ token }) => token)?.token)?.id;
  const listed = { id, at: now, audience, tokenId, instance, reason };
  return { ...revoke(record, audience, keyId, upTo), resets: unitedResets(record.resets, [listed]) };
}

/** Unites two lists of resets: the newest remain, the oldest of them first. */
export function unitedResets(one: readonly ResetEntry[], other: readonly ResetEntry[]): readonly ResetEntry[] {
  const added = other.filter(({ id }) => !one.some((reset) => reset.id === id));
  return [...one, ...added].sort((a, b) => a.at - b.at).slice(-maxResets);
}

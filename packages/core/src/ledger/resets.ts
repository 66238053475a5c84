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
  /** The token in the memory of this process. */
  readonly cached?: { readonly id: string; readonly generation: number } | undefined;
}

/**
 * Returns the record in which all tokens of an audience are reset, and in which the reset is listed. Undefined: the record knows no token of this audience,
 * so its name is probably wrong. A record that nobody has written yet knows nothing: it may follow one that was lost.
 */
export function withReset(record: LedgerRecord, now: number, reset: Reset): LedgerRecord | undefined {
  const { audience, keyId, cached } = reset;
  const states = audienceStatesOf(record, audience);
  const isKnown =
    states.some(({ token, lease, revoked }) => token || lease || revoked > 0) ||
    record.entries.some((entry) => entry.audience === audience);
  if (!isKnown && !cached && record.sequence > 0) return undefined;
  const upTo = Math.max(latestGeneration(record, audience, now), cached?.generation ?? 0);
  const present = audienceStateOf(record, audience, keyId).token ?? states.find(({ token }) => token)?.token;
  const { id, instance, reason } = reset;
  const listed = { id, at: now, audience, tokenId: cached?.id ?? present?.id, instance, reason };
  const next = revoke(record, audience, keyId, upTo);
  return { ...next, resets: unitedResets(record.resets, [listed]) };
}

/** Unites two lists of resets: the newest remain, the oldest of them first. */
export function unitedResets(one: readonly ResetEntry[], other: readonly ResetEntry[]): readonly ResetEntry[] {
  const known = new Set(one.map(({ id }) => id));
  const added = other.filter(({ id }) => !known.has(id));
  return [...one, ...added].sort((a, b) => a.at - b.at).slice(-maxResets);
}

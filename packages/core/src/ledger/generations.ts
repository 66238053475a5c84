import {
  audienceStateOf,
  audienceStatesOf,
  type Fingerprint,
  type LedgerRecord,
  maxFingerprints,
  maxLifetimeMs,
  withAudienceState,
} from './record.ts';

/**
 * Returns the latest generation that a token of this audience may have. It follows the time, not only the record: a store that went back to an
 * older record must not give the same generation twice, or a reset of the lost token would end the new one.
 */
export function latestGeneration(record: LedgerRecord, audience: string, now: number): number {
  const known = audienceStatesOf(record, audience).flatMap(({ revoked, token, lease }) => [
    revoked,
    token?.generation ?? 0,
    lease?.generation ?? 0,
  ]);
  return Math.max(now, ...known);
}

/** Returns whether a token that was reset may still be in use. */
export function isRemembered(revoked: number, now: number): boolean {
  return revoked + maxLifetimeMs > now;
}

/** Unites two lists of fingerprints. If both have a token, its generation in the first one remains. */
export function unitedFingerprints(
  one: readonly Fingerprint[],
  other: readonly Fingerprint[] = [],
): readonly Fingerprint[] {
  const added = other.filter(({ hash }) => !one.some((token) => token.hash === hash));
  return [...one, ...added].slice(-maxFingerprints);
}

/** Resets the tokens of an audience up to a generation, under all keys. Tokens that are still being requested are included. */
export function revoke(record: LedgerRecord, audience: string, keyId: string, upTo: number): LedgerRecord {
  const state = audienceStateOf(record, audience, keyId);
  const marked = withAudienceState(record, { ...state, revoked: Math.max(state.revoked, upTo) });
  const audiences = marked.audiences.map((each) =>
    each.audience === audience ? audienceStateOf(marked, audience, each.keyId) : each,
  );
  return { ...marked, audiences };
}

import { audienceStateOf, audienceStatesOf, type LedgerRecord, maxLifetimeMs, withAudienceState } from './record.ts';

/**
 * The latest generation that a token of this audience may have. It goes by the time, and not by the record, so that a store that went back does
 * not give the same ones again: what was reset meanwhile would end tokens that are good.
 */
export function latestGeneration(record: LedgerRecord, audience: string, now: number): number {
  const known = audienceStatesOf(record, audience).flatMap(({ revoked, token, lease }) => [
    revoked,
    token?.generation ?? 0,
    lease?.generation ?? 0,
  ]);
  return Math.max(now, ...known);
}

/** Whether somebody may still hold a token that was reset. */
export function isRemembered(revoked: number, now: number): boolean {
  return revoked + maxLifetimeMs > now;
}

/** Marks the tokens of an audience up to a generation as compromised, whichever keys sealed them, and those on their way too. */
export function revoke(record: LedgerRecord, audience: string, keyId: string, upTo: number): LedgerRecord {
  const state = audienceStateOf(record, audience, keyId);
  const marked = withAudienceState(record, { ...state, revoked: Math.max(state.revoked, upTo) });
  const audiences = marked.audiences.map((each) =>
    each.audience === audience ? audienceStateOf(marked, audience, each.keyId) : each,
  );
  return { ...marked, audiences };
}

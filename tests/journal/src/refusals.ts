import { type Attempt, chargeOf, isIssued, type LedgerRecord } from './journal.ts';
import { spacingAfter } from './spacing.ts';

/** Returns the newest refusal of each audience, key and secret that no token followed. */
export function refusalsOf({ attempts }: LedgerRecord, pardonedAt: number): readonly Attempt[] {
  const refusals = new Map<string, Attempt>();
  for (const attempt of attempts) {
    const { audience, secretId, outcome } = attempt;
    if (!outcome) continue;
    const key = JSON.stringify([audience, secretId]);
    if (outcome.kind === 'refused' && outcome.holdUntil !== undefined && outcome.at > pardonedAt) {
      if (outcome.at >= (refusals.get(key)?.outcome?.at ?? 0)) refusals.set(key, attempt);
    }
    if (!isIssued(attempt)) continue;
    for (const [name, refused] of refusals) {
      const isAbout = refused.audience === audience || refused.outcome?.ofClient === true;
      const helps = refused.secretId === secretId || !isOfCredentials(refused.outcome?.status);
      if (isAbout && helps && (refused.outcome?.at ?? 0) <= outcome.at) refusals.delete(name);
    }
  }
  return [...refusals.values()];
}

/** Returns whether a status of the token endpoint says that it rejected the credentials. */
export function isOfCredentials(status: number | undefined): boolean {
  return status === 400 || status === 401 || status === 403;
}

/** Returns the renewals in a row that 401s caused for an audience, and when the next one may follow. */
export function rejectionsOf({ attempts }: LedgerRecord, audience: string): { count: number; until: number } {
  const renewals = attempts.filter((attempt) => attempt.reason === 'rejected' && chargeOf(attempt) > 0);
  return spacingAfter(renewals.filter((attempt) => attempt.audience === audience).map(({ at }) => at));
}

/** Returns whether probes cost nothing: as far as the record knows, the endpoint issued no token to one. */
export function mayProbe({ attempts }: LedgerRecord): boolean {
  return !attempts.some(({ outcome }) => outcome?.kind === 'unsent' && outcome.charge > 0);
}

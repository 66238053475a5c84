import type { UsableToken } from './cached-token.ts';
import type { Denial } from './ledger/decide.ts';
import { spent } from './ledger/limits.ts';
import type { IssuanceReason } from './ledger/record.ts';
import type { Settings } from './settings.ts';
import { toLocalTime, type View } from './shared-ledger.ts';
import type { IssuedToken } from './token-response.ts';

/** Reports a token that was issued to this process. `view`: the record with it. */
export function reportIssuance(
  { emit, limits }: Settings,
  reason: IssuanceReason,
  { token }: UsableToken,
  { warnings }: IssuedToken,
  view: View,
  durationMs: number,
): void {
  const { used } = spent(view.record);
  const { id: tokenId, expiresAt } = token;
  emit('token_issued', { reason, tokenId, expiresAt, used, usable: limits.usable, warnings, durationMs });
}

/** Reports that the budget did not allow a token. */
export function reportDenial(
  { emit, limits, clock }: Settings,
  reason: IssuanceReason,
  { retryAt }: Denial,
  view: View,
): void {
  const { used } = spent(view.record);
  emit('issuance_refused', { reason, retryAt: toLocalTime(retryAt, view, clock), limit: limits.limit, used });
}

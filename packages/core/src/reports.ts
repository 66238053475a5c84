import type { UsableToken } from './cached-token.ts';
import { admission, tightest } from './ledger/admission.ts';
import type { Denial } from './ledger/decide.ts';
import type { IssuanceReason } from './ledger/record.ts';
import { toLocalTime } from './ledger-time.ts';
import type { Settings } from './settings.ts';
import type { View } from './shared-ledger.ts';
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
  const { used = 0, term } = tightest(admission(view.record, view.now, limits, reason)) ?? {};
  const { id: tokenId, expiresAt } = token;
  emit('token_issued', { reason, tokenId, expiresAt, used, usable: term?.usable ?? 0, warnings, durationMs });
}

/** Reports that the budget did not allow a token. */
export function reportDenial(
  { emit, clock }: Settings,
  reason: IssuanceReason,
  { retryAt, room }: Denial,
  view: View,
): void {
  const { used = 0, term } = room ?? {};
  const { tokens: limit = 0, windowMs = 0 } = term ?? {};
  emit('issuance_refused', { reason, retryAt: toLocalTime(retryAt, view, clock), limit, used, windowMs });
}

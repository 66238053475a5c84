import type { AnyServiceAuthError } from '../contract/errors.ts';
import type { Settings } from '../contract/settings.ts';
import type { IssuedToken } from '../endpoint/token-response.ts';
import { admission, tightest } from '../ledger/admission.ts';
import type { IssuanceReason } from '../ledger/record.ts';
import type { View } from '../record/shared-record.ts';
import type { UsableToken } from './usable-token.ts';

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

/** Reports a denial, if the budget did not allow a token. `error`: that of the denial. */
export function reportDenial({ emitRepeated }: Settings, reason: IssuanceReason, error: AnyServiceAuthError): void {
  if (error.code !== 'ERR_ISSUANCE_LIMIT') return;
  const { retryAt, limit, used, windowMs } = error;
  emitRepeated('issuance_refused', { reason, retryAt, limit, used, windowMs }, reason);
}

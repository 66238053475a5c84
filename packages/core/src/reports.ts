import type { UsableToken } from './cached-token.ts';
import type { AnyServiceAuthError } from './errors.ts';
import { admission, tightest } from './ledger/admission.ts';
import type { IssuanceReason } from './ledger/record.ts';
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

/** Reports a denial, if the budget did not allow a token. `error`: that of the denial. */
export function reportDenial({ emitRepeated }: Settings, reason: IssuanceReason, error: AnyServiceAuthError): void {
  if (error.code !== 'ERR_ISSUANCE_LIMIT') return;
  const { retryAt, limit, used, windowMs } = error;
  emitRepeated('issuance_refused', { reason, retryAt, limit, used, windowMs }, reason);
}

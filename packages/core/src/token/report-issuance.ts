import type { AnyServiceAuthError } from '../contract/errors.ts';
import type { QuotaOwner } from '../contract/events.ts';
import type { Settings } from '../contract/settings.ts';
import type { Quotas } from '../endpoint/token-endpoint.ts';
import type { IssuedToken } from '../endpoint/token-response.ts';
import { roomsIn, tightest } from '../ledger/count.ts';
import { foreignIn } from '../ledger/quota.ts';
import type { IssuanceReason, Quota, Spent } from '../ledger/record.ts';
import { warn } from '../platform/warn.ts';
import type { View } from '../record/shared-record.ts';
import type { ClientParts } from './client-parts.ts';
import type { UsableToken } from './usable-token.ts';

/** Reports a token that was issued to this process. `view`: the record with it. */
export function reportIssuance(
  { clientId, emit, limits }: Settings,
  reason: IssuanceReason,
  { token }: UsableToken,
  { warnings, missingScope }: IssuedToken,
  view: View,
  durationMs: number,
): void {
  const { used, term } = tightest(roomsIn(view.record, view.now, limits, reason));
  const { id: tokenId, expiresAt } = token;
  const { usable } = term;
  const missing = missingScope ? { missingScope } : {};
  emit('token_issued', { reason, tokenId, expiresAt, used, usable, warnings, ...missing, durationMs });
  if (missingScope) warn(`The token for ${clientId} lacks the scope ${missingScope}.`, 'SERVICE_AUTH_MISSING_SCOPE');
}

/** Reports what the provider counts, as the answer to a request said. `view`: the record with the request. While it is not written, others may know of more tokens. */
export function reportQuota(
  { settings: { emit, clock }, sharedRecord }: ClientParts,
  { quota = [], organizationQuota = [] }: Quotas,
  reserved: Spent,
  { record, now }: View,
): void {
  const askedAt = record.spent.find(({ id }) => id === reserved.id)?.at ?? reserved.at;
  const isWritten = !sharedRecord.unsettled?.has(reserved);
  const said: Readonly<Record<QuotaOwner, readonly Quota[]>> = { client: quota, organization: organizationQuota };
  for (const [of, figures] of Object.entries(said) as [QuotaOwner, readonly Quota[]][]) {
    for (const figure of figures) {
      const { windowMs, tokens, remaining, endsInMs } = figure;
      const foreign = of === 'client' && isWritten ? foreignIn(record, figure, askedAt, now) : undefined;
      emit('quota_observed', { of, windowMs, tokens, remaining, resetAt: clock.now() + endsInMs, foreign });
    }
  }
}

/**
 * Reports a denial, if the budget did not allow a token, or would not have done so. `error`: that of the denial.
 */
export function reportDenial(
  { emitRepeated }: Settings,
  reason: IssuanceReason,
  error: AnyServiceAuthError,
  type: 'issuance_refused' | 'issuance_over_limit' = 'issuance_refused',
): void {
  if (error.code !== 'ERR_ISSUANCE_LIMIT') return;
  const { retryAt, limit, used, usable, windowMs, newRecord } = error;
  emitRepeated(type, { reason, retryAt, limit, used, usable, windowMs, newRecord }, reason);
}

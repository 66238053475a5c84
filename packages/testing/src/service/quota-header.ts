import type { IssuanceLog, TestIssuanceLimit } from './issuance-log.ts';

const hour = 3_600_000;

/**
 * Writes `Auth0-Client-Quota-Limit` (https://auth0.com/docs/fine-grained-m2m-token-quotas): the
 * tokens of a client in the present UTC hour or day.
 */
export function quotaHeader(
  log: IssuanceLog,
  { tokens = 150, windowMs: agreedMs }: TestIssuanceLimit,
  { foreign = 0 }: { readonly foreign?: number | undefined },
): (clientId: string, now: number) => string {
  const [name, windowMs] = agreedMs === hour ? ['per_hour', hour] : ['per_day', 24 * hour];
  return (clientId, now) => {
    const beganAt = Math.floor(now / windowMs) * windowMs;
    const own = log.issuances.filter((issued) => issued.clientId === clientId && issued.at >= beganAt).length;
    const remaining = Math.max(0, tokens - own - foreign);
    return `b=${name};q=${tokens};r=${remaining};t=${Math.ceil((beganAt + windowMs - now) / 1_000)}`;
  };
}

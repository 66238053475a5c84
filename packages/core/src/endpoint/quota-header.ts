import type { Quota } from '../ledger/record.ts';

const hour = 3_600_000;
// The name of a window is understood without `b=`, too.
const form = /^\s*(?:b=)?per_(hour|day)\s*;\s*q=(\d{1,9})\s*;\s*r=(\d{1,9})\s*;\s*t=(\d{1,9})\s*$/;

/**
 * Reads the value of `Auth0-Client-Quota-Limit` or `Auth0-Organization-Quota-Limit` (https://auth0.com/docs/fine-grained-m2m-token-quotas), such as
 * `b=per_hour;q=10;r=7;t=3540,b=per_day;q=50;r=47;t=43200`. Undefined: it contradicts itself, names a window twice, or has another form.
 * `RateLimit` (draft-ietf-httpapi-ratelimit-headers) and `X-RateLimit-*` count requests, not tokens, so they say nothing of a quota.
 */
export function readQuota(value: string): readonly Quota[] | undefined {
  const found: Quota[] = [];
  for (const part of value.split(',')) {
    const [, unit, ...digits] = form.exec(part) ?? [];
    const windowMs = unit === 'day' ? 24 * hour : hour;
    const [tokens = 0, remaining = 0, seconds = 0] = digits.map(Number);
    const endsInMs = seconds * 1_000;
    const isTwice = found.some((other) => other.windowMs === windowMs);
    if (!unit || isTwice || remaining > tokens || endsInMs > windowMs) return undefined;
    found.push({ windowMs, tokens, remaining, endsInMs });
  }
  return found;
}

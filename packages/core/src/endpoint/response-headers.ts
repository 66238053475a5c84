import type { TransportResponse } from '../contract/transport.ts';
import type { Quota } from '../ledger/record.ts';
import { hour, second } from '../ledger/units.ts';
import type { Clock } from '../platform/clock.ts';
import { ownProperty } from '../platform/untrusted.ts';

/**
 * Returns the value of a header of an answer. The values of a header that came several times are
 * joined by commas (RFC 9110 section 5.3). Empty: there is no such header, or it cannot be read.
 */
export function headerOf({ headers }: TransportResponse, name: string): string {
  try {
    const value: unknown = typeof headers?.get === 'function' ? headers.get(name) : ownProperty(headers, name);
    return Array.isArray(value) ? value.join(', ') : `${value ?? ''}`.trim();
  } catch {
    return '';
  }
}

/** Returns the values that were joined by commas. The comma of a date separates nothing. */
function valuesIn(header: string): string[] {
  return header.split(/,(?! *\d\d [A-Z])/).map((value) => value.trim());
}

const longestMs = 90_000 * second;

/**
 * Returns how long an answer without a token asks to wait, in milliseconds: from a second to 25
 * hours. Undefined: it asks for no wait. The first of these that can be read decides. If a header
 * came several times, the longest time decides. A limit with requests left says nothing.
 *
 * 1. `Retry-After`: seconds or a date (RFC 9110 section 10.2.3). Some servers send a fraction.
 * 2. `quota`: the windows of the client's quota at Auth0
 *    (https://auth0.com/docs/fine-grained-m2m-token-quotas). Give them only if the answer refuses a
 *    request for its rate: Auth0 may not enforce them.
 * 3. `RateLimit`: the seconds `t` of a policy (draft-ietf-httpapi-ratelimit-headers-10 section 4).
 * 4. `RateLimit-Reset`: seconds (draft-ietf-httpapi-ratelimit-headers-06 section 5.3), or an
 *    instant (GitLab, https://docs.gitlab.com/administration/settings/user_and_ip_rate_limits/).
 * 5. `X-RateLimit-Reset`: an instant (Auth0,
 *    https://auth0.com/docs/troubleshoot/customer-support/operational-policies/rate-limit-policy;
 *    GitHub), or seconds.
 * 6. `X-Rate-Limit-Reset`: an instant (Okta,
 *    https://developer.okta.com/docs/reference/rl-best-practices), or seconds.
 */
export function retryDelayMs(
  response: TransportResponse,
  clock: Clock,
  quota: readonly Quota[] = [],
): number | undefined {
  const spent = quota.filter(({ remaining }) => remaining === 0).map(({ endsInMs }) => endsInMs);
  const delayMs =
    retryAfterMs(response, clock) ??
    longest(spent) ??
    longest(policiesIn(headerOf(response, 'ratelimit'))) ??
    resetMs(response, clock, 'ratelimit') ??
    resetMs(response, clock, 'x-ratelimit') ??
    resetMs(response, clock, 'x-rate-limit');
  return delayMs === undefined ? undefined : Math.min(longestMs, Math.max(second, Math.ceil(delayMs)));
}

/** Returns the time of `Retry-After` in milliseconds. It may be 0, or negative if it is a date. */
export function retryAfterMs(response: TransportResponse, clock: Clock): number | undefined {
  const delays = valuesIn(headerOf(response, 'retry-after')).map((value) =>
    /^[A-Z][a-z]{2}, /.test(value) ? Date.parse(value) - serverNow(response, clock) : numberIn(value) * second,
  );
  return longest(delays);
}

function policiesIn(header: string): number[] {
  // The name of a policy is a text, which may have a comma.
  const policies = header.replace(/"(?:[^"\\]|\\.)*"/g, '').split(',');
  const parameterOf = (policy: string, name: string) =>
    numberIn(new RegExp(`;\\s*${name}=(\\d+)\\s*(?:;|$)`).exec(policy)?.[1]);
  return policies.map((policy) => (parameterOf(policy, 'r') > 0 ? Number.NaN : parameterOf(policy, 't') * second));
}

/** Returns when a used-up limit ends, if the answer says so. */
function resetMs(response: TransportResponse, clock: Clock, limit: string): number | undefined {
  const remaining = valuesIn(headerOf(response, `${limit}-remaining`));
  if (remaining.every((value) => numberIn(value) > 0)) return undefined;
  const resets = valuesIn(headerOf(response, `${limit}-reset`)).map((value) => {
    const number = numberIn(value);
    if (number < 1e9) return number * second;
    // From 2001 to 2286, seconds since 1970 have ten digits, and milliseconds have twelve or
    // thirteen.
    const at = number < 1e10 ? number * second : number >= 1e12 && number < 1e13 ? number : Number.NaN;
    return at - serverNow(response, clock);
  });
  return longest(resets.filter((delayMs) => delayMs > 0));
}

function longest(delays: readonly number[]): number | undefined {
  const known = delays.filter((delayMs) => !Number.isNaN(delayMs));
  return known.length > 0 ? Math.max(...known) : undefined;
}

function numberIn(text = ''): number {
  return /^\d{1,15}(\.\d{1,9})?$/.test(text) ? Number(text) : Number.NaN;
}

/** Returns the time of the server, if the answer has a Date. */
function serverNow(response: TransportResponse, clock: Clock): number {
  const [date = ''] = valuesIn(headerOf(response, 'date'));
  const at = Date.parse(date);
  return Number.isNaN(at) ? clock.now() : at;
}

// The name of a window is understood without `b=`, too.
const form = /^\s*(?:b=)?per_(hour|day)\s*;\s*q=(\d{1,9})\s*;\s*r=(\d{1,9})\s*;\s*t=(\d{1,9})\s*$/;

/**
 * Reads the value of `Auth0-Client-Quota-Limit` or `Auth0-Organization-Quota-Limit`
 * (https://auth0.com/docs/fine-grained-m2m-token-quotas), such as
 * `b=per_hour;q=10;r=7;t=3540,b=per_day;q=50;r=47;t=43200`. Undefined: it contradicts itself, names
 * a window twice, or has another form. `RateLimit` (draft-ietf-httpapi-ratelimit-headers) and
 * `X-RateLimit-*` count requests, not tokens, so they say nothing of a quota.
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

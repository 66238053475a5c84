import type { Backoff } from './record.ts';

/** Returns the back-off after one more failure: `firstMs`, doubled with each failure, from `minMs` to `maxMs`. `minMs` wins over `maxMs`. */
export function nextBackoff(
  before: Backoff | undefined,
  failedAt: number,
  firstMs: number,
  maxMs: number,
  minMs = 0,
): Backoff {
  const count = before?.count ?? 0;
  const pauseMs = Math.max(minMs, Math.min(maxMs, firstMs * 2 ** Math.min(count, 30)));
  return { count: count + 1, retryAt: Math.max(before?.retryAt ?? 0, Math.ceil(failedAt + pauseMs)) };
}

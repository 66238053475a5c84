/** One token that the service issued. */
export interface IssuedToken {
  /** The time of issuance, in epoch milliseconds of the service's clock. */
  readonly at: number;
  readonly clientId: string;
  readonly audience: string;
  /** The `jti` claim of the token. It identifies the token without revealing it. */
  readonly tokenId: string;
}

/** The number of tokens that the service issues to one client. */
export interface TestIssuanceLimit {
  /** The number of tokens per window. Default 150 (the service's interface, Limits). */
  tokens?: number | undefined;
  /** The length of the window, in milliseconds. Default 86,400,000 (24 hours). */
  windowMs?: number | undefined;
  /**
   * `rolling` (default): any interval of `windowMs`; `fixed`: intervals that start at multiples of `windowMs` since the epoch,
   * calendar days in UTC by default.
   */
  window?: 'rolling' | 'fixed' | undefined;
}

/** Counts issued tokens and says when the limit is reached. */
export interface IssuanceLog {
  readonly issuances: readonly IssuedToken[];
  add(issuance: IssuedToken): void;
  /** The instant from which `clientId` may have another token, in epoch milliseconds; undefined: now. */
  refusedUntil(clientId: string, now: number): number | undefined;
  /** The largest number of tokens of one client in any rolling interval of `windowMs`, even if the limit's windows are fixed. */
  largestCountInAnyWindow(): number;
}

/** The largest number of instants within one half-open interval of `windowMs`. */
export function largestCount(instants: readonly number[], windowMs: number): number {
  const sorted = [...instants].sort((a, b) => a - b);
  let first = 0;
  let largest = 0;
  for (const [last, at] of sorted.entries()) {
    while (at - (sorted[first] ?? at) >= windowMs) first++;
    largest = Math.max(largest, last - first + 1);
  }
  return largest;
}

export function createIssuanceLog(limit: TestIssuanceLimit = {}): IssuanceLog {
  const { tokens = 150, windowMs = 86_400_000, window = 'rolling' } = limit;
  const issuances: IssuedToken[] = [];
  const instantsOf = (clientId: string) =>
    issuances.filter((issued) => issued.clientId === clientId).map(({ at }) => at);

  return {
    issuances,
    add(issuance) {
      issuances.push(issuance);
    },
    refusedUntil(clientId, now) {
      const windowStart = window === 'fixed' ? Math.floor(now / windowMs) * windowMs : now - windowMs;
      const counted = instantsOf(clientId).filter((at) => (window === 'fixed' ? at >= windowStart : at > windowStart));
      if (counted.length < tokens) return undefined;
      if (window === 'fixed') return windowStart + windowMs;
      // Only the newest `tokens` matter. The oldest of them leaves the window first.
      return (counted.sort((a, b) => a - b).at(-tokens) ?? now) + windowMs;
    },
    largestCountInAnyWindow() {
      const clients = new Set(issuances.map(({ clientId }) => clientId));
      return Math.max(0, ...[...clients].map((clientId) => largestCount(instantsOf(clientId), windowMs)));
    },
  };
}

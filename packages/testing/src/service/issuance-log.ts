/** One token that the service issued. */
export interface IssuedToken {
  /** When, in epoch milliseconds of the service's clock. */
  readonly at: number;
  readonly clientId: string;
  readonly audience: string;
  /** The `jti` claim of the token: names it without revealing it. */
  readonly tokenId: string;
}

/** How many tokens the service issues to one client. */
export interface TestIssuanceLimit {
  /** Default 150 (the service's interface, Limits). */
  tokens?: number | undefined;
  /** Default 86,400,000 (24 hours). */
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
  /** When `clientId` may have another token, in epoch milliseconds; undefined: now. */
  refusedUntil(clientId: string, now: number): number | undefined;
  /** The most tokens of one client in any rolling interval of `windowMs`, however the limit itself is counted. */
  largestCountInAnyWindow(): number;
}

/** The most instants that lie within one half-open interval of `windowMs`. */
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
      // The newest `tokens` are what is in the way; the eldest of them leaves first.
      return (counted.sort((a, b) => a - b).at(-tokens) ?? now) + windowMs;
    },
    largestCountInAnyWindow() {
      const clients = new Set(issuances.map(({ clientId }) => clientId));
      return Math.max(0, ...[...clients].map((clientId) => largestCount(instantsOf(clientId), windowMs)));
    },
  };
}

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
  /** The length of the rolling window, in milliseconds. Default 86,400,000 (24 hours). */
  windowMs?: number | undefined;
  /**
   * `requests`: every request to the token endpoint counts that names the client, and every one
   * that names none counts for all. Default `tokens`.
   */
  counts?: 'tokens' | 'requests' | undefined;
}

/** Counts issued tokens and says when the limit is reached. */
export interface IssuanceLog {
  readonly issuances: readonly IssuedToken[];
  add(issuance: IssuedToken): void;
  /** A request arrived. `clientId`: the one that it names. */
  arrived(clientId: string | undefined, at: number): void;
  /**
   * The instant from which `clientId` may have another token, in epoch milliseconds; undefined:
   * now.
   */
  refusedUntil(clientId: string, now: number): number | undefined;
}

export function createIssuanceLog(limit: TestIssuanceLimit = {}): IssuanceLog {
  const { tokens = 150, windowMs = 86_400_000, counts = 'tokens' } = limit;
  const issuances: IssuedToken[] = [];
  const requests: { readonly clientId: string | undefined; readonly at: number }[] = [];

  return {
    issuances,
    add(issuance) {
      issuances.push(issuance);
    },
    arrived: (clientId, at) => void requests.push({ clientId, at }),
    refusedUntil(clientId, now) {
      const all = counts === 'requests' ? requests : issuances;
      const isOf = (counted: { readonly clientId: string | undefined }) => (counted.clientId ?? clientId) === clientId;
      const counted = all.filter((one) => isOf(one) && one.at > now - windowMs);
      if (counted.length < tokens) return undefined;
      // Only the newest `tokens` matter. The oldest of them leaves the window first.
      const instants = counted.map(({ at }) => at).sort((a, b) => a - b);
      return (instants.at(-tokens) ?? now) + windowMs;
    },
  };
}

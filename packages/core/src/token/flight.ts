import type { CachedToken } from './cached-token.ts';
import type { UsableToken } from './usable-token.ts';

/** One attempt to get a token. With the reason `revalidate` it requests none, and only reads whether the fleet has a newer one. */
export interface Flight {
  readonly reason: 'cold' | 'refresh' | 'rejected' | 'expired' | 'revalidate';
  /** With `rejected`: the API had accepted the token before, so it died. */
  readonly died: boolean;
  /** The token in memory when the flight began. */
  readonly cached: CachedToken | undefined;
  /** The time for which the machine had slept by then. */
  readonly machineSleepMs: number;
}

/** The result of a flight. `before`: the token in memory was not reset, and may be used again if the API does not know the new one yet. `keep`: keep the cached token; another one is possible after `retryAt`, a monotonic instant. `drop`: the cached token was reset. */
export type FlightResult =
  | { readonly kind: 'token'; readonly usable: UsableToken; readonly before: boolean }
  | { readonly kind: 'keep'; readonly retryAt: number }
  | { readonly kind: 'drop' };

import type { Query } from '../ledger/decide.ts';
import type { Instant } from '../platform/instant.ts';
import type { CachedToken } from './cached-token.ts';
import type { UsableToken } from './usable-token.ts';

/** One attempt to get a token. With the reason `revalidate` it requests none, and only reads whether the fleet has a newer one. */
export interface Flight {
  readonly reason: 'cold' | 'refresh' | 'rejected' | 'expired' | 'revalidate';
  /** The token in memory when the flight began. */
  readonly cached: CachedToken | undefined;
  /** The time for which the machine had slept by then. */
  readonly machineSleepMs: number;
}

/** A flight, with everything that it needs to know of its client. */
export interface FlightInput {
  readonly reason: Flight['reason'];
  readonly cached: UsableToken | undefined;
  /** True: the cached token has too little life left for the caller. So the flight waits for another process, and does not keep that token. */
  readonly mustNotKeep: boolean;
  /** Ids of tokens that must not be used. */
  readonly unusable: Query['unusable'];
  /** Tokens up to this generation were reset here. */
  readonly resetUpTo: number;
  /** Called after a read of the record that does not contradict the cached token: the fleet neither reset nor replaced it. `mayRetry`: somebody ordered to try again. */
  readonly onConfirmed: (at: Instant, mayRetry: boolean) => void;
}

/** The result of a flight. `keep`: keep the cached token; another one is possible after `retryAt`, a monotonic instant. `drop`: the cached token was reset. */
export type FlightResult =
  | { readonly kind: 'token'; readonly usable: UsableToken }
  | { readonly kind: 'keep'; readonly retryAt: number }
  | { readonly kind: 'drop' };

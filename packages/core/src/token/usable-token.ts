import type { AccessToken } from '../contract/access-token.ts';
import type { Instant } from '../platform/instant.ts';

/** A token that this process can serve. */
export interface UsableToken {
  readonly token: AccessToken;
  /** Orders the tokens of an audience: a later token has a higher generation. */
  readonly generation: number;
  /** Another process requested the token. */
  readonly adopted: boolean;
  readonly lifetimeMs: number;
  /** The moment from which `usableUntil` was computed. */
  readonly countedFrom: Instant;
  /** The monotonic instant at which the process stops serving the token: its expiry less the margin. */
  readonly usableUntil: number;
}

import type { Spent } from '../ledger/record.ts';
import type { Instant } from '../platform/instant.ts';
import type { View } from '../record/shared-record.ts';
import type { CurrentSecret } from './client-secret.ts';
import type { FlightInput } from './running-flight.ts';

/** A token request that the record has reserved a token for. */
export interface ReservedRequest {
  readonly flight: FlightInput;
  readonly secret: CurrentSecret;
  readonly reserved: Spent;
  readonly view: View;
  /** The moment just before the read of the record on which the reservation was written. */
  readonly begunAt: Instant;
  /** The record has a token that this process could not open. */
  readonly couldNotOpen: boolean;
}

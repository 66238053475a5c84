import type { Reservation } from '../ledger/settle.ts';
import type { Instant } from '../platform/instant.ts';
import type { View } from '../record/shared-record.ts';
import type { CurrentSecret } from './client-secret.ts';
import type { FlightInput } from './flight.ts';

/** A token request that the record has reserved a token for. */
export interface ReservedRequest {
  readonly flight: FlightInput;
  readonly secret: CurrentSecret;
  readonly reservation: Reservation;
  readonly generation: number;
  readonly view: View;
  /** The moment just before the read of the record that allowed the request. */
  readonly begunAt: Instant;
  /** True if a probe must be answered before the request is sent. */
  readonly probesFirst: boolean;
  /** True if this process could not open the token in the record. */
  readonly unreadable: boolean;
}

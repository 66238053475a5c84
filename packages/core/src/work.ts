import type { UsableToken } from './cached-token.ts';
import { type ClientSecretSource, type CurrentSecret, clientSecretSource, type SecretMemory } from './client-secret.ts';
import type { Instant } from './instant.ts';
import type { Query } from './ledger/decide.ts';
import type { Reservation } from './ledger/settle.ts';
import type { Flight, FlightResult } from './memory.ts';
import type { Settings } from './settings.ts';
import { createSettlement, type Settlement } from './settlement.ts';
import type { SharedLedger, View } from './shared-ledger.ts';
import { sendWithinMs } from './store-calls.ts';
import { createUsableTokens, type UsableTokens } from './usable-token.ts';

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

/** The parts that a flight works with, or a call such as `reset()`. They are not kept afterwards, so that thousands of idle clients use little memory. */
export interface Work {
  readonly settings: Settings;
  readonly ledger: SharedLedger;
  readonly settlement: Settlement;
  readonly secrets: ClientSecretSource;
  readonly usableTokens: UsableTokens;
  /** The deadline of sending a request, from the reservation. */
  readonly sendWithinMs: number;
  readonly leaseMs: number;
}

/** Creates the parts. Between flights a client keeps its ledger and its memory of the secret. */
export function createWork(settings: Settings, ledger: SharedLedger, secretMemory: SecretMemory): Work {
  // The lease covers three steps: sending the request, its answer, and settling. With a short `timeoutMs` all of them have short deadlines.
  const sendMs = sendWithinMs(settings);
  const settleMs = Math.min(20_000, Math.max(sendMs, settings.timeoutMs));
  return {
    settings,
    ledger,
    settlement: createSettlement(settings, ledger),
    secrets: clientSecretSource(settings, secretMemory),
    usableTokens: createUsableTokens(settings),
    sendWithinMs: sendMs,
    leaseMs: sendMs + settings.timeoutMs + settleMs,
  };
}

/** Keeps the cached token. `at`: an instant of the ledger from which another token is possible. The agreement may change, so the process asks again within an hour. */
export function keepUntil({ settings: { clock } }: Work, at: number, view: View): FlightResult {
  return { kind: 'keep', retryAt: clock.monotonic() + Math.min(Math.max(0, at - view.now), 3_600_000) };
}

import type { TokenWait } from '../contract/errors.ts';
import type { AcquisitionReason } from '../contract/events.ts';
import type { Settings } from '../contract/settings.ts';
import type { Query } from '../ledger/decide.ts';
import { callIgnoringErrors } from '../platform/call-ignoring-errors.ts';
import type { Instant } from '../platform/instant.ts';
import type { Lifeline } from '../platform/lifeline.ts';
import { outsideRequest } from '../platform/nextjs.ts';
import { abortable } from '../platform/pause.ts';
import { createSettlement, type Settlement } from '../record/settlement.ts';
import type { SharedRecord } from '../record/shared-record.ts';
import { sendWithinMs } from '../record/store-calls.ts';
import type { UsableToken } from './cached-token.ts';
import { type ClientSecretSource, clientSecretSource, type SecretMemory } from './client-secret.ts';
import type { Flight } from './memory.ts';
import { createUsableTokens, type UsableTokens } from './usable-tokens.ts';

/** The parts that a flight works with, or a call such as `reset()`. They are not kept afterwards, so that thousands of idle clients use little memory. */
export interface ClientParts {
  readonly settings: Settings;
  readonly sharedRecord: SharedRecord;
  readonly settlement: Settlement;
  readonly secrets: ClientSecretSource;
  readonly usableTokens: UsableTokens;
  /** Aborts the token request. */
  readonly request: AbortController;
  /** The deadline of sending a request, from the reservation. */
  readonly sendWithinMs: number;
  readonly leaseMs: number;
}

/** Creates the parts. Between flights a client keeps its record and its memory of the secret. */
export function createParts(
  settings: Settings,
  sharedRecord: SharedRecord,
  secretMemory: SecretMemory,
  request: AbortController,
): ClientParts {
  // The lease covers three steps: sending the request, its answer, and settling. With a short `timeoutMs` all of them have short deadlines.
  const sendMs = sendWithinMs(settings);
  const settleMs = Math.min(20_000, Math.max(sendMs, settings.timeoutMs));
  return {
    settings,
    sharedRecord,
    settlement: createSettlement(settings, sharedRecord),
    secrets: clientSecretSource(settings, secretMemory),
    usableTokens: createUsableTokens(settings),
    request,
    sendWithinMs: sendMs,
    leaseMs: sendMs + settings.timeoutMs + settleMs,
  };
}

/** What a flight waits for at this moment. The instants are monotonic. */
export interface Wait extends Pick<TokenWait, 'waitsFor' | 'process'> {
  readonly since: number;
  /** With `process`: when this process stops waiting for the other one. */
  readonly until?: number | undefined;
}

/** A flight, with everything that it needs to know of its client. */
export interface FlightInput {
  readonly reason: Flight['reason'];
  readonly died: boolean;
  readonly cached: UsableToken | undefined;
  /** True: the cached token has too little life left for the caller. So the flight waits for another process, and does not keep that token. */
  readonly mustNotKeep: boolean;
  /** Ids of tokens that must not be used. */
  readonly unusable: Query['unusable'];
  /** Tokens up to this generation were reset here. */
  readonly resetUpTo: number;
  /** Called after a read of the record that does not contradict the cached token: the fleet neither reset nor replaced it. `mayRetry`: somebody ordered to try again. */
  readonly onConfirmed: (at: Instant, mayRetry: boolean) => void;
  /** Called when the flight begins to wait for something else. */
  readonly onWait: (wait: Wait) => void;
}

/** A flight under way. Any number of callers share it. */
export interface RunningFlight {
  /** The callers wait for this. It has the outcome of the flight, or rejects at once when the flight is aborted. */
  readonly outcome: Promise<unknown>;
  /** Settles when the flight has really ended. */
  readonly ended: Promise<unknown>;
  readonly controller: AbortController;
  readonly details: FlightDetails;
}

/** What others see of a flight. Events call it an acquisition. */
export interface FlightDetails {
  readonly acquisition: number;
  readonly reason: AcquisitionReason;
  /** The calls of `getToken()` that wait for it. */
  callers: number;
  /** What it waits for at this moment. */
  wait: Wait;
}

/** Starts a flight: runs `fly`. `onEnd` is called when it has ended. */
export function startFlight(
  fly: (signal: AbortSignal) => Promise<unknown>,
  { waitUntil }: Lifeline,
  details: FlightDetails,
  onEnd: () => void,
): RunningFlight {
  const controller = new AbortController();
  // A flight belongs to all its callers, so it must not end with the incoming request of the first one.
  const ended = outsideRequest(() => fly(controller.signal)).finally(onEnd);
  const outcome = abortable(ended, controller.signal);
  // An unhandled rejection would end the process if nobody waits for this flight.
  const settled = outcome.catch(() => {});
  // Some runtimes throw if no incoming request is being served. The flight must go on.
  callIgnoringErrors(waitUntil, settled);
  return { outcome, ended, controller, details };
}

/** Returns the flight for a caller that goes on whatever becomes of it. */
export function ignoringFailure(flight: RunningFlight): RunningFlight {
  return { ...flight, outcome: flight.outcome.catch(() => {}) };
}

/** Rejects all callers with `reason` and aborts the flight. Resolves when the flight has ended, at its next step. */
export async function endFlight(flight: RunningFlight | undefined, reason: Error): Promise<void> {
  flight?.controller.abort(reason);
  await flight?.ended.catch(() => {});
}

import type { TokenWait } from '../contract/errors.ts';
import type { AcquisitionReason } from '../contract/events.ts';
import type { CheckedOptions, Settings } from '../contract/settings.ts';
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
import type { ClientEvents } from './client-events.ts';
import { type ClientSecretSource, clientSecretSource, type SecretMemory } from './client-secret.ts';
import type { Attempt } from './memory.ts';
import { createUsableTokens, type UsableTokens } from './usable-tokens.ts';

/**
 * The parts that an attempt works with, or a call such as `reset()`. They are not kept afterwards,
 * so that thousands of idle clients use little memory.
 */
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

/** Returns the settings of a client, with its events. */
export function settingsOf({ common, clientId, clientSecret }: CheckedOptions, events: ClientEvents): Settings {
  return {
    ...common,
    clientId,
    clientSecret,
    emit: (type, fields, heard) => events.emit(type, fields, heard),
    emitRecovered: () => events.emitRecovered(),
    emitRepeated: (type, fields, cause) => events.emitRepeated(type, fields, cause),
    observesOperations: events.observesOperations,
    get instance() {
      return events.instance;
    },
  };
}

/** Creates the parts. Between attempts a client keeps its record and its memory of the secret. */
export function createParts(
  settings: Settings,
  sharedRecord: SharedRecord,
  secretMemory: SecretMemory,
  request: AbortController,
): ClientParts {
  // The lease covers three steps: sending the request, its answer, and settling. With a short
  // `timeoutMs` all of them have short deadlines.
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

/** The present wait of an attempt. The instants are monotonic. */
export interface Wait extends Pick<TokenWait, 'waitsFor' | 'process'> {
  readonly since: number;
  /** With `process`: when this process stops waiting for the other one. */
  readonly until?: number | undefined;
}

/** The input of an attempt: everything that it needs from its client. */
export interface AttemptInput {
  readonly reason: Attempt['reason'];
  readonly died: boolean;
  readonly cached: UsableToken | undefined;
  /**
   * True if the cached token has too little life left for the caller. The attempt then waits for
   * another process and does not keep that token.
   */
  readonly mustNotKeep: boolean;
  /** Ids of tokens that must not be used. */
  readonly unusable: Query['unusable'];
  /** Tokens up to this generation were reset in this process. */
  readonly resetUpTo: number;
  /**
   * Called after a read of the record that does not contradict the cached token: the fleet neither
   * reset nor replaced it. `mayRetry`: true after an order to try again.
   */
  readonly onConfirmed: (at: Instant, mayRetry: boolean) => void;
  /** Called when the attempt begins to wait for something else. */
  readonly onWait: (wait: Wait) => void;
}

/** An attempt under way. Any number of callers share it. */
export interface RunningAttempt {
  /**
   * The callers wait for this. It has the outcome of the attempt, or rejects at once when the
   * attempt is aborted.
   */
  readonly outcome: Promise<unknown>;
  /** Settles when the attempt has really ended. */
  readonly ended: Promise<unknown>;
  readonly controller: AbortController;
  readonly details: AttemptDetails;
}

/** The public facts about an attempt, which events call an acquisition. */
export interface AttemptDetails {
  readonly acquisition: number;
  readonly reason: AcquisitionReason;
  /** The calls of `getToken()` that wait for it. */
  callers: number;
  /** The present wait. */
  wait: Wait;
}

/** Starts an attempt: runs `run`. `onEnd` is called when it has ended. */
export function startAttempt(
  run: (signal: AbortSignal) => Promise<unknown>,
  { waitUntil }: Lifeline,
  details: AttemptDetails,
  onEnd: () => void,
): RunningAttempt {
  const controller = new AbortController();
  // An attempt belongs to all its callers, so it must not end with the incoming request of the
  // first one.
  const ended = outsideRequest(() => run(controller.signal)).finally(onEnd);
  const outcome = abortable(ended, controller.signal);
  // If nobody waits for this attempt, an unhandled rejection would end the process.
  const withoutFailure = outcome.catch(() => {});
  // Some runtimes throw if no incoming request is being served. The attempt must go on.
  callIgnoringErrors(waitUntil, withoutFailure);
  return { outcome, ended, controller, details };
}

/** Returns the attempt for a caller that goes on even if the attempt fails. */
export function ignoringFailure(attempt: RunningAttempt): RunningAttempt {
  return { ...attempt, outcome: attempt.outcome.catch(() => {}) };
}

/**
 * Rejects all callers with `reason` and aborts the attempt. Resolves when the attempt has ended, at
 * its next step.
 */
export async function endAttempt(attempt: RunningAttempt | undefined, reason: Error): Promise<void> {
  attempt?.controller.abort(reason);
  await attempt?.ended.catch(() => {});
}

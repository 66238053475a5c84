import type { ConfigProblem } from '../contract/errors.ts';
import type { GetTokenOptions } from '../contract/token-source.ts';
import type { Clock } from '../platform/clock.ts';
import { abortable, background } from '../platform/pause.ts';
import { describeError } from '../platform/untrusted.ts';
import type { RunningAttempt } from './running-attempt.ts';
import { tokenPending } from './token-errors.ts';

// The longest timer. No attempt lasts as long.
const maxTimerMs = 3_600_000;
const newsAfterMs = 1_000;

/**
 * The wait of one caller of `getToken()`, which its `signal` or its `maxWaitMs` may end before the
 * attempts do.
 */
export interface CallerWait {
  /** True if `maxWaitMs` has passed. */
  readonly isOver: boolean;
  /** Settles as the attempt does, or rejects when the caller's time ends. */
  for({ outcome, details }: Pick<RunningAttempt, 'outcome' | 'details'>): Promise<unknown>;
  /**
   * Returns the error that an event reports after a failure. If the caller's signal ended the wait,
   * that error says what the caller waited for. Undefined if the caller gave up within the first
   * second, which is no sign of trouble.
   */
  newsOf(error: unknown): unknown;
  end(): void;
}

/** Begins the wait of a caller. */
export function callerWait(signal: AbortSignal | undefined, maxWaitMs: number | undefined, clock: Clock): CallerWait {
  const time = new AbortController();
  let details: RunningAttempt['details'] | undefined;
  const pending = () => details && tokenPending(details.wait, clock);
  const isSlow = () => details && clock.monotonic() - details.wait.since >= newsAfterMs;
  const cancel =
    maxWaitMs === undefined || maxWaitMs > maxTimerMs
      ? undefined
      : clock.setTimer(() => time.abort(pending()), Math.max(0, maxWaitMs), background);
  return {
    get isOver() {
      return time.signal.aborted;
    },
    for(attempt) {
      details = attempt.details;
      const outcome = cancel ? abortable(attempt.outcome, time.signal) : attempt.outcome;
      return abortable(outcome, signal);
    },
    newsOf(error) {
      if (!signal?.aborted) return error;
      const isTimeOut = describeError(signal.reason).startsWith('TimeoutError');
      return isTimeOut || isSlow() ? pending() : undefined;
    },
    end: () => cancel?.(),
  };
}

/** Returns the problem of the options of a call. */
export function problemOf({ signal, minLifeMs, maxWaitMs }: GetTokenOptions): ConfigProblem | undefined {
  if (signal && typeof signal.addEventListener !== 'function')
    return { option: 'signal', message: 'must be an AbortSignal' };
  const isNumber = (value: unknown) => value === undefined || (typeof value === 'number' && !Number.isNaN(value));
  const option = isNumber(minLifeMs) ? 'maxWaitMs' : 'minLifeMs';
  return isNumber(minLifeMs) && isNumber(maxWaitMs)
    ? undefined
    : { option, message: 'must be a number of milliseconds' };
}

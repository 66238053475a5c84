import type { Instant } from './instant.ts';
import { confirms, type Decision, decide, type Query } from './ledger/decide.ts';
import { isRetryOpen } from './ledger/retry.ts';
import { toLocalTime } from './ledger-time.ts';
import type { FlightResult } from './memory.ts';
import { pause } from './pause.ts';
import { reportDenial } from './reports.ts';
import { requestReserved } from './reserved-request.ts';
import { randomId } from './seal.ts';
import type { Intent, View } from './shared-ledger.ts';
import { errorOf, waitedTooLong } from './token-errors.ts';
import { Turns } from './turns.ts';
import { type FlightInput, keepUntil, type Work } from './work.ts';

/** The decision on a query, and the record that it rests on. */
interface Decided {
  /** Undefined: a token may be requested, but too many requests of this process are under way. */
  readonly decision: Exclude<Decision, { kind: 'write' }> | undefined;
  readonly view: View;
  /** The moment just before the read of the record. */
  readonly readAt: Instant;
}

/**
 * Gets a token from the record or from the token endpoint: load, decide, swap, send, settle, swap. The functions in `ledger/` decide. Rejects with
 * the errors of `getToken()`.
 */
export async function acquireToken(work: Work, flight: FlightInput, signal: AbortSignal): Promise<FlightResult> {
  const { settings, ledger, settlement, secrets, usableTokens, leaseMs } = work;
  const { audience, clock, instance } = settings;
  // In request-bound runtimes one incoming request must not wait for another one.
  const turns = settings.requestBound ? new Turns() : ledger.turns;
  const { reason } = flight;
  const mayIssue = reason !== 'revalidate';
  const secret = await (mayIssue ? secrets.get() : secrets.last());
  const { id: keyId, secretId } = secret.key;
  const kept = flight.mustNotKeep ? undefined : flight.cached;
  const cached = kept && { id: kept.token.id, generation: kept.generation };
  const names = { audience, keyId, secretId, instance, id: randomId() };
  let query: Query = { ...flight, ...names, cached, leaseMs, unreadable: false };
  let waitedMs = 0;
  let hasTurn = false;

  try {
    for (let pauseMs = 25; ; pauseMs = Math.min(2_000, pauseMs * 1.6)) {
      signal.throwIfAborted();
      await settlement.enterUnsettled();
      hasTurn ||= mayIssue && turns.take();
      const { decision, view, readAt } = await (mayIssue
        ? decideAndReserve(work, query, hasTurn)
        : decideByRecentRead(work, query));
      // A process that reads declares its agreement. Nobody waits for that, unless the runtime ends the write with the incoming request.
      const declared = ledger.declare(settings, view);
      if (settings.requestBound) await declared;
      if (!decision) {
        await turns.wait(signal);
        hasTurn = true;
        continue;
      }
      if (confirms(decision, query.cached)) flight.onConfirmed(readAt, isRetryOpen(view.record, view.now));
      switch (decision.kind) {
        case 'use': {
          const usable = await usableTokens.opened(decision.token, view, secret.key);
          if (usable) return { kind: 'token', usable };
          query = { ...query, unusable: [...query.unusable, decision.token.id], unreadable: true };
          continue;
        }
        case 'admitted': {
          const { entry, generation, probesFirst } = decision;
          const reservation = { entry, keyId, secretId };
          const { unreadable } = query;
          const parts = { flight, unreadable, secret, reservation, generation, view, probesFirst, begunAt: readAt };
          const result = await requestReserved(work, parts);
          if (result) return result;
          query = { ...query, id: randomId() };
          break;
        }
        case 'keep': {
          const { denial, retryAt } = decision;
          if (mayIssue && denial) reportDenial(settings, reason, errorOf(settings, denial, view, keyId));
          return keepUntil(work, retryAt, view);
        }
        case 'drop':
          return { kind: 'drop' };
        case 'deny': {
          const error = errorOf(settings, decision.denial, view, keyId);
          reportDenial(settings, decision.reason, error);
          throw error;
        }
      }
      // Another process is asking, or our request was too late to be sent, or its token was reset on its way. In the last two cases the next reservation has a new id.
      // Other flights of this process may go ahead while this one waits.
      if (hasTurn) turns.end();
      hasTurn = false;
      const until = decision.kind === 'wait' ? decision.until : view.now + pauseMs;
      if (waitedMs > 3 * leaseMs) throw waitedTooLong(toLocalTime(until, view, clock));
      // The store may have taken longer than the lease lasts.
      waitedMs += await pauseFor(work, Math.max(0, Math.min(pauseMs, until - view.now + 1)), signal);
    }
  } finally {
    if (hasTurn) turns.end();
  }
}

/** Decides by a recent read of the record. Nothing is written, unless the record does not know a reset. */
async function decideByRecentRead(work: Work, query: Query): Promise<Decided> {
  const { settings, ledger } = work;
  const { view, now } = await ledger.look(settings);
  const decision = decide(view.record, now, query, settings.limits);
  if (decision.kind === 'write') return decideAndReserve(work, query, false);
  return { decision, view, readAt: view.readAt };
}

type Change = ReturnType<Intent<Omit<Decided, 'view'>>>;

/** Decides by the present record, and writes the reservation if there is one. A swap that is lost is tried again in `commit`. */
async function decideAndReserve({ settings, ledger }: Work, query: Query, hasTurn: boolean): Promise<Decided> {
  const { result, view } = await ledger.commit(settings, ({ record: present, now, readAt }): Change => {
    let record = present;
    for (;;) {
      const decision = decide(record, now, query, settings.limits);
      if (decision.kind !== 'write') return { record, result: { decision, readAt } };
      const reserves = decision.record.entries.some(({ id }) => id === query.id);
      if (reserves && !hasTurn) return { record, result: { decision: undefined, readAt } };
      // Decide again on the record with our reservation. The decision is `admitted`, and `commit` returns it only after the swap succeeded.
      record = decision.record;
    }
  });
  return { ...result, view };
}

/** Waits, and resolves with the time that it waited. Time in which the event loop stood still does not count. */
async function pauseFor({ settings: { clock } }: Work, delayMs: number, signal: AbortSignal): Promise<number> {
  const from = clock.monotonic();
  await pause(clock, delayMs, signal);
  return Math.min(clock.monotonic() - from, 1.5 * delayMs + 1);
}

import { confirms, type Decision, decide, type Query } from '../ledger/decide.ts';
import { isJustOrdered } from '../ledger/orders.ts';
import type { Instant } from '../platform/instant.ts';
import { pause } from '../platform/pause.ts';
import { toLocalTime } from '../record/record-time.ts';
import { randomId } from '../record/seal.ts';
import type { Intent, View } from '../record/shared-record.ts';
import type { ClientParts } from './client-parts.ts';
import type { FlightResult } from './flight.ts';
import { reportDenial } from './report-issuance.ts';
import type { FlightInput, Wait } from './running-flight.ts';
import { keepUntil, sendReservedRequest } from './send-reserved-request.ts';
import { errorOf, waitedTooLong } from './token-errors.ts';

/** A caller may be refused by a record that is this old. */
const refusesForMs = 1_000;

/** The decision on a query, and the record that it rests on. */
interface Decided {
  readonly decision: Exclude<Decision, { kind: 'write' }>;
  readonly view: View;
  /** The moment just before the read of the record. */
  readonly readAt: Instant;
  /** The moment just before the read on which the reservation was written: an earlier one, if the answer of the store got lost. */
  readonly begunAt?: Instant | undefined;
}

/**
 * Gets a token from the record or from the token endpoint: load, decide, swap, send, settle, swap. The functions in `ledger/` decide. Rejects with
 * the errors of `getToken()`.
 */
export async function acquireToken(
  parts: ClientParts,
  flight: FlightInput,
  signal: AbortSignal,
): Promise<FlightResult> {
  const { settings, sharedRecord, settlement, secrets, usableTokens, leaseMs } = parts;
  const { audience, clock, instance } = settings;
  const { reason } = flight;
  const mayIssue = reason !== 'revalidate';
  const begin = (waitsFor: Wait['waitsFor']) => flight.onWait({ waitsFor, since: clock.monotonic() });
  begin('client_secret');
  const secret = await (mayIssue ? secrets.get() : secrets.last());
  begin('store');
  const { id: keyId, secretId } = secret.key;
  const kept = flight.mustNotKeep ? undefined : flight.cached;
  const cached = kept && { id: kept.token.id, generation: kept.generation };
  const names = { audience, keyId, secretId, instance, id: randomId() };
  let query: Query = { ...flight, ...names, cached, leaseMs };
  let couldNotOpen = false;
  let waitedMs = 0;

  for (let pauseMs = 25; ; pauseMs = Math.min(2_000, pauseMs * 1.6)) {
    signal.throwIfAborted();
    await settlement.enterUnsettled();
    const { decision, view, readAt, begunAt } = await (mayIssue
      ? decideAndReserve(parts, query)
      : decideByRecentRead(parts, query));
    // A process that reads declares its agreement. Nobody waits for that, unless the runtime ends the write with the incoming request.
    const declared = sharedRecord.declare(settings, view);
    if (settings.requestBound) await declared;
    if (confirms(decision, query.cached)) flight.onConfirmed(readAt, isJustOrdered(view.record, view.now));
    switch (decision.kind) {
      case 'use': {
        const usable = await usableTokens.opened(decision.token, view, secret.key);
        if (usable) return { kind: 'token', usable };
        // A token that cannot be opened is absent.
        query = { ...query, unusable: [...query.unusable, decision.token.id] };
        couldNotOpen = true;
        continue;
      }
      case 'admitted': {
        const reserved = { flight, secret, attempt: decision.attempt, view, begunAt: begunAt ?? readAt, couldNotOpen };
        const result = await sendReservedRequest(parts, reserved);
        if (result) return result;
        query = { ...query, id: randomId() };
        break;
      }
      case 'lapsed':
        query = { ...query, id: randomId() };
        break;
      case 'keep': {
        const { denial, retryAt } = decision;
        if (mayIssue && denial) reportDenial(settings, reason, errorOf(settings, denial, view));
        return keepUntil(parts, retryAt, view);
      }
      case 'drop':
        return { kind: 'drop' };
      case 'deny': {
        sharedRecord.refusedAt = clock.monotonic();
        const error = errorOf(settings, decision.denial, view);
        reportDenial(settings, decision.reason, error);
        throw error;
      }
    }
    // Another process is asking, or our request was too late to be sent, or its token was reset on its way. In the last two cases the next reservation has a new id.
    if (decision.kind === 'wait') flight.onWait(waitFor(decision.until, view, audience));
    const until = decision.kind === 'wait' ? decision.until : view.now + pauseMs;
    if (waitedMs > 3 * leaseMs) throw waitedTooLong(toLocalTime(until, view, clock));
    // The store may have taken longer than the lease lasts.
    waitedMs += await pauseFor(parts, Math.max(0, Math.min(pauseMs, until - view.now + 1)), signal);
  }
}

/** The wait for an attempt of another process, or until fewer requests are under way. The reads of the record meanwhile belong to it. */
function waitFor(until: number, { record, now, readAt }: View, audience: string): Wait {
  const local = (at: number) => readAt.monotonic + at - now;
  const attempt = record.attempts.find((each) => !each.outcome && each.until === until);
  const since = local(attempt?.at ?? now);
  if (attempt?.audience !== audience) return { waitsFor: 'token_endpoint', since };
  return { waitsFor: 'process', process: attempt?.instance, since, until: local(until) };
}

/** Decides by a recent read of the record. Nothing is written, unless the record does not know a reset. */
async function decideByRecentRead(parts: ClientParts, query: Query): Promise<Decided> {
  const { settings, sharedRecord } = parts;
  const { view, now } = await sharedRecord.look(settings);
  const decision = decide(view.record, now, query, settings.limits);
  if (decision.kind === 'write') return decideAndReserve(parts, query);
  return { decision, view, readAt: view.readAt };
}

type Change = ReturnType<Intent<Omit<Decided, 'view'>>>;

/**
 * Decides by the present record, and writes the reservation if there is one. A swap that is lost is tried again in `commit`. A record that was read
 * within the last second is enough to refuse: callers who try again and again do not read it each time.
 */
async function decideAndReserve({ settings, sharedRecord }: ClientParts, query: Query): Promise<Decided> {
  const mayBeRefused = settings.clock.monotonic() - sharedRecord.refusedAt < refusesForMs;
  const recent = mayBeRefused ? sharedRecord.recent(refusesForMs) : undefined;
  if (recent) {
    const { view, now } = recent;
    const decision = decide(view.record, now, query, settings.limits);
    if (decision.kind === 'deny') return { decision, view, readAt: view.readAt };
  }
  let begunAt: Instant | undefined;
  const { result, view } = await sharedRecord.commit(settings, ({ record: present, now, readAt }): Change => {
    let record = present;
    for (;;) {
      const decision = decide(record, now, query, settings.limits);
      if (decision.kind === 'lapsed') return { record: decision.record, result: { decision, readAt } };
      if (decision.kind !== 'write') return { record, result: { decision, readAt } };
      if (decision.record.attempts.some(({ id }) => id === query.id)) begunAt = readAt;
      // Decide again on the record with our reservation. The decision is `admitted`, and `commit` returns it only after the swap succeeded.
      record = decision.record;
    }
  });
  return { ...result, view, begunAt };
}

/** Waits, and resolves with the time that it waited. Time in which the event loop stood still does not count. */
async function pauseFor({ settings: { clock } }: ClientParts, delayMs: number, signal: AbortSignal): Promise<number> {
  const from = clock.monotonic();
  await pause(clock, delayMs, signal);
  return Math.min(clock.monotonic() - from, 1.5 * delayMs + 1);
}

import { confirms, type Decision, decide, type Query } from '../ledger/decide.ts';
import { isJustOrdered } from '../ledger/orders.ts';
import { isOpen } from '../ledger/record.ts';
import type { Clock } from '../platform/clock.ts';
import type { Instant } from '../platform/instant.ts';
import { maxPauseMs, pause, standstillMs } from '../platform/pause.ts';
import { randomId } from '../record/seal.ts';
import { toLocalTime, type View } from '../record/view.ts';
import type { AttemptResult } from './memory.ts';
import type { AttemptInput, ClientParts, Wait } from './running-attempt.ts';
import { isGood, keepUntil, reportDenial, sendRequest } from './send-request.ts';
import { errorOf, waitedTooLong } from './token-errors.ts';

/** A caller may be refused by a record that is this old. */
const refusesForMs = 1_000;

/** The decision on a query, and the record that it rests on. */
interface Decided {
  readonly decision: Decision;
  readonly view: View;
  /** The moment just before the read of the record. */
  readonly readAt: Instant;
  /**
   * The moment just before the read on which the reservation was written: an earlier one, if the
   * answer of the store got lost.
   */
  readonly begunAt?: Instant | undefined;
}

/**
 * Gets a token from the record or from the token endpoint: load, decide, swap, send, settle, swap.
 * The functions in `ledger/` decide. Rejects with the errors of `getToken()`.
 */
export async function runAttempt(parts: ClientParts, given: AttemptInput, signal: AbortSignal): Promise<AttemptResult> {
  const { settings, sharedRecord, settlement, secrets, usableTokens, leaseMs } = parts;
  const { tokenName: name, clock, instance } = settings;
  const patience = createPatience(clock);
  const onWait = (wait: Wait) => {
    patience.begin(wait.waitsFor);
    given.onWait(wait);
  };
  const attempt = { ...given, onWait };
  const { reason } = attempt;
  const mayIssue = reason !== 'revalidate';
  const begin = (waitsFor: Wait['waitsFor']) => onWait({ waitsFor, since: clock.monotonic() });
  begin('client_secret');
  const secret = await (mayIssue ? secrets.get() : secrets.last());
  begin('store');
  const { id: keyId, secretId } = secret.key;
  const kept = attempt.mustNotKeep ? undefined : attempt.cached;
  const cached = kept && { id: kept.token.id, generation: kept.generation };
  const names = { name, keyId, secretId, instance, id: randomId() };
  let query: Query = { ...attempt, ...names, cached, leaseMs };
  let couldNotOpen = false;
  let beforeMs = 0;

  for (let pauseMs = 25; ; pauseMs = Math.min(2_000, pauseMs * 1.6)) {
    signal.throwIfAborted();
    await settlement.enterUnsettled();
    const { decision, view, readAt, begunAt } = await (mayIssue
      ? decideAndReserve(parts, query)
      : decideByRecentRead(parts, query));
    // A process that read the record states its agreement. The attempt waits for that write only if
    // the runtime ends it with the incoming request.
    const stated = sharedRecord.state(settings, view);
    if (settings.requestBound) await stated;
    if (confirms(decision, query.cached)) attempt.onConfirmed(readAt, isJustOrdered(view.record, view.now));
    switch (decision.kind) {
      case 'use': {
        const usable = await usableTokens.opened(decision.token, view, secret.key);
        if (usable) return { kind: 'token', usable, before: isGood(view.record, name, attempt.cached) };
        // A token that cannot be opened is absent.
        query = { ...query, unusable: [...query.unusable, decision.token.id] };
        couldNotOpen = true;
        continue;
      }
      case 'reserve': {
        const { reserved, overLimit } = decision;
        if (overLimit)
          reportDenial(settings, overLimit.reason, errorOf(settings, overLimit, view), 'issuance_over_limit');
        const reservation = { attempt, secret, reserved, view, begunAt: begunAt ?? readAt, couldNotOpen };
        const result = await sendRequest(parts, reservation);
        if (result) return result;
        begin('store');
        query = { ...query, id: randomId() };
        break;
      }
      case 'late':
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
        reportDenial(settings, decision.denial.reason, error);
        throw error;
      }
    }
    // Another process is requesting a token, or our request was too late to be sent, or our token
    // was reset before it arrived. In the last two cases the next reservation has a new id.
    if (decision.kind === 'wait') onWait(waitFor(decision.until, view, name));
    const until = decision.kind === 'wait' ? decision.until : view.now + pauseMs;
    const waitedMs = patience.waitedMs();
    const nextMs = Math.max(waitedMs - beforeMs, maxPauseMs(pauseMs));
    if (waitedMs + nextMs > 3 * leaseMs)
      throw waitedTooLong(waitedMs, patience.longest(), toLocalTime(until, view, clock));
    beforeMs = waitedMs;
    // The store may have taken longer than the lease lasts.
    await pause(clock, Math.max(0, Math.min(pauseMs, until - view.now + 1)), signal);
  }
}

/**
 * Returns the wait for the token of another process, or for fewer requests under way. Reads of the
 * record in that time belong to the wait.
 */
function waitFor(until: number, { record, now, readAt }: View, name: string): Wait {
  const local = (at: number) => readAt.monotonic + at - now;
  const open = record.spent.filter((one) => isOpen(one, now) && one.until === until);
  const ours = open.find((one) => one.name === name);
  const since = local((ours ?? open[0])?.at ?? now);
  if (!ours) return { waitsFor: 'token_endpoint', since };
  return { waitsFor: 'process', process: ours.instance, since, until: local(until) };
}

/** Decides by a recent read of the record. Nothing is written. */
async function decideByRecentRead(parts: ClientParts, query: Query): Promise<Decided> {
  const { settings, sharedRecord } = parts;
  const { view, now } = await sharedRecord.view(settings);
  const decision = decide({ ...view, now }, query);
  return { decision, view, readAt: view.readAt };
}

/**
 * Decides by the present record, and writes the reservation if there is one. `commit` repeats a
 * swap that lost. A record that was read within the last second is enough to refuse: callers who
 * try again and again do not read it each time.
 */
async function decideAndReserve({ settings, sharedRecord }: ClientParts, query: Query): Promise<Decided> {
  const mayBeRefused = settings.clock.monotonic() - sharedRecord.refusedAt < refusesForMs;
  const recent = mayBeRefused ? sharedRecord.recentView(refusesForMs) : undefined;
  if (recent) {
    const { view, now } = recent;
    const decision = decide({ ...view, now }, query);
    if (decision.kind === 'deny') return { decision, view, readAt: view.readAt };
  }
  let begunAt: Instant | undefined;
  const { result, view } = await sharedRecord.commit(settings, (view) => {
    const { record, readAt } = view;
    const decision = decide(view, query);
    const next = decision.kind === 'reserve' || decision.kind === 'late' ? decision.record : record;
    // If the record has the reservation already, a swap wrote it whose reply got lost.
    if (decision.kind === 'reserve' && next !== record) begunAt = readAt;
    return { record: next, result: { decision, readAt } };
  });
  return { ...result, view, begunAt };
}

type Waited = Wait['waitsFor'];

/** The waits of an attempt. Time in which the event loop stood still does not count. */
interface Patience {
  /** Begins to wait for something else. */
  begin(waitsFor: Waited): void;
  /** Returns the milliseconds that the attempt has waited. */
  waitedMs(): number;
  /** Returns the longest wait, and its milliseconds. */
  longest(): readonly [Waited, number];
}

function createPatience(clock: Clock): Patience {
  const awakeMs = () => clock.monotonic() - standstillMs(clock);
  const begunAt = awakeMs();
  const waited = new Map<Waited, number>();
  let present: Waited = 'store';
  let since = begunAt;
  const begin = (next: Waited) => {
    const now = awakeMs();
    waited.set(present, (waited.get(present) ?? 0) + now - since);
    present = next;
    since = now;
  };
  return {
    begin,
    waitedMs() {
      begin(present);
      return since - begunAt;
    },
    longest: () => [...waited].reduce((most, one) => (one[1] > most[1] ? one : most)),
  };
}

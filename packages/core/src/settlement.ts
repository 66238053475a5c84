import { instantOf } from './clock.ts';
import { maxElapsedMs } from './instant.ts';
import { expiringBy } from './ledger/clock-set-back.ts';
import { type Outcome, type Reservation, settle } from './ledger/settle.ts';
import type { Settings } from './options.ts';
import { untilDone } from './pause.ts';
import type { SharedLedger, View } from './shared-ledger.ts';

/** Enters outcomes of token requests, and remembers those that a failing store could not take. */
export interface Settlement {
  /** Enters an outcome. `view`: the record with the reservation. Returns the record with the outcome, entered or, while the store is down, yet to be. */
  enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View>;
  /** Enters what is left over. Rejects when the store still fails. */
  enterUnsettled(): Promise<void>;
}

const minute = 60_000;
const trustedMs = minute;
const lastRetryMs = 64_000;

/** Outcomes stay in memory until they are entered; if the process dies first, the reservation counts as issued, which is safe. */
export function createSettlement({ clock, limits }: Settings, ledger: SharedLedger): Settlement {
  // With the view that each outcome is reckoned by.
  const unsettled = new Map<Reservation, { outcome: Outcome; from: View }>();

  async function enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View> {
    unsettled.set(reservation, { outcome, from: view });
    // Nobody else writes as a rule, so the record need not be read again; unless so much time passed that its clock must be asked.
    const elapsedMs = maxElapsedMs(view.readAt, instantOf(clock));
    const recent = elapsedMs < trustedMs;
    const now = view.now + Math.ceil(elapsedMs);
    const expected = { ...view, now, record: settle(view.record, now, reservation, outcome, limits) };
    try {
      const swapped = recent ? await ledger.swap(view, expected.record) : undefined;
      if (!swapped) return await again(reservation, outcome, view);
      unsettled.delete(reservation);
      return swapped;
    } catch {
      retryLater(1_000);
      return expected;
    }
  }

  async function again(reservation: Reservation, outcome: Outcome, from: View): Promise<View> {
    const swapped = await untilDone(clock, async () => {
      const view = await ledger.load();
      return ledger.swap(view, settle(view.record, view.now, reservation, adjusted(outcome, from, view), limits));
    });
    unsettled.delete(reservation);
    return swapped;
  }

  async function enterUnsettled(): Promise<void> {
    for (const [reservation, { outcome, from }] of unsettled) await again(reservation, outcome, from);
  }

  /** The outcome by the store's clock as it is now: a clock that was set back meanwhile must not lengthen the life of a token. */
  function adjusted(outcome: Outcome, from: View, view: View): Outcome {
    const isBehind = view.now + minute < from.now + view.readAt.monotonic - from.readAt.monotonic;
    if (outcome.kind !== 'issued' || !isBehind) return outcome;
    const leftMs = outcome.token.expiresAt - from.now - maxElapsedMs(from.readAt, instantOf(clock));
    return { ...outcome, token: expiringBy(outcome.token, Math.floor(view.now + Math.max(0, leftMs))) };
  }

  function retryLater(delayMs: number): void {
    if (delayMs > lastRetryMs) return;
    const retry = () => void enterUnsettled().catch(() => retryLater(delayMs * 2));
    clock.setTimer(retry, delayMs, { background: true });
  }

  return { enter, enterUnsettled };
}

import { instantOf } from './clock.ts';
import { maxElapsedMs } from './instant.ts';
import { expiringBy } from './ledger/clock-set-back.ts';
import { type Outcome, type Reservation, settle } from './ledger/settle.ts';
import { untilDone } from './pause.ts';
import type { Settings } from './settings.ts';
import type { LedgerMemory, SharedLedger, View } from './shared-ledger.ts';

/** Settles reservations, and remembers outcomes while the store fails. */
export interface Settlement {
  /** Writes an outcome. `view`: the record with the reservation. Resolves with the record that has the outcome, even if the store failed and the write follows later. */
  enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View>;
  /** Writes the remembered outcomes. Rejects if the store still fails. */
  enterUnsettled(): Promise<void>;
}

const minute = 60_000;
const trustedMs = minute;
const lastRetryMs = 64_000;

/** Keeps outcomes in memory until they are written. If the process dies before that, the reservation counts as issued, which is safe. */
export function createSettlement({ clock, limits }: Settings, ledger: SharedLedger, memory: LedgerMemory): Settlement {
  async function enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View> {
    memory.unsettled ??= new Map();
    memory.unsettled.set(reservation, { outcome, from: view });
    // Other processes rarely write in the meantime, so the record is not read again, unless more than a minute passed: then ask for the store's time.
    const elapsedMs = maxElapsedMs(view.readAt, instantOf(clock));
    const recent = elapsedMs < trustedMs;
    const now = view.now + Math.ceil(elapsedMs);
    const expected = { ...view, now, record: settle(view.record, now, reservation, outcome, limits) };
    try {
      const swapped = recent ? await ledger.swap(view, expected.record) : undefined;
      if (!swapped) return await again(reservation, outcome, view);
      forget(reservation);
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
    forget(reservation);
    return swapped;
  }

  function forget(reservation: Reservation): void {
    memory.unsettled?.delete(reservation);
    if (memory.unsettled?.size === 0) memory.unsettled = undefined;
  }

  async function enterUnsettled(): Promise<void> {
    for (const [reservation, { outcome, from }] of memory.unsettled ?? []) await again(reservation, outcome, from);
  }

  /** Adjusts the outcome to the present clock of the store. A clock that was set back in the meantime must not extend the life of the token. */
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

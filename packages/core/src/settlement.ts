import { instantOf } from './clock.ts';
import { longestSince } from './instant.ts';
import { type Outcome, type Reservation, settle } from './ledger/settle.ts';
import type { Settings } from './options.ts';
import { untilDone } from './pause.ts';
import type { SharedLedger, View } from './shared-ledger.ts';

/** Enters outcomes of token requests, and remembers those that a failing store could not take. */
export interface Settlement {
  /** Enters an outcome. `view`: the record with the reservation. Returns the record with the outcome, entered or, while the store is down, yet to be. */
  enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View>;
  /** Enters what is left over. Rejects when the store still fails. */
  enterLeftovers(): Promise<void>;
}

const trustedMs = 60_000;
const lastRetryMs = 64_000;

/** Outcomes stay in memory until they are entered; if the process dies first, the reservation counts as issued, which is safe. */
export function createSettlement({ clock, limits }: Settings, ledger: SharedLedger): Settlement {
  const leftovers = new Map<Reservation, Outcome>();

  async function enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View> {
    leftovers.set(reservation, outcome);
    // Nobody else writes as a rule, so the record need not be read again; unless so much time passed that its clock must be asked.
    const elapsedMs = longestSince(view.readAt, instantOf(clock));
    const recent = elapsedMs < trustedMs;
    const now = view.now + Math.ceil(elapsedMs);
    const expected = { ...view, now, record: settle(view.record, now, reservation, outcome, limits) };
    try {
      const swapped = recent ? await ledger.swap(view, expected.record) : undefined;
      if (!swapped) return await again(reservation, outcome);
      leftovers.delete(reservation);
      return swapped;
    } catch {
      retryLater(1_000);
      return expected;
    }
  }

  async function again(reservation: Reservation, outcome: Outcome): Promise<View> {
    const swapped = await untilDone(clock, async () => {
      const view = await ledger.load();
      return ledger.swap(view, settle(view.record, view.now, reservation, outcome, limits));
    });
    leftovers.delete(reservation);
    return swapped;
  }

  async function enterLeftovers(): Promise<void> {
    for (const [reservation, outcome] of leftovers) await again(reservation, outcome);
  }

  function retryLater(delayMs: number): void {
    if (delayMs > lastRetryMs) return;
    const retry = () => void enterLeftovers().catch(() => retryLater(delayMs * 2));
    clock.setTimer(retry, delayMs, { background: true });
  }

  return { enter, enterLeftovers };
}

import type { Settings } from '../contract/settings.ts';
import { expiringBy } from '../ledger/clock.ts';
import { type Outcome, type Reservation, settle } from '../ledger/settle.ts';
import { instantOf } from '../platform/clock.ts';
import { maxElapsedMs } from '../platform/instant.ts';
import { background } from '../platform/pause.ts';
import type { Intent, SharedRecord, Unsettled, View } from './shared-record.ts';

/** Settles reservations, and remembers outcomes while the store fails. */
export interface Settlement {
  /** Writes an outcome. `view`: the record with the reservation. Resolves with the record that has the outcome, even if the store failed and the write follows later. */
  enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View>;
  /** Writes the remembered outcomes. Rejects if the store still fails. */
  enterUnsettled(): Promise<void>;
}

const minute = 60_000;
const lastRetryMs = 64_000;

/** Keeps outcomes in memory until they are written. If the process dies before that, the reservation counts as issued, which is safe. */
export function createSettlement(settings: Settings, sharedRecord: SharedRecord): Settlement {
  const { clock, limits } = settings;

  async function enter(reservation: Reservation, outcome: Outcome, view: View): Promise<View> {
    sharedRecord.unsettled ??= new Map();
    sharedRecord.unsettled.set(reservation, { outcome, from: view, writing: undefined });
    try {
      return await write(reservation);
    } catch {
      retryLater(1_000);
      const now = view.now + Math.ceil(maxElapsedMs(view.readAt, instantOf(clock)));
      return { ...view, now, record: settle(view.record, now, reservation, outcome, limits) };
    }
  }

  function write(reservation: Reservation): Promise<View> {
    const unsettled = sharedRecord.unsettled?.get(reservation) as Unsettled;
    unsettled.writing = written(reservation, unsettled).finally(() => {
      unsettled.writing = undefined;
    });
    return unsettled.writing;
  }

  async function written(reservation: Reservation, { outcome, from }: Unsettled): Promise<View> {
    // Other processes rarely write in the meantime, so the record is not read again.
    const isFromMemory = true;
    const settled: Intent<undefined> = ({ record, now, ...view }) => ({
      record: settle(record, now, reservation, adjusted(outcome, from, { ...view, record, now }), limits),
      result: undefined,
    });
    const { view } = await sharedRecord.commit(settings, settled, isFromMemory);
    sharedRecord.unsettled?.delete(reservation);
    if (sharedRecord.unsettled?.size === 0) sharedRecord.unsettled = undefined;
    return view;
  }

  async function enterUnsettled(): Promise<void> {
    const idle = [...(sharedRecord.unsettled ?? [])].filter(([, { writing }]) => !writing);
    await Promise.all(idle.map(([reservation]) => write(reservation)));
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
    const retry = () => {
      const all = [...(sharedRecord.unsettled ?? [])].map(
        ([reservation, { writing }]) => writing ?? write(reservation),
      );
      Promise.all(all).catch(() => retryLater(delayMs * 2));
    };
    clock.setTimer(retry, delayMs, background);
  }

  return { enter, enterUnsettled };
}

import type { Settings } from '../contract/settings.ts';
import type { Spent } from '../ledger/record.ts';
import { type Answer, settle } from '../ledger/settle.ts';
import { minute } from '../ledger/units.ts';
import { instantOf } from '../platform/clock.ts';
import { maxElapsedMs } from '../platform/instant.ts';
import { background } from '../platform/pause.ts';
import type { Intent, SharedRecord, Unsettled } from './shared-record.ts';
import type { View } from './view.ts';

/** Settles requests, and remembers answers while the store fails. */
export interface Settlement {
  /**
   * Writes the outcome of a request. `view`: the record with its reservation. Resolves with the
   * record that has the answer, even if the store failed and the write follows later.
   */
  enter(reserved: Spent, answer: Answer, view: View): Promise<View>;
  /** Writes the remembered answers. Rejects if the store still fails. */
  enterUnsettled(): Promise<void>;
}

const lastRetryMs = 64_000;

/**
 * Keeps answers in memory until they are written. If the process dies before that, the request
 * counts as a token, which is safe.
 */
export function createSettlement(settings: Settings, sharedRecord: SharedRecord): Settlement {
  const { clock } = settings;

  async function enter(reserved: Spent, answer: Answer, view: View): Promise<View> {
    sharedRecord.unsettled ??= new Map();
    sharedRecord.unsettled.set(reserved, { answer, from: view, writing: undefined });
    try {
      return await write(reserved);
    } catch {
      retryLater(1_000);
      const now = view.now + Math.ceil(maxElapsedMs(view.readAt, instantOf(clock)));
      return { ...view, now, record: settle(view.record, now, reserved, answer) };
    }
  }

  function write(reserved: Spent): Promise<View> {
    const unsettled = sharedRecord.unsettled?.get(reserved) as Unsettled;
    unsettled.writing = written(reserved, unsettled).finally(() => {
      unsettled.writing = undefined;
    });
    return unsettled.writing;
  }

  async function written(reserved: Spent, { answer, from }: Unsettled): Promise<View> {
    const settling: Intent<undefined> = ({ record, now, ...view }) => ({
      record: settle(record, now, reserved, adjusted(answer, from, { ...view, record, now })),
      result: undefined,
    });
    // Other processes rarely write in the meantime, so the record is not read again.
    const { view } = await sharedRecord.commit(settings, settling, true);
    sharedRecord.unsettled?.delete(reserved);
    if (sharedRecord.unsettled?.size === 0) sharedRecord.unsettled = undefined;
    return view;
  }

  async function enterUnsettled(): Promise<void> {
    // In a request-bound runtime, a write ends with the incoming request that began it. Writing an
    // answer twice has the effect of once.
    const idle = [...(sharedRecord.unsettled ?? [])].filter(([, { writing }]) => !writing || settings.requestBound);
    await Promise.all(idle.map(([reserved]) => write(reserved)));
  }

  /**
   * Adjusts the answer to the present clock of the store. If that clock was set back meanwhile,
   * the life of the token must not grow.
   */
  function adjusted(answer: Answer, from: View, view: View): Answer {
    const isBehind = view.now + minute < from.now + view.readAt.monotonic - from.readAt.monotonic;
    if (answer.kind !== 'issued' || !isBehind) return answer;
    const leftMs = answer.token.expiresAt - from.now - maxElapsedMs(from.readAt, instantOf(clock));
    const expiresAt = Math.min(answer.token.expiresAt, Math.floor(view.now + Math.max(0, leftMs)));
    return { ...answer, token: { ...answer.token, expiresAt } };
  }

  function retryLater(delayMs: number): void {
    if (delayMs > lastRetryMs) return;
    const retry = () => {
      const all = [...(sharedRecord.unsettled ?? [])].map(([reserved, { writing }]) => writing ?? write(reserved));
      Promise.all(all).catch(() => retryLater(delayMs * 2));
    };
    clock.setTimer(retry, delayMs, background);
  }

  return { enter, enterUnsettled };
}

import type { Settings } from '../contract/settings.ts';
import { expiringBy } from '../ledger/clock.ts';
import type { Attempt } from '../ledger/journal.ts';
import { type Answer, settle } from '../ledger/settle.ts';
import { instantOf } from '../platform/clock.ts';
import { maxElapsedMs } from '../platform/instant.ts';
import { background } from '../platform/pause.ts';
import type { Intent, SharedRecord, Unsettled, View } from './shared-record.ts';

/** Settles attempts, and remembers answers while the store fails. */
export interface Settlement {
  /** Writes what came of an attempt. `view`: the record with the attempt. Resolves with the record that has the answer, even if the store failed and the write follows later. */
  enter(attempt: Attempt, answer: Answer, view: View): Promise<View>;
  /** Writes the remembered answers. Rejects if the store still fails. */
  enterUnsettled(): Promise<void>;
}

const minute = 60_000;
const lastRetryMs = 64_000;

/** Keeps answers in memory until they are written. If the process dies before that, the attempt counts as a token, which is safe. */
export function createSettlement(settings: Settings, sharedRecord: SharedRecord): Settlement {
  const { clock } = settings;

  async function enter(attempt: Attempt, answer: Answer, view: View): Promise<View> {
    sharedRecord.unsettled ??= new Map();
    sharedRecord.unsettled.set(attempt, { answer, from: view, writing: undefined });
    try {
      return await write(attempt);
    } catch {
      retryLater(1_000);
      const now = view.now + Math.ceil(maxElapsedMs(view.readAt, instantOf(clock)));
      return { ...view, now, record: settle(view.record, now, attempt, answer) };
    }
  }

  function write(attempt: Attempt): Promise<View> {
    const unsettled = sharedRecord.unsettled?.get(attempt) as Unsettled;
    unsettled.writing = written(attempt, unsettled).finally(() => {
      unsettled.writing = undefined;
    });
    return unsettled.writing;
  }

  async function written(attempt: Attempt, { answer, from }: Unsettled): Promise<View> {
    const settled: Intent<undefined> = ({ record, now, ...view }) => ({
      record: settle(record, now, attempt, adjusted(answer, from, { ...view, record, now })),
      result: undefined,
    });
    // Other processes rarely write in the meantime, so the record is not read again.
    const { view } = await sharedRecord.commit(settings, settled, true);
    sharedRecord.unsettled?.delete(attempt);
    if (sharedRecord.unsettled?.size === 0) sharedRecord.unsettled = undefined;
    return view;
  }

  async function enterUnsettled(): Promise<void> {
    // In a request-bound runtime, a write ends with the incoming request that began it. To write an answer twice has the effect of once.
    const idle = [...(sharedRecord.unsettled ?? [])].filter(([, { writing }]) => !writing || settings.requestBound);
    await Promise.all(idle.map(([attempt]) => write(attempt)));
  }

  /** Adjusts the answer to the present clock of the store. A clock that was set back in the meantime must not extend the life of the token. */
  function adjusted(answer: Answer, from: View, view: View): Answer {
    const isBehind = view.now + minute < from.now + view.readAt.monotonic - from.readAt.monotonic;
    if (answer.kind !== 'issued' || !isBehind) return answer;
    const leftMs = answer.token.expiresAt - from.now - maxElapsedMs(from.readAt, instantOf(clock));
    return { ...answer, token: expiringBy(answer.token, Math.floor(view.now + Math.max(0, leftMs))) };
  }

  function retryLater(delayMs: number): void {
    if (delayMs > lastRetryMs) return;
    const retry = () => {
      const all = [...(sharedRecord.unsettled ?? [])].map(([attempt, { writing }]) => writing ?? write(attempt));
      Promise.all(all).catch(() => retryLater(delayMs * 2));
    };
    clock.setTimer(retry, delayMs, background);
  }

  return { enter, enterUnsettled };
}

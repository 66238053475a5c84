import { inspect } from 'node:util';
import type { Promised } from './promised.ts';
import type { Call } from './sights.ts';
import { minute } from './units.ts';

/** The code of an error of Service Auth. Empty: it is another error. */
export function codeOf(error: unknown): string {
  const { name, code } = Object(error) as { name?: unknown; code?: unknown };
  return name === 'ServiceAuthError' && typeof code === 'string' && /^ERR_[A-Z_]+$/.test(code) ? code : '';
}

export const everyErrorIsTyped: Promised = (_, violated) => {
  const judge = (error: unknown) => {
    if (codeOf(error) === '') violated(String(error));
  };
  return {
    refused: (_call, error) => judge(error),
    resetFailed: (_reset, error) => judge(error),
    failed: judge,
  };
};

export const everyCallEnds: Promised = ({ world, facts: { leaseMs } }, violated) => {
  const deadlineMs = Math.max(10 * minute, 5 * leaseMs);
  const cancels = new Map<Call, () => void>();

  /** Time in which the process stood still does not count. */
  function watch(call: Call, begunAt: number): void {
    const { machine } = call.asker;
    const end = () => {
      if (machine.frozenUntil > begunAt) watch(call, world.now);
      else violated(machine.name);
    };
    cancels.set(call, machine.clock.setTimer(end, deadlineMs));
  }

  return {
    asked: (call) => watch(call, world.now),
    ended(call) {
      cancels.get(call)?.();
      cancels.delete(call);
    },
  };
};

export const anAbortedCallerDoesNotWait: Promised = ({ world }, violated) => ({
  aborted({ asker }, abortedAt) {
    if (world.now !== abortedAt) violated(asker.machine.name);
  },
});

export const noRejectionGoesUnhandled: Promised = (_, violated) => ({
  unhandled: (error) => violated(String((error as Error)?.stack ?? error)),
});

export const noProcessIsBusyWithoutEnd: Promised = (_, violated) => ({
  exhausted: (events) => violated(`${events} events`),
});

export const nothingPublishedContainsASecret: Promised = (_, violated) => {
  let published = 0;
  return {
    published(what) {
      published += 1;
      const texts = [String(what), JSON.stringify(what)];
      if (what instanceof Error) texts.push(what.message, String(what.stack), JSON.stringify(what.cause) ?? '');
      // This inspection is deep and slow.
      if (published % 20 === 1) texts.push(inspect(what, { depth: 9, showHidden: true }));
      if (texts.some((text) => /canary/i.test(text ?? ''))) violated(`${texts[0]}`);
    },
  };
};

/** The endpoint may repeat the secret in the text of an answer. */
export const noTextOfAnAnswerIsStored: Promised = (_, violated) => ({
  applied(text) {
    if (text.includes('canary_')) violated('canary_phrase');
  },
});

export const theRecordCanBeRead: Promised = (_, violated) => ({
  unreadable: (error) => violated(String(error)),
});

export const noRecordOutgrowsItsStore: Promised = (_, violated) => ({
  outgrew: (machine, bytes) => violated(`${machine} wrote ${bytes} bytes`),
});

/** Calls, and outcomes that are not written yet, try again now and then. */
export const aStoreThatKeepsNothingIsGivenUp: Promised = ({ world }, violated) => {
  const discardedAt = new Map<string, readonly number[]>();
  return {
    discarded(machine) {
      const recent = (discardedAt.get(machine) ?? []).filter((at) => at > world.now - 3 * minute);
      discardedAt.set(machine, [...recent, world.now]);
      if (recent.length >= 60) violated(machine);
    },
  };
};

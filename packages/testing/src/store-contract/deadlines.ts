import assert from 'node:assert/strict';
import type { Store } from '@service-auth/core';
import type { ContractCase } from '../contract/contract-case.ts';
import { within } from '../contract/within.ts';
import { changeTo, type DefineCase, expectKept, write } from './fixture.ts';

// Real time, and only for a store that does not notice.
const promptMs = 1_000;

type Call = (store: Store, key: string, signal: AbortSignal) => Promise<unknown>;

const calls: Record<string, Call> = {
  load: (store, key, signal) => store.load(key, { signal }),
  swap: (store, key, signal) => store.swap(key, changeTo('first'), { signal }),
};

/** The listeners that `signal` has from now on. `getEventListeners()` of workers sees none. */
function listenersOf(signal: AbortSignal): ReadonlySet<unknown> {
  const listeners = new Set<unknown>();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...argv: Parameters<typeof addEventListener>) => {
    listeners.add(argv[1]);
    addEventListener.apply(signal, argv);
  };
  signal.removeEventListener = (...argv: Parameters<typeof addEventListener>) => {
    listeners.delete(argv[1]);
    removeEventListener.apply(signal, argv);
  };
  return listeners;
}

/** A call ends when nobody waits for it any more. */
export function deadlineCases(define: DefineCase): ContractCase[] {
  return [
    ...Object.entries(calls).flatMap(([operation, call]) => [
      define(`a ${operation} whose signal was aborted beforehand rejects and does nothing`, async ({ store, key }) => {
        const outcome = call(store, key, AbortSignal.abort()).then(
          () => 'resolved',
          () => 'rejected',
        );
        assert.equal(
          await within(outcome, `the aborted ${operation}`, promptMs),
          'rejected',
          'the aborted call resolved',
        );
        await expectKept(store, key);
      }),

      define(`a ${operation} aborted on its way ends promptly, and the store stays usable`, async ({ store, key }) => {
        const controller = new AbortController();
        const outcome = call(store, key, controller.signal).catch(() => undefined);
        controller.abort();
        await within(outcome, `the aborted ${operation}`, promptMs);
        // An aborted swap may have been applied or not; both can be built on.
        const { version } = await store.load(key);
        const change = changeTo('second', { version });
        const { swapped } = await store.swap(key, change);
        if (swapped) await expectKept(store, key, change);
        else assert.equal((await store.load(key)).record, 'first', 'the store keeps another record');
      }),

      define(`a ${operation} leaves no listener on its signal`, async ({ store, key }) => {
        const { signal } = new AbortController();
        const listeners = listenersOf(signal);
        for (let count = 0; count < 3; count += 1) await call(store, key, signal);
        assert.equal(listeners.size, 0, 'a listener stayed on the signal');
      }),
    ]),

    define('a signal that is aborted after the answer changes nothing', async ({ store, key }) => {
      const controller = new AbortController();
      const change = changeTo('first');
      assert.ok((await store.swap(key, change, { signal: controller.signal })).swapped, 'the swap was refused');
      controller.abort();
      await expectKept(store, key, change);
      await write(store, key, 'second', change);
    }),
  ];
}

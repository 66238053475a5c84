import { createServiceAuth, type ServiceAuth } from '@service-auth/core';
import { createTestClock, type TestClock } from '@service-auth/testing';
import { day } from '../support/tools/units.ts';
import { common, createIssuing } from './issuing.ts';
import type { Exercise } from './measure.ts';

/** The whole life of a client: a hundred years in minutes. */
export const exercises: Readonly<Record<string, () => Exercise>> = {
  calls: () =>
    exercise(async ({ auth, signal }, times) => {
      for (let call = 0; call < times; call += 1) await auth.getToken({ signal });
    }),

  renewals: () =>
    exercise(async ({ auth, signal, clock, issued }, times) => {
      await auth.getToken({ signal });
      for (const until = issued() + times; issued() < until; ) {
        await clock.advance(0.93 * day);
        // The token is revalidated first; the result starts the renewal.
        const token = await auth.getToken({ signal });
        while ((await auth.getToken({ signal })) === token) await clock.advance(0);
      }
    }),

  aborts: () =>
    exercise(async ({ auth, signal, clock, pause }, times) => {
      // Two days later, so that the reset has its slot.
      await clock.advance(2 * day);
      await auth.reset();
      const resume = pause();
      const waiting = auth.getToken({ signal });
      for (let call = 0; call < times; call += 1) {
        const controller = new AbortController();
        const aborted = auth.getToken({ signal: controller.signal });
        controller.abort();
        await aborted.catch(() => {});
      }
      resume();
      await waiting;
    }),

  clients: () =>
    exercise(async ({ create, signal }, times) => {
      for (let call = 0; call < times; call += 1) {
        const auth = create();
        await auth.getToken({ signal });
        await auth.close();
      }
    }),
};

interface Equipment {
  readonly clock: TestClock;
  readonly signal: AbortSignal;
  readonly auth: ServiceAuth;
  create(): ServiceAuth;
  issued(): number;
  /** Holds the next answers back until the returned function is called. */
  pause(): () => void;
}

function exercise(run: (equipment: Equipment, times: number) => Promise<void>): Exercise {
  const clock = createTestClock();
  const { signal } = new AbortController();
  const issuing = createIssuing();
  const create = () => createServiceAuth({ ...common, transport: issuing.transport, clock });
  const equipment: Equipment = {
    ...{ clock, signal, auth: create(), create, issued: issuing.issued },
    pause() {
      let open = () => {};
      issuing.gate = new Promise((resolve) => {
        open = resolve;
      });
      return () => open();
    },
  };
  return { clock, signal, run: (times) => run(equipment, times) };
}

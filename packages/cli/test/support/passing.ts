import type { ServiceAuth } from '@service-auth/core';
import type { TestClock } from '@service-auth/testing';

/** Returns a function that lets time pass, in steps. It waits for each token request that a step begins: one that has not reached the service yet would run into its deadline in the next step. */
export function passing(
  auth: Pick<ServiceAuth, 'subscribe'>,
  clock: TestClock,
  stepMs: number,
): (ms: number) => Promise<void> {
  const underWay = new Set<number>();
  auth.subscribe(
    (event) => {
      if (event.type === 'acquisition_started') underWay.add(event.acquisition);
      if (event.type === 'acquisition_ended') underWay.delete(event.acquisition);
    },
    { operations: true },
  );
  return async (ms) => {
    for (let left = ms; left > 0; left -= stepMs) {
      await clock.advance(Math.min(left, stepMs));
      while (underWay.size > 0) await clock.advance(0);
    }
  };
}

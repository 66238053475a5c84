import type { Clock } from '../platform/clock.ts';
import type { Wait } from './running-flight.ts';

type Waited = Wait['waitsFor'];

/** How long an attempt has waited, and for what. Time in which the event loop stood still hardly counts. */
export interface Patience {
  /** Begins to wait for something else. */
  begin(waitsFor: Waited): void;
  /** Returns for how many milliseconds the attempt has waited. */
  waitedMs(): number;
  /** Returns what it waited for the longest, and for how many milliseconds. */
  longest(): readonly [Waited, number];
}

/** Creates the patience of an attempt. Nothing takes longer than `mostMs` by itself, because every step has a deadline. */
export function createPatience(clock: Clock, mostMs: number): Patience {
  const waited = new Map<Waited, number>();
  let present: Waited = 'store';
  let since = clock.monotonic();
  const begin = (next: Waited) => {
    const now = clock.monotonic();
    waited.set(present, (waited.get(present) ?? 0) + Math.min(mostMs, now - since));
    present = next;
    since = now;
  };
  return {
    begin,
    waitedMs() {
      begin(present);
      return [...waited.values()].reduce((sum, ms) => sum + ms, 0);
    },
    longest: () => [...waited].reduce((most, one) => (one[1] > most[1] ? one : most)),
  };
}

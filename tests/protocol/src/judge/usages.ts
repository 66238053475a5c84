import type { Issuance, Usage, WindowUsage } from '@service-auth/core';
import { countsForMs, youngMayGain } from './numbers.ts';
import type { Circumstances, KeptStore, Time } from './scene.ts';
import type { Sights } from './sights.ts';
import { hour, minute } from './units.ts';

/** What `getUsage()` said. */
export interface Usages {
  readonly sights: Partial<Sights>;
  readonly latest: Usage | undefined;
  /** Nothing of the record is lost, and the clock of its store is right: what it says can be compared with what happened. */
  readonly areComparable: boolean;
  /** All processes have one agreement. */
  readonly isUniform: boolean;
  isCounted(issuance: Issuance, window: WindowUsage): boolean;
  /** An eighth of what may be issued is of unknown outcome, so the rest is spared. */
  isSparing(): boolean;
  /** For so long at most a caller waits then, if the endpoint works for it. */
  sparedForMs(): number;
}

/** Remembers what `getUsage()` said, and has it asked whenever a record is written. */
export function createUsages(world: Time, settings: Circumstances, store: () => KeptStore, ask: () => void): Usages {
  const { rates, phases, durability, lossesPerWindow } = settings;
  const isYoung = () => world.now < 27 * hour;

  const usages: { latest: Usage | undefined } & Omit<Usages, 'latest'> = {
    latest: undefined,
    areComparable:
      lossesPerWindow === 0 && !rates.store_clock_wild && !rates.store_clock_set_back && !rates.store_clock_leap,
    isUniform:
      phases.flatMap(({ agreements }) => agreements).length === 1 && !phases.some(({ inheriting }) => inheriting),
    isCounted: ({ at, pending }, { windowMs }) => at + countsForMs(windowMs, pending) > store().now(),
    isSparing: () =>
      usages.latest?.windows.some(({ tokens, usable, pending }) => {
        const budget = isYoung() ? youngMayGain(tokens, usable, durability) : usable;
        return pending >= Math.max(3, Math.floor(budget / 8));
      }) ?? false,
    // The time between requests is longer where less may be spent.
    sparedForMs: () => {
      const usable = Math.min(...(usages.latest?.windows ?? []).map((window) => window.usable));
      return isYoung() || usable < 120 ? 6 * hour : 80 * minute;
    },
    sights: {
      applied: ask,
      faultsEnded: ask,
      counted(usage) {
        usages.latest = usage;
      },
    },
  };
  return usages;
}

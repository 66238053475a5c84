import type { Issuance, Usage } from '@service-auth/core';
import { countsForMs, sharesOf } from './numbers.ts';
import type { Promised } from './promised.ts';
import { day, hour, minute } from './units.ts';

/** No sum of `getUsage()` is smaller than the number of tokens that the service issued in that window. */
export const theCountCoversEveryToken: Promised = ({ world, service, facts: { usages } }, violated) => ({
  counted({ windows }) {
    if (!usages.areComparable) return;
    for (const { windowMs, used, tokens } of windows) {
      // The record keeps for eight days what all its terms have forgotten.
      if (!usages.isUniform && windowMs > 7 * day) continue;
      // A calendar day with a change of clocks has 25 hours.
      const issued = service().issuedSince(world.now - windowMs - Math.min(hour, windowMs / 24));
      if (used < issued) violated(`${used} counted, ${issued} issued, in the window of ${tokens}`);
    }
  },
});

/** `getUsage()` counts no more tokens than may have been issued. */
export const whatWasNotIssuedCostsNothing: Promised = ({ world, settings, facts: { usages } }, violated) => {
  const mayBeIssued: { readonly at: number; readonly tokens: number }[] = [];
  return {
    mayHaveIssued(tokens) {
      mayBeIssued.push({ at: world.now, tokens });
    },
    counted({ windows }) {
      const [window] = windows;
      if (!settings.countIsExact || !usages.areComparable || !window) return;
      const since = world.now - countsForMs(window.windowMs, true) - window.windowMs / 24;
      const due = mayBeIssued.reduce((all, { at, tokens }) => (at > since ? all + tokens : all), 0);
      // A reservation is entered before its request, and taken back after it.
      const underWay = settings.processes * settings.audiences.length;
      if (window.used > due + underWay) violated(`${window.used} counted, ${due} may be issued`);
    },
  };
};

/** Nobody gets a token for a purpose that has spent its share of the budget, so that a reset and a process without a token still can. */
export const everyPurposeKeepsToItsShare: Promised = ({ store, facts: { usages } }, violated) => {
  let before: Usage | undefined;
  let askedAt = 0;
  return {
    counted(usage) {
      if (!usages.areComparable || !usages.isUniform) return;
      const present = new Set(before?.issuances.map(({ id }) => id));
      // Those that are written together were made one after another.
      const isNew = ({ id, at }: Issuance) => !present.has(id) && at > askedAt - minute;
      const added = usage.issuances.filter(isNew).reverse();
      for (const [at, window] of usage.windows.entries()) {
        // Old ones are added up, and count for as long as the latest of them. How many that are, nobody can see.
        if (window.used > usage.issuances.filter((issuance) => usages.isCounted(issuance, window)).length) continue;
        const usedBefore = before?.windows[at]?.used ?? 0;
        const counted = added.filter((issuance) => usages.isCounted(issuance, window));
        for (const [index, { reason }] of counted.entries()) {
          const usedThen = Math.min(window.used - (counted.length - 1 - index), usedBefore + index + 1);
          if (usedThen > sharesOf(window.usable)[reason]) violated(`${reason} at ${usedThen} of ${window.usable}`);
        }
      }
      before = usage;
      askedAt = store().now();
    },
  };
};

/** Renewals that 401s of the API cause have a share of their own. */
export const renewalsCausedBy401sAreFew: Promised = ({ facts: { usages } }, violated) => {
  return {
    counted({ issuances, windows }) {
      if (!usages.areComparable || !usages.isUniform) return;
      for (const window of windows) {
        const renewals = issuances.filter((one) => one.reason === 'rejected' && usages.isCounted(one, window)).length;
        const share = sharesOf(window.usable).renewals;
        if (renewals > share) violated(`${renewals} of ${share}`);
      }
    },
  };
};

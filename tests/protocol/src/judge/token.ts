import type { Promised } from './promised.ts';
import { minute } from './units.ts';

const fleetResetMs = 30_000;
const latencyMs = 100;

export const everyTokenIsOneOfTheService: Promised = (_, violated) => ({
  served(_call, token, known) {
    if (!known) violated(token.id);
  },
});

export const anIdNamesOneToken: Promised = (_, violated) => {
  const named = new Map<string, string>();
  return {
    served(_call, { id, value }) {
      if (value !== (named.get(id) ?? value)) violated(id);
      named.set(id, value);
    },
  };
};

export const everyAudienceHasItsOwnToken: Promised = (_, violated) => ({
  served({ asker }, _token, known) {
    if (known && known.audience !== asker.audience) violated(asker.machine.name);
  },
});

/** No caller gets a token that has expired, or that has less than its margin of life left. */
export const everyServedTokenHasLifeLeft: Promised = ({ world, settings: { rates }, store }, violated) => {
  const clockIsWild = (rates.store_clock_wild ?? 0) + (rates.store_clock_set_back ?? 0) > 0;
  return {
    served(_call, _token, known) {
      if (!known || clockIsWild) return;
      const leftMs = known.expiresAt - world.now;
      // Sleep of less than a minute is not noticed, and an expiry is as exact as the store's clock.
      const marginMs = rates.sleep ? 0 : Math.min(minute, known.statedMs / 10);
      const inexactMs = store().unnoticedMs + Math.min(minute, store().clockSpreadMs);
      if (leftMs + inexactMs < marginMs) violated(`${known.value} with ${leftMs} ms of ${known.lifetimeMs}`);
    },
  };
};

/** At once in the process that reset it. */
export const aResetTokenIsNotUsedInItsProcess: Promised = ({ facts: { hands, isStoreSafe } }, violated) => ({
  served({ asker }, _token, known) {
    const { dropped, resetUpTo } = hands.of(asker);
    if (known && (dropped.has(known.value) || (isStoreSafe && known.issuedAt < resetUpTo)))
      violated(`${asker.machine.name} ${known.value}`);
  },
});

/** After 30 seconds, in a process that can read the store. */
export const aResetTokenIsNotUsedInTheFleet: Promised = ({ world, facts }, violated) => ({
  served({ asker }, _token, known) {
    if (!known || !facts.isStoreSafe || facts.hands.of(asker).isStoreFailing) return;
    for (const reset of facts.resets.all) {
      if (reset.asker.audience !== asker.audience || reset.resolvedAt === undefined) continue;
      const sinceMs = world.now - reset.resolvedAt;
      if (known.issuedAt < reset.endsBefore && sinceMs > fleetResetMs + latencyMs)
        violated(`${asker.machine.name} ${known.value} ${sinceMs} ms later`);
    }
  },
});

export const peekTokenTellsWhatGetTokenReturns: Promised = ({ world }, violated) => ({
  served({ asker, peeked, begunAt }, token) {
    if (peeked && (token !== peeked || world.now !== begunAt)) violated(asker.machine.name);
  },
});

import { byDay } from '@service-auth/test-tools/night';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { expect, test } from 'vitest';
import { openPlace } from '../src/places.ts';
import { runChaos } from '../src/run-chaos.ts';
import { storeKinds } from '../src/stores.ts';

const seed = 2026;

/**
 * By day one with a server. The contract of stores finds a swap that does not compare, and the
 * tests of @service-auth/file kill its processes.
 */
const tried = byDay(storeKinds, (kind) => kind === 'redis');

// One after the other, because each takes both cores of a small machine. `pnpm chaos` is the long run.
for (const kind of tried) {
  const place = await orSkip(() => openPlace(kind));
  test.runIf(place)(
    `${kind}: eight processes keep to the limit while everything fails, and are served after`,
    async () => {
      if (!place) return;
      const figures = await runChaos({ place, seed, durationMs: 5_000 });
      expect(figures.violations, `seed ${seed}`).toEqual([]);
      // The run was what it says it is.
      expect(figures.kills + figures.killsOfSenders).toBeGreaterThan(1);
      expect(figures.stops + figures.stopsOfSenders).toBeGreaterThan(1);
      expect(figures.comparisons).toBeGreaterThan(10);
      expect(figures.rolledOut).toBe(16);
      if (place.server) {
        expect(figures.serverKills).toBeGreaterThan(0);
        expect(figures.relayFaults).toBeGreaterThan(2);
      }
    },
    90_000,
  );
}

test('a store that writes over whatever is there is found out', async () => {
  const { violations } = await runChaos({ place: await openPlace('file'), seed, durationMs: 1_500, blind: true });
  expect(violations).toContainEqual(expect.stringMatching(/^the ledger of [\w-]+ knows \d+ of \d+ tokens/));
}, 90_000);

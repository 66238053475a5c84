import { expect, test } from 'vitest';
import { hour, live, minute } from './worlds/world.ts';
import { worlds } from './worlds/worlds.ts';

// `node packages/core/test/ledger/worlds/run.ts` prints what these are. Where audiences fail by chance, those that work now and then wait for longer.
const longWaits: Readonly<Record<string, number>> = {
  'the same, probes are answered by 5xx': 3 * hour,
  '12 of 13 fail, the last one fails once in 4': 3 * hour,
  '5 of 6 fail, the last one fails once in 2': 3 * hour,
  'every second request fails': 5 * hour,
  'processes of one audience die for 10 h': hour,
  'processes of 10 of 12 audiences die for 11 h': hour,
  '30 audiences, the endpoint fails for 10 h': 2 * hour,
  '30 audiences, the endpoint fails for 30 h': hour,
};

test.each(Object.entries(worlds))('%s: half of the budget is left, and who works is served', (name, world) => {
  const { unknownShare, waitMs, issued } = live(world, 1);
  expect(unknownShare).toBeLessThanOrEqual(0.5);
  expect(waitMs).toBeLessThanOrEqual(longWaits[name] ?? 20 * minute);
  expect(issued).toBeGreaterThan(0);
});

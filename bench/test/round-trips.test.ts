import { expect, test } from 'vitest';
import { audiencesThatFit, recordSize } from '../scenarios/record-size.ts';
import { scenarios, type Trips, waitingProcesses } from '../scenarios/round-trips.ts';

// The record is read every 25 seconds, so 144 times at most. A read that takes longer than a second of the clock delays the next one, which happens on a busy machine.
const hourOfReads = expect.toSatisfy((loads: number) => loads >= 120 && loads <= 144);

const expected: Record<string, Trips> = {
  'the first process of a fleet gets a token': { loads: 1, swaps: 2, tokenRequests: 1 },
  'another process adopts it': { loads: 1, swaps: 0, tokenRequests: 0 },
  '10,000 callers without a token': { loads: 1, swaps: 2, tokenRequests: 1 },
  // A process writes its agreement to the record again every 20 minutes.
  'an hour of use, a call every second': { loads: hourOfReads, swaps: 2, tokenRequests: 0 },
  'an early renewal that delays no caller': { loads: 2, swaps: 3, tokenRequests: 1 },
  'the API answers 401, 1,000 times': { loads: 1, swaps: 2, tokenRequests: 1 },
};

test.each(Object.entries(scenarios))('%s: no more round trips than documented', async (name, run) => {
  expect(await run()).toEqual(expected[name]);
});

test('processes that wait for another one ask the store less than twice a second each, and the token endpoint never', async () => {
  const { loads, tokenRequests, served } = await waitingProcesses(200, 10_000);
  expect({ tokenRequests, served }).toEqual({ tokenRequests: 1, served: 200 });
  expect(loads / 200 / 10).toBeLessThan(2);
});

test('the record of 100,000 tokens stays below 48 KB', () => {
  expect(recordSize(100_000)).toBeLessThan(48 * 1_024);
});

test.each([
  [400_000, 280],
  [1_000_000, 750],
  [1_900_000, 1_450],
])('%i bytes have room for the tokens of %i audiences', (bytes, audiences) => {
  const fit = audiencesThatFit(bytes);
  expect(fit).toBeGreaterThanOrEqual(audiences);
  expect(fit).toBeLessThan(audiences * 1.05);
});

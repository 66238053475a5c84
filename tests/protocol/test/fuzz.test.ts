import { isNight } from '@service-auth/test-tools/night';
import { expect, test } from 'vitest';
import { flipEveryBit } from '../src/fuzz/bit-flips.ts';
import { fuzz } from '../src/fuzz/fuzz.ts';
import { liesWithin } from '../src/fuzz/lies-within.ts';
import { targets } from '../src/fuzz/targets.ts';

const inputs = isNight ? 20_000 : 300;

test(`${inputs} bad inputs of each kind do no harm`, { timeout: 900_000 }, async () => {
  const results = await fuzz(inputs, 1);
  expect([...results.values()].flatMap(({ failures }) => failures).join('\n')).toBe('');
  expect([...results].map(([name, { runs }]) => [name, runs])).toEqual(
    expect.arrayContaining(Object.keys(targets).map((name) => [name, inputs])),
  );
  for (const { maxMegabytes } of results.values()) expect(maxMegabytes).toBeLessThan(1_000);
});

test('every flipped bit of a stored record is noticed', { timeout: 60_000 }, () => {
  const { flips, unnoticed } = flipEveryBit(4);
  expect(flips).toBeGreaterThan(20_000);
  expect(unnoticed).toEqual([]);
});

test.each([
  ['https://h/v1', 'https://h/v1/orders', true],
  ['https://h/v1', 'https://h/v1/x/../orders', true],
  ['https://h/v1', 'https://h/v10', false],
  ['https://h/v1', 'https://h/v1/..%2fadmin', false],
  ['https://h/v1', 'https://h/v1/x%5c..%5C..%5cadmin', false],
  ['https://h/v1', 'https://u@h/v1', false],
  ['https://h/v1', 'http://h/v1', false],
  ['https://h', 'https://h.evil/', false],
] as const)('the second opinion on addresses: %s and %s', (base, url, expected) => {
  expect(liesWithin(new URL(base), new URL(url))).toBe(expected);
});

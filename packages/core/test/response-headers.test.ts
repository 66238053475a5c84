import { describe, expect, test } from 'vitest';
import { retryDelayMs } from '../src/endpoint/response-headers.ts';
import type { TransportResponse } from '../src/index.ts';
import { day, hour, minute, second } from './support/bed.ts';
import { createManualClock } from './support/manual-clock.ts';
import { answered } from './support/scripted-endpoint.ts';

const now = Date.UTC(2026, 0, 1);
const seconds = now / second;
const longest = 25 * hour;
const date = (offsetMs: number) => new Date(now + offsetMs).toUTCString();
const delayOf = (headers: TransportResponse['headers'], clock = createManualClock()) =>
  retryDelayMs({ ...answered(429), headers }, clock);

describe('Retry-After', () => {
  test.each([
    ['120', 120 * second],
    [' 7 ', 7 * second],
    ['1.5', 1.5 * second],
    ['30.0004', 30_001],
    ['0', second],
    ['1000000000', longest],
    ['999999999999999', longest],
    [date(5 * minute), 5 * minute],
    [date(-day), second],
    ['Fri, 01 Jan 2099 00:00:00 GMT', longest],
    ['60, 120', 120 * second],
    ['120,60', 120 * second],
    ['60, soon', 60 * second],
    [`${date(minute)}, ${date(2 * minute)}`, 2 * minute],
    [`${date(minute)}, 120`, 2 * minute],
  ])('%j is a delay between a second and 25 hours', (value, delayMs) => {
    expect(delayOf({ 'retry-after': value })).toBe(delayMs);
  });

  test.each([
    '',
    '-1',
    '.5',
    '1.',
    '1.5.5',
    'abc',
    '1e9',
    '0x10',
    '1'.repeat(16),
    'Thu, nonsense',
    `later: ${date(1)}`,
  ])('%j says nothing', (value) => expect(delayOf({ 'retry-after': value })).toBeUndefined());

  test('as a date is a whole number of milliseconds, also by a clock with fractions', () => {
    const clock = { ...createManualClock(), now: () => now + 0.25 };
    expect(delayOf({ 'retry-after': date(10 * second) }, clock)).toBe(10 * second);
  });

  test('as a date counts from the endpoint’s own clock, where it is known', () => {
    const there = -400 * day;
    const told = { 'retry-after': date(there + 10 * second), date: date(there) };
    expect(delayOf(told)).toBe(10 * second);
    expect(delayOf({ ...told, date: [date(there), date(there)] })).toBe(10 * second);
    expect(delayOf({ 'retry-after': date(10 * second), date: 'nonsense' })).toBe(10 * second);
  });

  test('decides before every other header', () => {
    expect(delayOf({ 'retry-after': '7', ratelimit: '"a";r=0;t=30', 'x-ratelimit-reset': '60' })).toBe(7 * second);
    expect(delayOf({ 'retry-after': 'abc', ratelimit: '"a";r=0;t=30', 'x-ratelimit-reset': '60' })).toBe(30 * second);
  });
});

describe('RateLimit', () => {
  test.each([
    ['"default";r=0;t=30', 30 * second],
    ['default; r=0 ; t=30', 30 * second],
    ['"default";t=30;r=0', 30 * second],
    ['"default";t=30', 30 * second],
    ['"day";r=9;t=7200, "minute";r=0;t=30', 30 * second],
    ['"day";r=0;t=7200, "minute";r=0;t=30', 2 * hour],
    [['"day";r=0;t=7200', '"minute";r=0;t=30'], 2 * hour],
    ['"a, \\"b;t=9";r=0;t=30;pk=:Y2FuYXJ5:', 30 * second],
    ['"default";r=9;t=30', undefined],
    ['"default";r=0', undefined],
    ['"default";r=0;t=-30', undefined],
    ['"default";r=0;t=soon', undefined],
    ['"t=30', undefined],
    ['30', undefined],
  ])('%j: a policy of which nothing remains says when it goes on', (value, delayMs) => {
    expect(delayOf({ ratelimit: value })).toBe(delayMs);
  });
});

describe.each(['ratelimit', 'x-ratelimit', 'x-rate-limit'])('%s-reset', (limit) => {
  test.each([
    ['30', 30 * second],
    ['0.5', second],
    ['86400', day],
    ['999999999', longest],
    [`${seconds + 30}`, 30 * second],
    [`${seconds + 30}.25`, 30_250],
    [`${now + 30_500}`, 30_500],
    [`${seconds + 30}, ${seconds + 30}`, 30 * second],
    [[`${seconds + 30}`, `${seconds + 60}`], minute],
    [`${seconds + 30 * 86_400}`, longest],
    [`${seconds - 1}`, undefined],
    [`${now - 1}`, undefined],
    ['0', undefined],
    ['-30', undefined],
    ['99999999999', undefined],
    ['99999999999999', undefined],
    ['2026-01-01T00:00:30Z', undefined],
    ['', undefined],
  ])('%j is a number of seconds, or an instant in seconds or milliseconds', (value, delayMs) => {
    expect(delayOf({ [`${limit}-reset`]: value })).toBe(delayMs);
  });

  test('counts from the endpoint’s own clock, where it is known', () => {
    expect(delayOf({ [`${limit}-reset`]: `${seconds + 3_630}`, date: date(hour) })).toBe(30 * second);
  });

  test.each([
    ['0', 30 * second],
    ['', 30 * second],
    ['unknown', 30 * second],
    ['599', undefined],
    ['0, 599', 30 * second],
    [['598', '599'], undefined],
  ])('says nothing while something remains: %j', (remaining, delayMs) => {
    expect(delayOf({ [`${limit}-reset`]: '30', [`${limit}-remaining`]: remaining })).toBe(delayMs);
  });
});

test('a quota of which nothing is left decides after Retry-After', () => {
  const told = (headers: Record<string, string>) =>
    retryDelayMs({ ...answered(429), headers }, createManualClock(), [
      { windowMs: hour, tokens: 10, remaining: 0, endsInMs: 20 * minute },
      { windowMs: day, tokens: 50, remaining: 3, endsInMs: 5 * hour },
    ]);
  expect(told({ 'x-ratelimit-reset': '60' })).toBe(20 * minute);
  expect(told({ 'retry-after': '60' })).toBe(minute);
});

test('headers that cannot be read, or are of no known kind, say nothing', () => {
  const get = () => {
    throw new TypeError('no');
  };
  for (const headers of [undefined, null, { get }, { 'retry-after': Symbol('30') }, { 'retry-after': {} }])
    expect(delayOf(headers as unknown as TransportResponse['headers'])).toBeUndefined();
});

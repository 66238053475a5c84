import { limitsFor } from '../../../src/ledger/limits.ts';
import { day, hour, minute, second, type World } from './world.ts';

const outage = (from: number, to: number) => (at: number) => at < from || at >= to;
const always = () => true;
const never = () => false;
const allBut = (failing: number) => (_at: number, audience: number) => audience >= failing;
const onlyLast = (last: number) => (audience: number) => audience === last;
const twoWindows = limitsFor(
  [
    { tokens: 10, windowMs: hour },
    { tokens: 50, windowMs: day },
  ],
  undefined,
  'durable',
);
const failing = { answersProbe: always, lengthMs: 48 * hour };
const down = (from: number, to: number) => ({ works: outage(from, to), answersProbe: outage(from, to) });

/** Worlds that refuted earlier rules of the pace. */
export const worlds: Readonly<Record<string, World>> = {
  'an outage of 10 h, 3 audiences': { audiences: 3, lifeMs: 2 * hour, ...down(hour, 11 * hour) },
  'the same, probes are answered': {
    audiences: 3,
    lifeMs: 2 * hour,
    works: outage(hour, 11 * hour),
    answersProbe: always,
  },
  'one of 5 always fails': { audiences: 5, lifeMs: 6 * hour, works: allBut(1), answersProbe: always },
  'two of 8 always fail': { audiences: 8, lifeMs: 8 * hour, works: allBut(2), ...failing },
  'the same, staggered': { audiences: 8, lifeMs: 8 * hour, staggered: true, works: allBut(2), ...failing },
  'the same, by time-outs of 300 s': {
    audiences: 8,
    lifeMs: 8 * hour,
    staggered: true,
    failsAfterMs: 300 * second,
    leaseMs: 330 * second,
    works: allBut(2),
    ...failing,
  },
  'the same, probes are answered by 5xx': {
    audiences: 8,
    lifeMs: 8 * hour,
    staggered: true,
    works: allBut(2),
    ...failing,
    answersProbe: never,
  },
  '12 of 13 fail, the last one fails once in 4': {
    audiences: 13,
    lifeMs: 8 * hour,
    staggered: true,
    measured: onlyLast(12),
    works: (_, audience, random) => audience === 12 && random() > 0.25,
    ...failing,
  },
  '12 of 13 always fail': { audiences: 13, lifeMs: 8 * hour, works: allBut(12), ...failing },
  '5 of 6 fail, the last one fails once in 2': {
    audiences: 6,
    lifeMs: 6 * hour,
    measured: onlyLast(5),
    works: (_, audience, random) => audience === 5 && random() > 0.5,
    ...failing,
  },
  'one of 5 fails 8 times in 10': {
    audiences: 5,
    lifeMs: 4 * hour,
    measured: (audience) => audience > 0,
    works: (_, audience, random) => audience > 0 || random() > 0.8,
    answersProbe: always,
  },
  'two of 8 fail 9 times in 10': {
    audiences: 8,
    lifeMs: 8 * hour,
    staggered: true,
    measured: (audience) => audience > 1,
    works: (_, audience, random) => audience > 1 || random() > 0.9,
    ...failing,
  },
  '5 of 100 always fail': {
    audiences: 100,
    lifeMs: 40 * hour,
    staggered: true,
    works: allBut(5),
    answersProbe: always,
  },
  '40 audiences, an outage of 6 h by time-outs': {
    audiences: 40,
    lifeMs: 30 * hour,
    staggered: true,
    failsAfterMs: 30 * second,
    ...down(hour, 7 * hour),
  },
  '100 cold audiences, an outage of 2 h by time-outs': {
    audiences: 100,
    lifeMs: 40 * hour,
    failsAfterMs: 30 * second,
    ...down(0, 2 * hour),
  },
  'processes of one audience die for 10 h': {
    audiences: 1,
    lifeMs: hour,
    fails: 'dies',
    works: outage(hour, 11 * hour),
    answersProbe: always,
  },
  'processes of 10 of 12 audiences die for 11 h': {
    audiences: 12,
    lifeMs: 20 * hour,
    fails: 'dies',
    works: (at, audience) => audience >= 10 || at > 11 * hour,
    answersProbe: always,
  },
  'a lease of 40 s, time-outs of 100 s': {
    audiences: 1,
    lifeMs: 6 * hour,
    failsAfterMs: 100 * second,
    ...down(hour, 11 * hour),
  },
  'a lease of 40 s, time-outs of 300 s': {
    audiences: 3,
    lifeMs: 6 * hour,
    failsAfterMs: 300 * second,
    ...down(hour, 11 * hour),
  },
  'a lease of 40 s, answers in 60 s': {
    audiences: 3,
    lifeMs: 8 * hour,
    worksAfterMs: 60 * second,
    works: always,
    answersProbe: always,
  },
  '10/1h,50/24h, an outage of 10 h': { audiences: 3, lifeMs: 4 * hour, limits: twoWindows, ...down(hour, 11 * hour) },
  '10/1h,50/24h, two of 6 always fail': {
    audiences: 6,
    lifeMs: 12 * hour,
    staggered: true,
    limits: twoWindows,
    works: allBut(2),
    ...failing,
  },
  '10/1h,50/24h, one of 4 always fails': {
    audiences: 4,
    lifeMs: 8 * hour,
    staggered: true,
    limits: twoWindows,
    works: allBut(1),
    ...failing,
  },
  'a young record, an outage of 5 h': { audiences: 2, lifeMs: 6 * hour, young: true, ...down(0, 5 * hour) },
  'the clock goes 6 h ahead and back in an outage of 10 h': {
    audiences: 3,
    lifeMs: 2 * hour,
    clock: [
      { at: 3 * hour, byMs: 6 * hour },
      { at: 6 * hour, byMs: -6 * hour },
    ],
    ...down(hour, 11 * hour),
  },
  'the clock goes 2 h to and fro, two of 8 fail': {
    audiences: 8,
    lifeMs: 8 * hour,
    staggered: true,
    clock: Array.from({ length: 28 }, (_, index) => ({ at: (index + 1) * hour, byMs: (index % 2 ? -2 : 2) * hour })),
    works: allBut(2),
    answersProbe: always,
  },
  'one of 20 is refused': {
    audiences: 20,
    lifeMs: 12 * hour,
    staggered: true,
    works: allBut(1),
    fails: 'refused',
    answersProbe: always,
  },
  'two of 20 fail': { audiences: 20, lifeMs: 12 * hour, staggered: true, works: allBut(2), answersProbe: always },
  'unreachable for 10 h, 5 audiences': { audiences: 5, lifeMs: 8 * hour, fails: 'none', ...down(hour, 11 * hour) },
  'every second request fails': {
    audiences: 4,
    lifeMs: 4 * hour,
    measured: always,
    works: (_at, _audience, random) => random() > 0.5,
    answersProbe: always,
  },
  'processes of 100 audiences die for the first hour': {
    audiences: 100,
    lifeMs: 40 * hour,
    fails: 'dies',
    works: outage(0, hour),
    answersProbe: always,
  },
  '30 audiences, the endpoint fails for 10 h': {
    audiences: 30,
    lifeMs: 12 * hour,
    staggered: true,
    works: outage(2 * hour, 12 * hour),
    answersProbe: always,
  },
  '30 audiences, the endpoint fails for 30 h': {
    audiences: 30,
    lifeMs: 12 * hour,
    staggered: true,
    works: outage(2 * hour, 32 * hour),
    answersProbe: always,
    lengthMs: 40 * hour,
  },
  '3 of 12 fail for 10 minutes of each hour': {
    audiences: 12,
    lifeMs: 6 * hour,
    staggered: true,
    works: (at, audience) => audience >= 3 || at % hour > 10 * minute,
    ...failing,
  },
  'half of the limit is kept, two of 8 fail': {
    audiences: 8,
    lifeMs: 12 * hour,
    staggered: true,
    limits: limitsFor([{ tokens: 150, windowMs: day }], undefined, 'replicated'),
    works: allBut(2),
    ...failing,
  },
};

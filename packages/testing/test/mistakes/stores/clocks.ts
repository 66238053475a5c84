import type { OpenStore } from '../../../src/index.ts';
import { caught, type Mistake } from '../../support/controls.ts';
import { breakingHandles, withClock } from './handles.ts';

const hourMs = 3_600_000;

/** The same case of all three calls that tell the time. */
const clockCases = (words: RegExp, rest: string): Record<string, RegExp> =>
  caught(words, ...['load', 'swap', 'a refused swap'].map((call) => `${call} ${rest}`));

/** Stores whose clock is not one clock for all. */
export const clockMistakes: readonly Mistake<OpenStore>[] = [
  {
    name: 'has the clock of its process',
    breaks: breakingHandles(
      () =>
        (right, { clock }) =>
          withClock(right, () => clock.now()),
    ),
    caughtBy: clockCases(
      /^the clock follows that of this process: a step of -?\d+ ms moved it by/,
      "reads a clock that does not follow this process's",
    ),
  },
  {
    name: 'has two clocks',
    breaks: breakingHandles(() => {
      let handles = 0;
      return (right) => {
        handles += 1;
        const aheadMs = handles * hourMs;
        return withClock(right, (now) => now + aheadMs);
      };
    }),
    caughtBy: {
      ...clockCases(
        /^in \d+(\.\d+)? ms the clocks of two handles show \d+ ms|^the clock went back/,
        'reads the same clock through every handle',
      ),
      ...caught(/opening moved the clock by/, 'a store that is opened anew goes on with the same clock'),
    },
  },
  {
    name: 'tells the local time',
    breaks: breakingHandles(() => (right) => withClock(right, (now) => now + 2 * hourMs)),
    caughtBy: clockCases(
      /^now is \d+, and here it is \d+: is it a local time\?$/,
      'tells the time in epoch milliseconds, with or without a record',
    ),
  },
  {
    name: 'tells seconds',
    breaks: breakingHandles(() => (right) => withClock(right, (now) => Math.floor(now / 1_000))),
    caughtBy: clockCases(
      /^now is \d{10}, and here it is \d{13}: these are seconds/,
      'tells the time in epoch milliseconds, with or without a record',
    ),
  },
  {
    name: 'tells microseconds',
    breaks: breakingHandles(() => (right) => withClock(right, (now) => now * 1_000)),
    caughtBy: clockCases(/these are microseconds/, 'tells the time in epoch milliseconds, with or without a record'),
  },
  {
    name: 'tells the time as text, as its driver returns large numbers',
    breaks: breakingHandles(() => (right) => withClock(right, (now) => `${now}` as unknown as number)),
    caughtBy: clockCases(
      /it is no number, but a string/,
      'tells the time in epoch milliseconds, with or without a record',
    ),
  },
  {
    name: 'asks servers whose clocks differ by ten seconds, one after the other',
    breaks: breakingHandles(() => {
      let calls = 0;
      return (right) =>
        withClock(right, (now) => {
          calls += 1;
          return now + (calls % 2) * 10_000;
        });
    }),
    caughtBy: clockCases(/clocks of two handles show|the clock went back/, 'reads the same clock through every handle'),
  },
  {
    name: 'tells the time of the last write, as the time stamp of a record does',
    breaks: breakingHandles(() => {
      const writtenAt = new Map<string, number>();
      return (right) => ({
        async load(key, options) {
          const snapshot = await right.load(key, options);
          return { ...snapshot, now: writtenAt.get(key) ?? snapshot.now };
        },
        async swap(key, change, options) {
          const result = await right.swap(key, change, options);
          if (result.swapped) writtenAt.set(key, result.now);
          return result;
        },
      });
    }),
    caughtBy: caught(/the clock stands still/, 'load reads a clock that goes on at the pace of time'),
  },
  {
    name: 'tells the time at which it was opened',
    breaks: breakingHandles(() => (right) => {
      let openedAt: number | undefined;
      return withClock(right, (now) => {
        openedAt ??= now;
        return openedAt;
      });
    }),
    caughtBy: clockCases(/the clock stands still/, 'reads a clock that goes on at the pace of time'),
  },
];

import { expect, test } from 'vitest';
import type { Step } from '../../docs/.vitepress/budget/timetable.ts';
import { playDay, withoutQuietCalls } from '../scenarios/same-day.ts';
import { naive } from '../workers/same-day.ts';

const minute = 60_000;
const hour = 60 * minute;

test('the endpoint counts the tokens of processes that are started, killed and answered 401', async () => {
  const steps: Step[] = [
    { at: 0, kind: 'start', process: 'a' },
    { at: 0, kind: 'start', process: 'b' },
    { at: minute, kind: 'call', process: 'a' },
    { at: 2 * minute, kind: 'call', process: 'a' },
    { at: 3 * minute, kind: 'kill', process: 'a' },
    { at: 4 * minute, kind: 'start', process: 'c' },
    { at: 5 * minute, kind: 'call', process: 'c' },
    { at: 6 * minute, kind: 'reject' },
    ...Array.from({ length: 150 }, (_, index): Step => ({ at: (7 + index) * minute, kind: 'call', process: 'c' })),
    { at: 160 * minute, kind: 'accept' },
    { at: 161 * minute, kind: 'stop', process: 'b' },
  ];
  const played = await playDay({ name: naive }, steps, '', AbortSignal.timeout(50_000));
  // Two for the starts, and 148 for the first 148 of the 401s.
  expect(played).toEqual({ tokens: 150, lockedOutAt: (7 + 148) * minute, goesOn: false });
});

test('a process that replaces a revoked token goes on', async () => {
  const steps: Step[] = [
    { at: 0, kind: 'start', process: 'a' },
    { at: 1, kind: 'call', process: 'a' },
  ];
  const played = await playDay({ name: naive }, steps, '', AbortSignal.timeout(50_000));
  expect(played).toEqual({ tokens: 1, lockedOutAt: undefined, goesOn: true });
});

test('a day that takes too long ends', async () => {
  const steps: Step[] = [{ at: 0, kind: 'start', process: 'a' }];
  const aborted = playDay({ name: naive }, steps, '', AbortSignal.abort(new Error('too long')));
  await expect(aborted).rejects.toThrow('too long');
});

test('of the calls in quiet hours one in four hours is played, and of those near 401s all', () => {
  const call = (at: number): Step => ({ at, kind: 'call', process: 'a' });
  const quiet = [call(0), call(hour), call(4 * hour), call(5 * hour)];
  const storm: Step[] = [
    { at: 6 * hour, kind: 'reject' },
    ...[call(6 * hour + 1), call(6 * hour + 2)],
    { at: 7 * hour, kind: 'accept' },
    ...[call(7 * hour + 14 * minute), call(7 * hour + 16 * minute)],
  ];
  expect(withoutQuietCalls([...quiet, ...storm])).toEqual([
    ...[call(0), call(4 * hour)],
    ...storm.filter(({ at }) => at !== 7 * hour + 16 * minute),
  ]);
});

import { expect, test } from 'vitest';
import { timeOfDate } from '../src/store/server-time.ts';

const date = 'Sun, 22 Nov 2026 21:09:57 GMT';
const time = Date.UTC(2026, 10, 22, 21, 9, 57);

test('the time of a server is the date of its answer', () => {
  expect(timeOfDate(date)).toBe(time);
  // The three forms of RFC 9110, 5.6.7.
  expect(timeOfDate('Sunday, 22-Nov-26 21:09:57 GMT')).toBe(time);
  expect(timeOfDate(new Headers({ date }).get('date'))).toBe(time);
});

test.each([[undefined], [null], [''], ['yesterday']])(
  'an answer whose date is %o has no time, and the error says why',
  (given) => {
    expect(() => timeOfDate(given)).toThrow(
      expect.objectContaining({ advice: expect.stringContaining('no Date header') }),
    );
  },
);

import { expect, test } from 'vitest';
import { withClockSetBack } from '../../src/ledger/clock-set-back.ts';
import { hour, minute, noon } from '../support/instants.ts';
import { failuresWith, recordWith } from '../support/records.ts';

test('a probe, and what the endpoint said, keep the time that they had left when the clock was set back, an hour at most', () => {
  const ahead = noon + 9 * hour;
  const setBack = { now: noon, minOldNow: ahead, maxOldNow: ahead, known: undefined };
  const probed = (probeAt: number | undefined, toldUntil?: number) => {
    const failures = failuresWith({ count: 9, retryAt: ahead + 50 * minute, ambiguous: true, probeAt, toldUntil });
    return withClockSetBack(recordWith({ failures }), setBack).failures;
  };
  expect(probed(ahead + 5 * minute)).toMatchObject({ probeAt: noon + 5 * minute, retryAt: noon + 50 * minute });
  expect(probed(ahead + 2 * hour)?.probeAt).toBe(noon + hour);
  expect(probed(undefined)).toMatchObject({ probeAt: undefined, toldUntil: undefined });
  expect(probed(undefined, ahead + 7 * minute)?.toldUntil).toBe(noon + 7 * minute);
});

test('an order to try again keeps the time that it had left when the clock was set back, an hour at most', () => {
  const ahead = noon + 9 * hour;
  const setBack = { now: noon, minOldNow: ahead, maxOldNow: ahead, known: undefined };
  const retry = { count: 2, retryAt: ahead + 4 * minute, openUntil: ahead + 15 * minute };
  expect(withClockSetBack(recordWith({ retry }), setBack).retry).toEqual({
    count: 2,
    retryAt: noon + 4 * minute,
    openUntil: noon + 15 * minute,
  });
  expect(withClockSetBack(recordWith({}), setBack).retry).toBeUndefined();
});

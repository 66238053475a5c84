import { expect, test } from 'vitest';
import { withClockSetBack } from '../../src/ledger/clock-set-back.ts';
import { hour, minute, noon } from '../support/instants.ts';
import { audienceWith, failuresWith, recordWith } from '../support/records.ts';

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

test('a fingerprint keeps the life that its token may have left when the clock was set back', () => {
  const ahead = noon + 9 * hour;
  const setBack = { now: noon, minOldNow: ahead, maxOldNow: ahead + minute, known: undefined };
  const untilOf = (until: number) => {
    const record = withClockSetBack(
      recordWith({ audiences: [audienceWith({ fingerprints: [{ hash: 'hash', generation: 1, until }] })] }),
      setBack,
    );
    return record.audiences[0]?.fingerprints?.[0]?.until;
  };
  expect(untilOf(ahead + 20 * hour)).toBe(noon + 20 * hour);
  expect(untilOf(ahead - minute)).toBe(noon);
  expect(untilOf(noon - minute)).toBe(noon - minute);
});

test('what was said of other tokens counts in full after the clock was set back', () => {
  const ahead = noon + 9 * hour;
  const setBack = { now: noon, minOldNow: ahead, maxOldNow: ahead, known: undefined };
  const spentElsewhere = { at: ahead - hour, count: 40, instance: 'ops', reason: 'counted' };
  expect(withClockSetBack(recordWith({ spentElsewhere }), setBack).spentElsewhere).toEqual({
    ...spentElsewhere,
    at: noon,
  });
});

import { createServiceAuth } from '@service-auth/core';
import { byDay } from '@service-auth/test-tools/night';
import { describe, expect, test } from 'vitest';
import { type Finding, runCampaign } from '../src/campaign.ts';
import { keptPlans } from '../src/kept-plans.ts';
import { run } from '../src/run.ts';
import { promiseOf } from '../src/shrink.ts';

const seconds = 1_000;

const kept = keptPlans();
/** True if no plan before it broke this promise. */
const isFirst = ({ broke, plan }: (typeof kept)[number]) =>
  kept.find((each) => promiseOf(each.broke) === promiseOf(broke))?.plan === plan;

// `pnpm check simulation` runs new seeds. A plan is run alone with: pnpm simulate --print --plan '…'
test.each(byDay(kept, isFirst))('$broke: not again', { timeout: 60 * seconds }, async ({ plan }) => {
  expect((await run(plan, createServiceAuth)).violations).toEqual([]);
});

test('the same plan is the same run', async () => {
  const plan = { mode: 'pauses', seed: 7 };
  const first = await run(plan, createServiceAuth);
  const second = await run(plan, createServiceAuth);
  const other = await run({ ...plan, seed: 8 }, createServiceAuth);
  expect(first.events).toBeGreaterThan(100);
  expect(second).toEqual(first);
  expect(other.traceHash).not.toBe(first.traceHash);
});

test.each(byDay([3, 5, 7, 9, 12, 13], (seed) => seed < 5))(
  'what a provider says of its count changes nothing: seed %i',
  async (seed) => {
    const told = async (isMute: boolean) => {
      const lines: string[] = [];
      const { counts } = await run({ mode: 'quota', seed, isMute }, createServiceAuth, (line) => lines.push(line));
      return { lines, counts };
    };
    const isSaid = (line: string) => line.includes('quota_observed');
    const [heard, mute] = [await told(false), await told(true)];
    expect(heard.counts.get('event quota_observed')).toBeGreaterThan(0);
    expect(mute.lines.length).toBeGreaterThan(100);
    expect(heard.lines.filter((line) => !isSaid(line))).toEqual(mute.lines);
  },
  60 * seconds,
);

describe('without the reserve', () => {
  test.each(byDay(['wiped-uninsured', 'split-uninsured'], (mode) => mode === 'wiped-uninsured'))(
    '%s breaks the limit, and the plan is made smaller',
    async (mode) => {
      let found: Finding | undefined;
      for (let seed = 1; seed <= 30 && !found; seed++) {
        const { findings } = await runCampaign({ mode, first: seed, last: seed }, true);
        found = findings.find(({ violation }) => promiseOf(violation) === 'the limit is kept');
      }
      if (found === undefined) throw new Error('Nothing was found.');
      const { violations, faults } = await run(found.smaller, createServiceAuth);
      expect(violations.map(promiseOf)).toContain(promiseOf(found.violation));
      expect(faults).toBeLessThan((await run(found.plan, createServiceAuth)).faults);
    },
    120 * seconds,
  );
});

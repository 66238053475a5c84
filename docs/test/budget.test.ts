import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createDay } from '../.vitepress/budget/day.ts';
import type { Picture } from '../.vitepress/budget/picture.ts';
import { presets } from '../.vitepress/budget/presets.ts';
import {
  defaultSettings,
  describesDay,
  fromFragment,
  incidentKinds,
  momentIn,
  type Settings,
  toFragment,
} from '../.vitepress/budget/settings.ts';
import { type Step, timetableOf } from '../.vitepress/budget/timetable.ts';
import { withSiteLinks } from '../.vitepress/texts.ts';
import { outcome } from '../.vitepress/theme/words.ts';

const hour = 3_600_000;
const small: Settings = { ...defaultSettings, processes: 4, deploys: 0, crashes: 0, incidents: [] };

/** Lives through the first hours of a day, with a picture after each step. */
async function live(settings: Settings, hours: number, stepHours: number = hours): Promise<Picture> {
  const day = createDay(settings);
  try {
    let picture = await day.picture();
    for (let time = stepHours; time <= hours; time += stepHours) {
      await day.runUntil(time * hour);
      picture = await day.picture();
    }
    return picture;
  } finally {
    day.end();
  }
}

test('the same settings give the same day, in one step or in many', async () => {
  const settings: Settings = { ...small, crashes: 24, incidents: [{ kind: 'storm', atSecond: 1_800 }] };
  const once = await live(settings, 2);
  expect(once.ours.answered).toBeGreaterThan(300);
  expect(await live(settings, 2, 0.25)).toEqual(once);
  expect(await live({ ...settings, seed: 8 }, 2)).not.toEqual(once);
});

test('an incident that is added while the day runs has the effect of one that was planned', async () => {
  const incident = { kind: 'storm', atSecond: 1_801 } as const;
  const day = createDay(small);
  await day.runUntil(hour / 2);
  day.add(incident);
  await day.runUntil(hour);
  const picture = await day.picture();
  day.end();
  expect(picture.incidents).toEqual([incident]);
  expect(picture).toEqual(await live({ ...small, incidents: [incident] }, 1));
});

test('a 401 storm locks the naive client out, and the other fleet goes on', async () => {
  const settings: Settings = { ...small, processes: 8, incidents: [{ kind: 'storm', atSecond: 1_800 }] };
  const { ours, naive, limit } = await live(settings, 2);
  expect(naive.slots).toHaveLength(limit);
  expect(naive.lockedOutAt).toBeDefined();
  expect(new Set(naive.processes.map(({ state }) => state))).toEqual(new Set(['failing']));
  expect(ours.lockedOutAt).toBeUndefined();
  expect(ours.slots.length).toBeLessThan(10);
  expect(new Set(ours.processes.map(({ state }) => state))).toEqual(new Set(['calling']));
  const tokens = ours.processes.map(({ token }) => token).sort();
  expect(tokens).toEqual([...Array.from({ length: 7 }, () => 'adopted'), 'requested']);
  expect(naive.processes.some(({ token }) => token === 'adopted')).toBe(false);
});

test.each(incidentKinds)('core counts what the provider counts, when this happens: %s', async (kind) => {
  const settings: Settings = { ...small, incidents: [{ kind, atSecond: 1_800 }] };
  const { ours } = await live(settings, 1);
  expect(ours.counted).toBe(ours.slots.length);
  expect(ours.refused).toBe(0);
  expect(ours.slots.length).toBeGreaterThan(0);
});

test('the tokens of a naive fleet grow with its processes and deploys, and those of the other one do not', async () => {
  const deploys = [1, 2, 3].map((quarter) => ({ kind: 'deploy', atSecond: quarter * 900 }) as const);
  const { ours, naive } = await live({ ...small, incidents: deploys }, 1);
  expect(naive.slots).toHaveLength(4 * small.processes);
  expect(ours.slots).toHaveLength(1);
});

test('a token that lives for an hour is renewed by one process of ours, and ends in a 401 for each naive one', async () => {
  const { ours, naive } = await live({ ...small, life: 1 }, 3);
  expect(ours.slots.map(({ state }) => state)).toEqual(['expired', 'expired', 'expired', 'used']);
  expect(ours.failed).toBe(0);
  expect(naive.slots.filter(({ state }) => state === 'rejected')).toHaveLength(2 * small.processes);
});

test('an hourly window and a small limit hold', async () => {
  const settings: Settings = { ...small, limit: 20, hourly: 5, incidents: [{ kind: 'storm', atSecond: 600 }] };
  const { ours, naive } = await live(settings, 1);
  expect(naive.slots).toHaveLength(5);
  expect(ours.refused).toBe(0);
  expect(ours.usable).toBeLessThan(20);
});

test('a fleet that spends the tokens of an hour is not locked out for the day', async () => {
  const settings: Settings = { ...small, hourly: 5, incidents: [{ kind: 'storm', atSecond: 600 }] };
  const { naive } = await live(settings, 2);
  expect(naive.refused).toBeGreaterThan(1);
  expect(naive.lockedOutAt).toBeUndefined();
  expect(outcome(naive)).toMatch(/^The provider refused [\d,]+ requests, the first at 00:1\d\.$/);
  expect(naive.slots.length).toBeGreaterThan(5);
});

test('a fleet that spends the tokens of an hour and then those of the day is locked out from then on', async () => {
  const incidents = [600, 4_200].map((atSecond) => ({ kind: 'storm', atSecond }) as const);
  const { naive } = await live({ ...small, limit: 20, hourly: 10, incidents }, 2);
  expect(naive.refusedAt).toBeLessThan(hour);
  expect(naive.lockedOutAt).toBeGreaterThan(hour);
  expect(outcome(naive)).toMatch(/^Locked out since 01:\d\d: no token is left for today\.$/);
});

test('after 12 hours, tokens of a limit of 12 hours are not counted any more', async () => {
  const { ours, naive } = await live({ ...small, window: 720, life: 6 }, 14);
  expect(naive.issuedAt.length).toBeGreaterThan(naive.spent);
  expect(ours.counted).toBeLessThan(ours.issuedAt.length);
  expect(naive.slots.every(({ at }) => at > 2 * hour)).toBe(true);
});

test('where requests count, a fleet that never stops asking is never let in again', async () => {
  const incidents = [{ kind: 'storm', atSecond: 600 } as const];
  const { ours, naive } = await live({ ...small, limit: 10, window: 10, requests: 1, incidents }, 2);
  expect(naive.spent).toBeGreaterThan(10);
  expect(naive.slots).toEqual([]);
  expect([ours.refused, new Set(ours.processes.map(({ state }) => state))]).toEqual([0, new Set(['calling'])]);
});

test.each(presets)('the limit of $name is in the table of published limits', ({ name, source }) => {
  const page = readFileSync(new URL('../servers.md', import.meta.url), 'utf8');
  expect(page.split('\n').filter((line) => line.includes(name) && line.includes(source))).toHaveLength(1);
});

test('a token that the API rejected counts as rejected while a process still has it', async () => {
  const { naive } = await live({ ...small, limit: 20, incidents: [{ kind: 'storm', atSecond: 600 }] }, 0.5);
  expect(naive.rejected).toBe(20);
});

test('the timetable is the day of both fleets: a client that obeys it gets the tokens of the naive one, at the same times', async () => {
  const settings: Settings = { ...small, deploys: 2, crashes: 4, incidents: [{ kind: 'storm', atSecond: 36_000 }] };
  const steps = await timetableOf(settings);
  const issuedAt: number[] = [];
  const holders = new Set<string>();
  let rejects = false;
  const request = ({ at, process }: Extract<Step, { process: string }>) => {
    if (issuedAt.length === settings.limit) return;
    issuedAt.push(at);
    holders.add(process);
  };
  for (const step of steps) {
    if (!('process' in step)) rejects = step.kind === 'reject';
    else if (step.kind !== 'call') holders.delete(step.process);
    else {
      if (!holders.has(step.process)) request(step);
      if (rejects && holders.delete(step.process)) request(step);
    }
  }
  const { naive } = await live(settings, 24);
  const answerMs = 200;
  expect(issuedAt.length).toBeGreaterThan(80);
  expect(naive.issuedAt).toHaveLength(issuedAt.length);
  for (const [index, at] of naive.issuedAt.entries())
    expect(Math.abs(at - (issuedAt[index] ?? 0))).toBeLessThan(2 * answerMs);
});

test('a timetable has no incidents of the store and the network', async () => {
  const failover = { ...small, incidents: [{ kind: 'failover', atSecond: 60 }] } as const;
  await expect(timetableOf(failover)).rejects.toThrow('Only deploys, crashes and 401s');
});

test('settings can be written into an address and read from it', () => {
  const incidents = incidentKinds.map((kind, index) => ({ kind, atSecond: index * 1_000 }));
  const settings: Settings = {
    seed: 9,
    processes: 40,
    deploys: 1,
    crashes: 2,
    limit: 20,
    window: 720,
    hourly: 5,
    requests: 1,
    life: 6,
    incidents,
  };
  expect(fromFragment(toFragment(settings))).toEqual(settings);
  expect(fromFragment(`#${toFragment({ ...settings, incidents: [] })}`)).toEqual({ ...settings, incidents: [] });
});

test('an address with nonsense gives the default settings', () => {
  expect(fromFragment('')).toEqual(defaultSettings);
  expect(fromFragment('#seed=x&processes=1e9&limit=-1&deploys=999')).toEqual(defaultSettings);
  expect(fromFragment('incidents=storm.99999_none.5_crash.x_deploy').incidents).toEqual([]);
});

test('an address tells the moment of the day, and a link to a heading is no day', () => {
  expect(momentIn('#seed=7&at=7200')).toBe(2 * hour);
  expect(momentIn('#at=0')).toBe(0);
  expect(momentIn('#at=99999')).toBe(24 * hour);
  expect([momentIn(''), momentIn('#at=x'), momentIn('#at=-1')]).toEqual([undefined, undefined, undefined]);
  expect(['', '#at=0', '#seed=8', '#incidents='].map(describesDay)).toEqual([true, true, true, true]);
  expect(describesDay('#what-runs-here')).toBe(false);
});

test('the links of a page that is read as Markdown lead to pages of the site, below its base', () => {
  const text =
    '[a](errors.md#x) [`b`](../SECURITY.md) [c](https://example.com/) [d](#e) `[f](g.md)`\n\n```ts\nf[0](1)\n```\n';
  expect(withSiteLinks(text, 'docs/recipes.md', '/service-auth/')).toBe(
    '[a](/service-auth/errors.md#x) [`b`](/service-auth/project/security.md) [c](https://example.com/) [d](#e) `[f](g.md)`\n\n```ts\nf[0](1)\n```\n',
  );
  expect(withSiteLinks('<img src="performance/fleet-light.svg">', 'docs/performance.md', '/')).toMatch(
    /^<img src="https:.*\/raw\/main\/docs\/performance\/fleet-light\.svg">$/,
  );
});

import { readFileSync } from 'node:fs';
import { byDay } from '@service-auth/test-tools/night';
import { beforeAll, describe, expect, test } from 'vitest';
import type { Figures } from '../src/worlds/outage-world.ts';
import { outageWorlds } from '../src/worlds/outage-worlds.ts';
import { rejectionWorlds } from '../src/worlds/rejection-worlds.ts';
import { brokenIn, document, outageTable, readTable, rejectionTable, render } from '../src/worlds/table.ts';
import { thisCore, tryWorlds } from '../src/worlds/tried-worlds.ts';
import { statedWait } from '../src/worlds/waits.ts';

test('docs/evidence/worlds.md has every world', () => {
  expect([...readTable(outageTable).keys()]).toEqual(outageWorlds.map(({ name }) => name));
  expect(readFileSync(document, 'utf8')).toBe(render(new Map()));
});

// `pnpm worlds` tries all of them with more seeds.
const all = [
  'an outage of 10 h',
  'one of 5 audiences always fails',
  '12 of 13 always fail',
  'the processes of 10 of 12 are killed for 11 h',
  'processes stand still for 300 s, an outage of 10 h',
  '10 an hour and 50 a day, an outage of 10 h',
  'a new record, an outage of 5 h',
  "the store's clock 2 h to and fro, two of 8 always fail",
  'no connection for 10 h',
  'every second request fails',
  'a replicated store, two of 8 always fail',
];
const seed = 1;
const byDayToo = ['12 of 13 always fail', 'no connection for 10 h'];
const quick = byDay(all, (name) => byDayToo.includes(name));

/** Callers wait no longer than docs/when-a-request-is-repeated.md says. */
const waits = byDay(
  ['120 usable, an outage of 20 min', '75 usable, an outage of 90 min', '16 usable, an outage of 45 min'],
  (name) => name.startsWith('120'),
);

// The worlds can show that a promise is broken.
const controls = [
  ['three times the limit', '10 an hour and 50 a day, an outage of 10 h', ['unknownPercent']],
  ['half the limit', '10 an hour and 50 a day, an outage of 10 h', ['lockedOutMinutes']],
  ['a call that never ends', 'an outage of 10 h', ['waitMinutes']],
] as const;

describe('in a world of 401s', () => {
  const known = readTable(rejectionTable);
  // The others take longer, and `pnpm worlds` tries them.
  const names = rejectionWorlds.map(({ name }) => name).filter((name) => !name.includes('one of'));
  let results: ReadonlyMap<string, Figures> = new Map();
  beforeAll(async () => {
    results = await tryWorlds(names.map((name) => ({ name, seed, core: thisCore })));
  }, 300_000);

  test('docs/evidence/worlds.md has every one, and none breaks a promise', () => {
    expect([...known.keys()]).toEqual(rejectionWorlds.map(({ name }) => name));
    for (const [name, figures] of known) expect(brokenIn(rejectionTable, name, figures)).toEqual([]);
  });

  test.each(names)('%s: it comes to no more than docs/evidence/worlds.md says', (name) => {
    expect(results.get(name)?.['issued']).toBeGreaterThan(0);
    for (const [figure, stated] of Object.entries(known.get(name) ?? {}))
      expect(results.get(name)?.[figure]).toBeLessThanOrEqual(stated);
  });
});

describe('in a world of outages', () => {
  let results: ReadonlyMap<string, Figures> = new Map();
  const wrong = new Map<string, Figures>();
  beforeAll(async () => {
    results = await tryWorlds([...quick, ...waits].map((name) => ({ name, seed, core: thisCore })));
    for (const [client, name] of controls) {
      const [figures] = (await tryWorlds([{ name, seed, core: thisCore, wrong: client }])).values();
      wrong.set(client, figures as Figures);
    }
  }, 900_000);

  test.each(quick)('%s', (name) => {
    const now = results.get(name) as Figures;
    const known = readTable(outageTable).get(name) as Figures;
    expect(now['exceeding']).toBe(0);
    const stated = brokenIn(outageTable, name, known);
    // A promise that the document says is broken is not broken worse.
    for (const figure of stated) expect(now[figure]).toBeLessThanOrEqual(known[figure] as number);
    expect(stated).toEqual(expect.arrayContaining(brokenIn(outageTable, name, now)));
    expect(now['issued']).toBeGreaterThan(0);
    expect(now['requests']).toBeGreaterThan(now['issued'] as number);
  });

  test.each(waits)('callers wait no longer than the page says: %s', (name) => {
    expect(results.get(name)?.['waitMinutes']).toBeLessThanOrEqual(statedWait(name));
  });

  test.each(controls)('%s is seen', (client, name, broken) => {
    expect(brokenIn(outageTable, name, wrong.get(client) as Figures)).toEqual(broken);
  });
});

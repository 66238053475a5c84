import { readFileSync } from 'node:fs';
import { byDay } from '@service-auth/test-tools/night';
import { beforeAll, describe, expect, test } from 'vitest';
import { inChildren } from '../src/children.ts';
import type { Figures } from '../src/worlds/outage-watch.ts';
import { outageWorlds } from '../src/worlds/outage-worlds.ts';
import { brokenPromises, readRejections, tryRejections } from '../src/worlds/rejection-table.ts';
import { type RejectionFigures, rejectionWorlds } from '../src/worlds/rejection-worlds.ts';
import { document, readTable, render, type Shown, shown } from '../src/worlds/table.ts';
import { thisCore } from '../src/worlds/tried-worlds.ts';
import { statedWait } from '../src/worlds/waits.ts';
import type { WorldTask } from '../src/worlds/worker.ts';

const worker = new URL('../src/worlds/worker.ts', import.meta.url);

test('docs/evidence/worlds.md has every world', () => {
  expect([...readTable().keys()]).toEqual(outageWorlds.map(({ name }) => name));
  expect(readFileSync(document, 'utf8')).toBe(render([]));
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
  ['three times the limit', '10 an hour and 50 a day, an outage of 10 h', ['unknownIsBroken']],
  ['half the limit', '10 an hour and 50 a day, an outage of 10 h', ['lockedOutIsBroken']],
  ['a call that never ends', 'an outage of 10 h', ['waitIsBroken']],
] as const;

describe('in a world of 401s', () => {
  const known = readRejections(document);
  // The others take longer, and `pnpm worlds` tries them.
  const names = rejectionWorlds.map(({ name }) => name).filter((name) => !name.includes('one of'));
  let results: ReadonlyMap<string, RejectionFigures> = new Map();
  beforeAll(async () => {
    results = await tryRejections(names, [seed], thisCore);
  }, 300_000);

  test('docs/evidence/worlds.md has every one, and none breaks a promise', () => {
    expect([...known.keys()]).toEqual(rejectionWorlds.map(({ name }) => name));
    for (const world of rejectionWorlds) {
      const broken = brokenPromises(world, known.get(world.name) as RejectionFigures);
      expect(Object.values(broken)).toEqual([false, false, false]);
    }
  });

  test.each(names)('%s: it comes to no more than docs/evidence/worlds.md says', (name) => {
    const [now, stated] = [results.get(name), known.get(name)].map((figures) => figures as RejectionFigures);
    expect(now?.issued).toBeGreaterThan(0);
    for (const figure of ['issued', 'rejectedPercent', 'refusedPercent', 'unservedMinutes'] as const)
      expect(now?.[figure]).toBeLessThanOrEqual(stated?.[figure] as number);
  });
});

describe('in a world of outages', () => {
  const results = new Map<string, Figures>();
  const resultOf = (wrong: string, name: string) => shown(results.get(`${wrong} ${name}`) as Figures);
  beforeAll(async () => {
    const tasks: WorldTask[] = [
      ...[...quick, ...waits].map((name) => ({ name, seed, core: thisCore })),
      ...controls.map(([wrong, name]) => ({ name, seed, core: thisCore, wrong })),
    ];
    await inChildren(worker, tasks, (figures: Figures, { wrong = '', name }) =>
      results.set(`${wrong} ${name}`, figures),
    );
  }, 900_000);

  test.each(quick)('%s', (name) => {
    expect(results.get(` ${name}`)?.isExceeded).toBe(false);
    const now = resultOf('', name);
    const known = readTable().get(name) as Shown;
    // A promise that the document says is broken is not broken worse.
    if (known.unknownIsBroken) expect(now.unknownPercent).toBeLessThanOrEqual(known.unknownPercent);
    else expect(now.unknownIsBroken).toBe(false);
    if (known.waitIsBroken) expect(now.waitMinutes).toBeLessThanOrEqual(known.waitMinutes);
    else expect(now.waitIsBroken).toBe(false);
    if (known.lockedOutIsBroken) expect(now.lockedOutMinutes).toBeLessThanOrEqual(known.lockedOutMinutes);
    else expect(now.lockedOutIsBroken).toBe(false);
    expect(now.issued).toBeGreaterThan(0);
    expect(now.requests).toBeGreaterThan(now.issued);
  });

  test.each(waits)('callers wait no longer than the page says: %s', (name) => {
    expect(resultOf('', name).waitMinutes).toBeLessThanOrEqual(statedWait(name));
  });

  test.each(controls)('%s is seen', (wrong, name, broken) => {
    const { unknownIsBroken, waitIsBroken, lockedOutIsBroken } = resultOf(wrong, name);
    const found = Object.entries({ unknownIsBroken, waitIsBroken, lockedOutIsBroken }).filter(
      ([, isBroken]) => isBroken,
    );
    expect(found.map(([what]) => what)).toEqual(broken);
  });
});

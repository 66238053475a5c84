/**
 * pnpm worlds                       the worlds of outages with the usual seeds; writes docs/evidence/worlds.md
 * pnpm worlds --waits               how long callers wait after outages; writes the table of docs/when-a-request-is-repeated.md
 * pnpm worlds --only 'two of 8'     ... some of them
 * pnpm worlds --seed 4711           another seed, or several: the table is printed beside that of the document
 * pnpm worlds --seed new            ... one that nobody has tried
 * pnpm worlds --core ../other/packages/core/src/index.ts    the same for another core: a module with `createServiceAuth`
 */
import { existsSync, writeFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import type { Figures } from './src/worlds/outage-world.ts';
import { cellsOf, document, outageTable, readTable, rejectionTable, render, usualSeeds } from './src/worlds/table.ts';
import { thisCore, tryWorlds } from './src/worlds/tried-worlds.ts';
import { page, waitWorlds, withWaits } from './src/worlds/waits.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    seed: { type: 'string', multiple: true },
    core: { type: 'string' },
    waits: { type: 'boolean', default: false },
  },
});

const seeds =
  values.seed?.map((seed) => (seed === 'new' ? Math.floor(Date.now() / 1_000) : Number(seed))) ?? usualSeeds;
if (!seeds.every(Number.isInteger)) throw new Error('--seed takes an integer, or new');
const outages = { ...outageTable, worlds: values.waits ? waitWorlds : outageTable.worlds };
const rejections = { ...rejectionTable, worlds: values.waits ? [] : rejectionTable.worlds };
const names = [...outages.worlds, ...rejections.worlds].flatMap(({ name }) =>
  name.includes(values.only) ? [name] : [],
);
if (names.length === 0) throw new Error(`No world has ${values.only} in its name. See docs/evidence/worlds.md`);
const { core: asked = thisCore } = values;
const core = existsSync(asked) ? pathToFileURL(asked).href : asked;
const known = new Map([...readTable(outageTable), ...readTable(rejectionTable)]);
console.log(`seeds ${seeds.join(', ')}; in brackets: docs/evidence/worlds.md`);
const tasks = names.flatMap((name) => seeds.map((seed) => ({ name, seed, core })));
const rows = await tryWorlds(tasks, report);
if (!values.seed && !values.core && process.exitCode === undefined) {
  if (values.waits && !values.only) writeFileSync(page, withWaits(rows));
  if (!values.waits) writeFileSync(document, render(rows));
}

function report(name: string, figures: Figures): void {
  const isOutage = outages.worlds.some((world) => world.name === name);
  const columns = Object.values((isOutage ? outages : rejections).columns);
  const cellsFrom = (from: Figures) => (isOutage ? cellsOf(outages, name, from) : cellsOf(rejections, name, from));
  const before = known.get(name);
  const beside = before ? cellsFrom(before).map((cell) => ` (${cell})`) : [];
  const cells = cellsFrom(figures).map((cell, at) => `${columns[at]?.head} ${cell}${beside[at] ?? ''}`.padEnd(26));
  console.log(name.padEnd(62) + cells.join(''));
  if (!figures['exceeding']) return;
  console.error(`${name}: the limit was exceeded`);
  process.exitCode = 1;
}

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
import { outageWorlds } from './src/worlds/outage-worlds.ts';
import { tryRejections } from './src/worlds/rejection-table.ts';
import { rejectionWorlds } from './src/worlds/rejection-worlds.ts';
import { cellsOf, document, readTable, render, shown, usualSeeds } from './src/worlds/table.ts';
import { type Row, thisCore, tryWorlds } from './src/worlds/tried-worlds.ts';
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
const chosen = (values.waits ? waitWorlds : outageWorlds).filter(({ name }) => name.includes(values.only));
const rejecting = values.waits ? [] : rejectionWorlds.filter(({ name }) => name.includes(values.only));
if (chosen.length + rejecting.length === 0)
  throw new Error(`No world has ${values.only} in its name. See docs/evidence/worlds.md`);
const { core = thisCore } = values;
const module = existsSync(core) ? pathToFileURL(core).href : core;
const known = readTable();
console.log(`seeds ${seeds.join(', ')}; in brackets: docs/evidence/worlds.md`);
print(['world', 'unknown', 'wait', 'locked out', 'tokens', 'requests']);
const rows = await tryWorlds(chosen, seeds, module, report);
const names = rejecting.map(({ name }) => name);
const rejections = await tryRejections(names, seeds, module);
for (const [name, figures] of rejections) console.log(name, figures);
if (!values.seed && !values.core && process.exitCode === undefined) {
  if (values.waits && !values.only) writeFileSync(page, withWaits(rows));
  if (!values.waits) writeFileSync(document, render(rows, rejections));
}

function report({ name, figures }: Row): void {
  const before = known.get(name);
  const cells = cellsOf(shown(figures));
  const beside = before ? cellsOf(before).map((cell) => ` (${cell})`) : [];
  print([name, ...cells.map((cell, index) => `${cell}${beside[index] ?? ''}`)]);
  if (!figures.isExceeded) return;
  console.error(`${name}: the limit was exceeded`);
  process.exitCode = 1;
}

function print([name = '', ...cells]: readonly string[]): void {
  console.log(name.padEnd(62) + cells.map((cell) => cell.padStart(known.size > 0 ? 20 : 11)).join(''));
}

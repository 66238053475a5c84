import { readdirSync, readFileSync } from 'node:fs';
import { join, parse } from 'node:path';
import { isInstalled, nodes } from '@service-auth/runtimes/engines';
import { byDay, isNight } from '@service-auth/test-tools/night';
import { root } from '@service-auth/test-tools/packages/packages';
import { describe, inject, test } from 'vitest';
import { run } from '../consumer.ts';

/** The examples that are programs: they say at the top how to run them. One of them runs until it is stopped, and one runs the recipes. */
const programs = thatSay('examples', (name) => ` example examples/${name}\n`)
  .filter((name) => !['two-terminals.ts', 'run-recipe.ts'].includes(name))
  .map((name) => [`examples/${name}`]);
const recipes = thatSay('examples/recipes', (name) => ` examples/run-recipe.ts ${parse(name).name}\n`);
// By day `check examples` runs the recipes from the sources.
const all = [...programs, ...(isNight ? recipes.map((name) => ['examples/run-recipe.ts', parse(name).name]) : [])];

function thatSay(folder: string, howToRun: (name: string) => string): string[] {
  const names = readdirSync(join(root, folder)).filter((name) => name.endsWith('.ts'));
  const found = names.filter((name) => readFileSync(join(root, folder, name), 'utf8').includes(howToRun(name)));
  if (found.length === 0) throw new Error(`No file of ${folder} says at its top how to run it.`);
  return found;
}

// Node 20 does not run TypeScript, and `check examples` runs them on 24. By day they run on the oldest Node that does.
const able = nodes.filter(({ major, file }) => (major === 22 || major === 26) && isInstalled(`Node ${major}`, file));

describe.each(byDay(able, ({ major }) => major === 22))('on Node $major', ({ file }) => {
  test.each(all.map((argv) => ({ argv, name: argv.join(' ') })))('$name runs', async ({ argv }) => {
    await run(join(inject('consumers'), 'all'), file, argv);
  });
});

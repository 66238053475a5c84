import { readFileSync } from 'node:fs';
import { promises, wordsOf } from '../judge/promises.ts';
import type { Caught } from './hunt.ts';
import { mutants } from './load.ts';
import type { Mutant } from './mutant.ts';

/** A mutant and where it is caught; undefined: nowhere. */
export interface Row {
  readonly mutant: Mutant;
  readonly caught: Caught | undefined;
}

/** The document with the table. */
export const document: URL = new URL('../../../../docs/evidence/mutants.md', import.meta.url);

const introduction = `# Protocol mutants

A simulator that finds nothing has proven nothing until it has been seen to find something. Each row is core with one passage made wrong on
purpose, and the first seed with which the simulator notices. The seed of every row passes with the unchanged code.

The rows stand under the promise that the judge says is broken: they show that it can say so. The judge sees the network, the store and the callers, and nothing of how core keeps its promises.
If no row stands there, a scripted history in \`tests/protocol/test/judge.test.ts\` breaks that promise.

Written by \`pnpm mutants\`; \`pnpm mutants --check\`, which the tests run, tries each mutant with its seed.
`;

/** The document's text. */
export function render(rows: readonly Row[]): string {
  const bySeed = rows.flatMap(({ mutant, caught }) => (caught && 'seed' in caught ? [{ mutant, caught }] : []));
  const chapters = Object.entries(promises).map(([chapter, kept]) => {
    const tables = kept.map((promise) => {
      const lines = bySeed.filter(({ caught }) => caught.promise === wordsOf(promise));
      const cells = lines.map(({ mutant, caught }) => [mutant.name, mutant.about, caught.mode, `${caught.seed}`]);
      return `### ${wordsOf(promise)}\n${tableOf(['mutant', 'what is wrong', 'mode', 'seed'], cells)}`;
    });
    return `## ${chapter}\n\n${tables.join('\n')}`;
  });
  const others = rows.flatMap(({ mutant, caught }) => (caught && !('seed' in caught) ? [{ mutant, caught }] : []));
  const noticed = others.map(({ mutant, caught }) => {
    return [mutant.name, mutant.about, 'test' in caught ? testOf(caught.test) : caught.scenario, mutant.survives ?? ''];
  });
  const searched = rows.filter(({ mutant, caught }) => !caught && isSearched(mutant));
  const open = rows.filter(({ mutant, caught }) => !caught && !isSearched(mutant));
  return `${introduction}
${chapters.join('\n')}
## Those that no seed finds

${bySeed.length} of ${rows.length} are caught by a seed. A test of \`packages/core/test\`, or a scripted course of events, notices these:
${tableOf(['mutant', 'what is wrong', 'noticed by', 'why no seed notices'], noticed)}
A test of the exhaustive search finds these: ${searched.map(({ mutant: { name, about, survives } }) => `**${name}** (${about}): ${survives}`).join('; ')}.
${open.length > 0 ? `\nNothing notices these: ${open.map(({ mutant }) => mutant.name).join('; ')}.\n` : ''}`;
}

/** Returns whether `tests/protocol/test/exploration.test.ts` searches for a mutant. */
export function isSearched({ test, scenario, survives }: Mutant): boolean {
  return survives !== undefined && test === undefined && scenario === undefined;
}

const testOf = (test: string) => `\`${test}.test.ts\``;

function tableOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  if (rows.length === 0) return '';
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |\n`;
  const rule = titles.map((title) => (title === 'seed' ? '---:' : '---'));
  return `\n${[titles, rule, ...rows].map(line).join('')}`;
}

/** Reads the rows of the document. */
export function readTable(): Row[] {
  const lines = readFileSync(document, 'utf8').split('\n');
  return mutants.map((mutant) => {
    const at = lines.findIndex((line) => line.startsWith(`| ${mutant.name} |`));
    const cells = lines[at]?.split('|').map((cell) => cell.trim()) ?? [];
    const [, , , by, seed] = cells;
    const title = lines.slice(0, Math.max(0, at)).findLast((line) => /^##/.test(line));
    if (by === undefined || title === undefined) return { mutant, caught: undefined };
    if (title.startsWith('### ')) return { mutant, caught: { mode: by, seed: Number(seed), promise: title.slice(4) } };
    const test = /^`(.*)\.test\.ts`$/.exec(by)?.[1];
    return { mutant, caught: test === undefined ? { scenario: by } : { test } };
  });
}

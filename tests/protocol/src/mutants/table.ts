import { readFileSync } from 'node:fs';
import { promiseOf } from '../shrink.ts';
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

Written by \`pnpm mutants\`; \`pnpm mutants --check\`, which the tests run, tries each mutant with its seed.

| mutant | what is wrong | mode | seed | the promise that is broken |
| --- | --- | --- | ---: | --- |
`;

/** The document's text. */
export function render(rows: readonly Row[]): string {
  const unexplained = rows.filter(({ mutant, caught }) => !caught && !mutant.survives);
  if (unexplained.length > 0)
    throw new Error(`Nothing catches, or explains: ${unexplained.map(({ mutant }) => mutant.name).join(', ')}`);
  const caught = rows.filter((row) => row.caught !== undefined);
  const others = rows.filter((row) => row.caught === undefined);
  const lines = caught.map(({ mutant, caught }) => {
    return `| ${mutant.name} | ${mutant.about} | ${caught?.mode} | ${caught?.seed} | ${caught?.promise} |`;
  });
  const survivors = others.map(({ mutant }) => `- **${mutant.name}** (${mutant.about}): ${mutant.survives}.`);
  return `${introduction}${lines.join('\n')}

${caught.length} of ${rows.length} are caught. The others, and why no seed notices them:

${survivors.join('\n')}
`;
}

/** Reads the rows of the document. */
export function readTable(): Row[] {
  const lines = readFileSync(document, 'utf8').split('\n');
  return mutants.map((mutant) => {
    const line = lines.find((candidate) => candidate.startsWith(`| ${mutant.name} |`));
    const [, , , mode, seed, promise] = line?.split('|').map((cell) => cell.trim()) ?? [];
    if (mode === undefined || promise === undefined) return { mutant, caught: undefined };
    return { mutant, caught: { mode, seed: Number(seed), promise: promiseOf(promise) } };
  });
}

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
  const unexplained = rows.filter(({ mutant, caught }) => !caught && !mutant.survives);
  if (unexplained.length > 0)
    throw new Error(`Nothing catches, or explains: ${unexplained.map(({ mutant }) => mutant.name).join(', ')}`);
  const caught = rows.filter((row) => row.caught !== undefined);
  const chapters = Object.entries(promises).map(([chapter, kept]) => {
    const tables = kept.map((promise) => tableOf(wordsOf(promise), caught));
    return `## ${chapter}\n\n${tables.join('\n')}`;
  });
  const survivors = rows.filter((row) => row.caught === undefined);
  // A test of whole clients also names a test of the ledger now and then.
  const ofLedger = survivors.filter(
    ({ mutant }) => /test\/ledger\//.test(`${mutant.survives}`) && !/service-auth/.test(`${mutant.survives}`),
  );
  const others = survivors.filter((row) => !ofLedger.includes(row));
  return `${introduction}
${chapters.join('\n')}
## Those that no seed finds

${caught.length} of ${rows.length} are caught. The others, and why no seed notices them:

${others.map(reasonOf).join('\n')}

Only a test of how the ledger works today notices these, so another ledger needs another test for them:

${ofLedger.map(reasonOf).join('\n')}
`;
}

function reasonOf({ mutant }: Row): string {
  return `- **${mutant.name}** (${mutant.about}): ${mutant.survives}.`;
}

function tableOf(promise: string, caught: readonly Row[]): string {
  const lines = caught
    .filter((row) => row.caught?.promise === promise)
    .map(({ mutant, caught }) => `| ${mutant.name} | ${mutant.about} | ${caught?.mode} | ${caught?.seed} |\n`);
  const table = `\n| mutant | what is wrong | mode | seed |\n| --- | --- | --- | ---: |\n${lines.join('')}`;
  return `### ${promise}\n${lines.length > 0 ? table : ''}`;
}

/** Reads the rows of the document. */
export function readTable(): Row[] {
  const lines = readFileSync(document, 'utf8').split('\n');
  return mutants.map((mutant) => {
    const at = lines.findIndex((line) => line.startsWith(`| ${mutant.name} |`));
    const [, , , mode, seed] = lines[at]?.split('|').map((cell) => cell.trim()) ?? [];
    const promise = lines
      .slice(0, Math.max(0, at))
      .findLast((line) => line.startsWith('### '))
      ?.slice(4);
    if (mode === undefined || promise === undefined) return { mutant, caught: undefined };
    return { mutant, caught: { mode, seed: Number(seed), promise } };
  });
}

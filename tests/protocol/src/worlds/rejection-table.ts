import { existsSync, readFileSync } from 'node:fs';
import { inChildren } from '../children.ts';
import { type RejectionFigures, type RejectionWorld, rejectionWorlds } from './rejection-worlds.ts';
import type { WorldTask } from './worker.ts';

const worker = new URL('rejection-worker.ts', import.meta.url);

/** A third of 120 usable tokens. */
const share = 40;
/** A route is asked about every four minutes. */
const servedWithinMinutes = 6;

/** Returns which promises a world breaks. Each audience has a first token, and one that replaces it when it expires. */
export function brokenPromises(
  { audiences }: RejectionWorld,
  { issued, refusedPercent, unservedMinutes }: RejectionFigures,
): { readonly issued: boolean; readonly refused: boolean; readonly unserved: boolean } {
  return {
    issued: issued > share + 2 * audiences,
    refused: refusedPercent > 0,
    unserved: unservedMinutes > servedWithinMinutes,
  };
}

const heading = `## When the API answers 401

Two processes ask the API of each audience once a minute, at four routes in turn, for two days.

- **tokens**: the most that were issued within 24 hours. Promised: a third of the 120 usable ones for renewals after 401s, and two for each audience besides.
- **401**: callers who got a 401.
- **no token**: callers who got no token. Promised: none.
- **unserved**: the longest in which a route served nobody, although it would have accepted a new token, in minutes. Promised: the next request, so at most ${servedWithinMinutes}.

| world | tokens | 401 | no token | unserved |
| --- | ---: | ---: | ---: | ---: |
`;

function lineOf(world: RejectionWorld, figures: RejectionFigures): string {
  const { issued, rejectedPercent, refusedPercent, unservedMinutes } = figures;
  const broken = brokenPromises(world, figures);
  const cell = (text: string | number, isBroken: boolean) => (isBroken ? `**${text}**` : `${text}`);
  const cells = [
    cell(issued, broken.issued),
    `${rejectedPercent} %`,
    cell(`${refusedPercent} %`, broken.refused),
    cell(unservedMinutes, broken.unserved),
  ];
  return `| ${[world.name, ...cells].join(' | ')} |`;
}

/** Returns the figures of a document by the names of their worlds. */
export function readRejections(document: URL): Map<string, RejectionFigures> {
  const lines = existsSync(document) ? readFileSync(document, 'utf8').split('\n') : [];
  const found = new Map<string, RejectionFigures>();
  for (const { name } of rejectionWorlds) {
    const line = lines.find((text) => text.startsWith(`| ${name} |`));
    if (!line) continue;
    const cells = line.split('|').slice(2, -1);
    const [issued = 0, rejectedPercent = 0, refusedPercent = 0, unservedMinutes = 0] = cells.map((cell) =>
      Number(cell.replace(/[*% ]/g, '')),
    );
    found.set(name, { issued, rejectedPercent, refusedPercent, unservedMinutes });
  }
  return found;
}

/** The section of the document. */
export function rejectionSection(figures: ReadonlyMap<string, RejectionFigures>): string {
  const lines = rejectionWorlds.flatMap((world) => {
    const known = figures.get(world.name);
    return known ? [lineOf(world, known)] : [];
  });
  return `${heading}${lines.join('\n')}\n`;
}

/** Runs these seeds of each world on all processors. The worst counts. */
export async function tryRejections(
  names: readonly string[],
  seeds: readonly number[],
  core: string,
): Promise<Map<string, RejectionFigures>> {
  const results = new Map<string, RejectionFigures>();
  const tasks = names.flatMap((name) => seeds.map((seed): WorldTask => ({ name, seed, core })));
  await inChildren(worker, tasks, (figures: RejectionFigures, { name }) => {
    const known = results.get(name) ?? figures;
    results.set(name, {
      issued: Math.max(known.issued, figures.issued),
      rejectedPercent: Math.max(known.rejectedPercent, figures.rejectedPercent),
      refusedPercent: Math.max(known.refusedPercent, figures.refusedPercent),
      unservedMinutes: Math.max(known.unservedMinutes, figures.unservedMinutes),
    });
  });
  return results;
}

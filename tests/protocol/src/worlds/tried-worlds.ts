import { inChildren } from '../children.ts';
import type { Figures } from './outage-watch.ts';
import type { OutageWorld } from './outage-world.ts';
import type { WorldTask } from './worker.ts';

/** A world, and the worst that its seeds came to; of tokens and requests the most. */
export interface Row {
  readonly name: string;
  readonly figures: Figures;
}

const worker = new URL('worker.ts', import.meta.url);

/** The core of this repository. */
export const thisCore = '@service-auth/core';

/** Runs these seeds of each world on all processors. `done`: called with each row when its seeds are done. */
export async function tryWorlds(
  worlds: readonly OutageWorld[],
  seeds: readonly number[],
  core: string,
  done: (row: Row) => void,
): Promise<Row[]> {
  const results = new Map<string, Figures[]>(worlds.map(({ name }) => [name, []]));
  const tasks = worlds.flatMap(({ name }) => seeds.map((seed): WorldTask => ({ name, seed, core })));
  await inChildren(worker, tasks, (figures: Figures, { name }) => {
    const known = results.get(name) ?? [];
    known.push(figures);
    if (known.length === seeds.length) done({ name, figures: known.reduce(worst) });
  });
  return [...results].map(([name, known]) => ({ name, figures: known.reduce(worst) }));
}

function worst(one: Figures, other: Figures): Figures {
  return {
    unknownShare: Math.max(one.unknownShare, other.unknownShare),
    waitMs: Math.max(one.waitMs, other.waitMs),
    lateMs: Math.max(one.lateMs, other.lateMs),
    lockedOutMs: Math.max(one.lockedOutMs, other.lockedOutMs),
    issued: Math.max(one.issued, other.issued),
    requests: Math.max(one.requests, other.requests),
    isExceeded: one.isExceeded || other.isExceeded,
  };
}

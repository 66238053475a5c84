import { type Campaign, type Figures, noFigures, sum } from './campaign.ts';
import { inChildren } from './children.ts';
import { callFaults, timedFaults } from './faults.ts';
import { isPromised, modes } from './modes.ts';

/** The modes within the assumptions: what they find is a bug. */
export const promisedModes: readonly string[] = Object.keys(modes).filter(isPromised);

const worker = new URL('worker.ts', import.meta.url);
const atOnce = 40;

/**
 * Runs about `seeds` seeds, the same number of each of `names`, from `first` on, on all processors. Returns what each mode came to, until
 * `signal` ends it.
 */
export async function simulate(
  seeds: number,
  names: readonly string[] = promisedModes,
  first = 1,
  signal?: AbortSignal,
): Promise<ReadonlyMap<string, Figures>> {
  const shares = names.map((name) => 1 / (modes[name]?.weight ?? 1));
  const perShare = seeds / shares.reduce((all, share) => all + share, 0);
  const results = new Map(names.map((name) => [name, noFigures]));
  // All modes side by side, so that a run that is ended has tried something of each.
  const campaigns = names
    .map((mode, index) => parts(mode, first, Math.ceil(perShare * (shares[index] ?? 1))))
    .flatMap((all) => all.map((campaign, at) => ({ campaign, progress: at / all.length })))
    .sort((one, other) => one.progress - other.progress)
    .map(({ campaign }) => campaign);
  const done = (figures: Figures, { mode }: Campaign) => {
    results.set(mode, sum(results.get(mode) ?? noFigures, figures));
  };
  await inChildren(worker, campaigns, done, signal);
  return results;
}

/** Kinds of faults that never happened and modes without a token, which have proven nothing; those beyond the assumptions aside. */
export function neverHappened(results: ReadonlyMap<string, Figures>): string[] {
  const happened = [...results.values()].reduce(sum, noFigures).counts;
  const faults = [...callFaults, ...timedFaults].filter((fault) => !/_wild$|_set_back$/.test(fault));
  const idle = [...results].filter(([, { issued }]) => issued === 0).map(([mode]) => `a token in ${mode}`);
  return [...faults.filter((fault) => !happened.has(fault)), ...idle];
}

function parts(mode: string, first: number, seeds: number): Campaign[] {
  const length = Math.ceil(atOnce / (modes[mode]?.weight ?? 1));
  return Array.from({ length: Math.ceil(seeds / length) }, (_, part) => {
    const begin = first + part * length;
    return { mode, first: begin, last: Math.min(begin + length, first + seeds) - 1 };
  });
}

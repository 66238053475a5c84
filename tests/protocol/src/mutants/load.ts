import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import type { searchScope } from '../explore/search-scope.ts';
import type { CreateServiceAuth } from '../run.ts';
import { agreementMutants } from './agreement.ts';
import { cachedTokenMutants } from './cached-tokens.ts';
import { clockMutants } from './clocks.ts';
import { countingMutants } from './counting.ts';
import type { Change, Mutant } from './mutant.ts';
import { pacingMutants } from './pacing.ts';
import { quotaMutants } from './quota.ts';
import { recordMutants } from './records.ts';
import { refusingMutants } from './refusing.ts';
import { repairMutants } from './repairs.ts';
import { sharingMutants } from './sharing.ts';
import { sparingMutants } from './sparing.ts';
import { timeAndStoreMutants } from './time-and-store.ts';
import { transportMutants } from './transports.ts';

const source = new URL('../../../../packages/core/src/', import.meta.url);

/** All mutants. */
export const mutants: readonly Mutant[] = [
  ...countingMutants,
  ...timeAndStoreMutants,
  ...clockMutants,
  ...cachedTokenMutants,
  ...sharingMutants,
  ...pacingMutants,
  ...sparingMutants,
  ...refusingMutants,
  ...agreementMutants,
  ...recordMutants,
  ...repairMutants,
  ...transportMutants,
  ...quotaMutants,
];

function changesOf(mutant: Mutant): readonly Change[] {
  return mutant.also ? [mutant, mutant.also] : [mutant];
}

/** The changed texts of a mutant, by the address of their file. Throws when a passage does not occur exactly once: core has changed. */
export function textsOf(mutant: Mutant): ReadonlyMap<string, string> {
  return changedTexts(mutant.name, changesOf(mutant));
}

function changedTexts(name: string, changes: readonly Change[]): ReadonlyMap<string, string> {
  const texts = new Map<string, string>();
  for (const { file, find, replace } of changes) {
    const url = new URL(file, source).href;
    const parts = (texts.get(url) ?? readFileSync(new URL(url), 'utf8')).split(find);
    if (parts.length !== 2) throw new Error(`"${name}": a passage occurs ${parts.length - 1} times in ${file}`);
    texts.set(url, parts.join(replace));
  }
  return texts;
}

const explorer = new URL('../explore/', import.meta.url);

/** Core with one mutant applied, beside the unchanged core. */
export async function loadMutant(mutant: Mutant): Promise<CreateServiceAuth> {
  const { createServiceAuth } = await loadChanged<{ createServiceAuth: CreateServiceAuth }>(
    mutant.name,
    changesOf(mutant),
    'index.ts',
  );
  return createServiceAuth;
}

/** A module of core, with everything that it imports, built from sources in which these passages are replaced. */
export async function loadChanged<Module>(name: string, changes: readonly Change[], entry: string): Promise<Module> {
  return importWith<Module>(name, changes, entry, source);
}

/** The exhaustive search with one mutant applied to the functions that it tries. */
export async function loadMutantSearch(mutant: Mutant): Promise<typeof searchScope> {
  type Module = { searchScope: typeof searchScope };
  return (await importWith<Module>(mutant.name, changesOf(mutant), 'search-scope.ts', explorer)).searchScope;
}

/** Imports a module with passages replaced: every module of this copy has the name in its address. */
async function importWith<Module>(name: string, changes: readonly Change[], entry: string, base: URL): Promise<Module> {
  const query = `?mutant=${encodeURIComponent(name)}`;
  const texts = changedTexts(name, changes);
  const hooks = registerHooks({
    resolve(specifier, context, nextResolve) {
      const resolved = nextResolve(specifier, context);
      const copied = [source, explorer].some(({ href }) => resolved.url.startsWith(href));
      return copied && context.parentURL?.endsWith(query) ? { ...resolved, url: resolved.url + query } : resolved;
    },
    load(url, context, nextLoad) {
      const text = url.endsWith(query) ? texts.get(url.slice(0, -query.length)) : undefined;
      return text === undefined
        ? nextLoad(url, context)
        : { format: 'module-typescript', source: text, shortCircuit: true };
    },
  });
  try {
    return await import(new URL(entry + query, base).href);
  } finally {
    hooks.deregister();
  }
}

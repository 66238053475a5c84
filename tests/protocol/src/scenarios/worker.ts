import { createServiceAuth } from '@service-auth/core';
import { serve } from '../children.ts';
import { loadMutant, mutants } from '../mutants/load.ts';
import { scenarios } from './scenarios.ts';

/** A scenario to try, with core as it is or as a mutant has it. */
export interface ScenarioTask {
  readonly scenario: string;
  readonly mutant: string | undefined;
}

/** Resolves with what is broken; an empty text: nothing. */
serve(async ({ scenario, mutant: name }: ScenarioTask): Promise<string> => {
  const mutant = mutants.find((candidate) => candidate.name === name);
  const tried = mutant ? await loadMutant(mutant) : createServiceAuth;
  return (await scenarios[scenario]?.(tried)) ?? '';
});

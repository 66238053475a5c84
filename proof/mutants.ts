import { parseArgs } from 'node:util';
import { loadMutant, mutants } from './src/mutants/load.ts';
import { run } from './src/run.ts';

const { values } = parseArgs({ options: { seeds: { type: 'string', default: '300' }, only: { type: 'string' } } });

for (const mutant of mutants.filter(({ name }) => !values.only || name.includes(values.only))) {
  const createServiceAuth = await loadMutant(mutant);
  let caught: string | undefined;
  let tried = 0;
  for (const mode of mutant.modes) {
    for (let seed = 1; seed <= Number(values.seeds) && !caught; seed++) {
      tried++;
      const { violations } = await run({ mode, seed }, createServiceAuth);
      if (violations.length > 0) caught = `${mode} ${seed}: ${violations[0]?.slice(0, 90)}`;
    }
  }
  console.log(`${caught ? 'caught ' : 'SURVIVES'} ${mutant.name}: ${caught ?? tried}`);
}

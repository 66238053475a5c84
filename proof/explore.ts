/** pnpm explore: every interleaving of a few processes, to the end, in minutes. With --quick: in seconds. */
import { parseArgs } from 'node:util';
import { quickScopes, scopes } from './src/explore/scopes.ts';
import { search } from './src/explore/search.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });

console.log('processes  tokens  faults  steps of time  rounds     states      moves  records  depth  seconds  kinds');
for (const scope of values.quick ? quickScopes : scopes) {
  const begunAt = performance.now();
  const { states, moves, records, depth, complete, broken } = search(scope);
  const seconds = ((performance.now() - begunAt) / 1_000).toFixed(1);
  const { processes, usable, faults, steps, rounds, kinds } = scope;
  const columns = [processes, usable, faults, steps, rounds, states, moves, records, depth, seconds];
  const widths = [9, 8, 8, 15, 8, 11, 11, 9, 7, 9];
  console.log(`${columns.map((column, at) => `${column}`.padStart(widths[at] ?? 0)).join('')}  ${kinds.join(' ')}`);
  if (!complete) process.exitCode = 1;
  if (broken) console.log(`${broken.promise}:\n  ${broken.way.join('\n  ')}`);
}

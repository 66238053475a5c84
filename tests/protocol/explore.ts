/** pnpm explore: every interleaving of a few processes, to the end, in minutes. With --quick: in seconds. */
import { parseArgs } from 'node:util';
import { inChildren } from './src/children.ts';
import { quickScopes, scopes } from './src/explore/scopes.ts';
import type { Found } from './src/explore/search.ts';
import type { SearchTask } from './src/mutants/search-worker.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const tasks = (values.quick ? quickScopes : scopes).map((scope): SearchTask => ({ scope, mutant: undefined }));
const worker = new URL('src/mutants/search-worker.ts', import.meta.url);
const total = { states: 0, moves: 0 };

console.log('processes  tokens  faults  steps of time  rounds     states      moves  records  depth  kinds of faults');
await inChildren(worker, tasks, ({ states, moves, records, depth, complete, broken }: Found, { scope }) => {
  const { processes, usable, faults, steps, rounds, kinds } = scope;
  const columns = [processes, usable, faults, steps, rounds, states, moves, records, depth];
  const widths = [9, 8, 8, 15, 8, 11, 11, 9, 7];
  console.log(`${columns.map((column, at) => `${column}`.padStart(widths[at] ?? 0)).join('')}  ${kinds.join(' ')}`);
  total.states += states;
  total.moves += moves;
  if (!complete) process.exitCode = 1;
  if (broken) console.log(`${broken.promise}:\n  ${broken.way.join('\n  ')}`);
});
console.log(`${total.states} states, ${total.moves} moves`);

/** pnpm explore: every interleaving of a few processes, to the end, in minutes. With --quick: in seconds. */
import { parseArgs } from 'node:util';
import { inChildren } from './src/children.ts';
import type { Scope } from './src/explore/model.ts';
import { memoryScopes, quickMemoryScopes, quickScopes, scopes } from './src/explore/scopes.ts';
import type { Found } from './src/explore/search.ts';
import type { SearchTask } from './src/mutants/search-worker.ts';

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } });
const chosen = values.quick ? [...quickScopes, ...quickMemoryScopes] : [...scopes, ...memoryScopes];
const tasks = chosen.map((scope): SearchTask => ({ scope, mutant: undefined }));
const worker = new URL('src/mutants/search-worker.ts', import.meta.url);
const total = { states: 0, moves: 0 };

console.log(
  'searched  processes           tokens  faults  steps of time  rounds     states      moves  depth  kinds of faults',
);
await inChildren(worker, tasks, ({ states, moves, depth, complete, broken }: Found, { scope }) => {
  const { processes, faults, steps, kinds } = scope;
  const [searched, tokens, rounds] =
    'agreements' in scope ? ['ledger', tokensOf(scope), scope.rounds] : ['memory', scope.tokens, '-'];
  const columns = [processes, tokens, faults, steps, rounds, states, moves, depth];
  const widths = [11, 17, 8, 15, 8, 11, 11, 7];
  const figures = columns.map((column, at) => `${column}`.padStart(widths[at] ?? 0)).join('');
  console.log(`${searched.padEnd(8)}${figures}  ${kinds.join(', ')}`);
  total.states += states;
  total.moves += moves;
  if (!complete) process.exitCode = 1;
  if (broken) console.log(`${broken.promise}:\n  ${broken.way.join('\n  ')}`);
});
console.log(`${total.states} states, ${total.moves} moves`);

/** The agreements of a scope, such as "1/1h+2/24h 2/24h". */
function tokensOf({ agreements }: Scope): string {
  return agreements.map((terms) => terms.map(({ tokens, hours }) => `${tokens}/${hours}h`).join('+')).join(' ');
}

/**
 * pnpm fuzz                                        20,000 inputs for each target
 * pnpm fuzz --runs 1000000                         a night
 * pnpm fuzz --only 'quota headers' --seed 7        one target, another seed
 */
import { parseArgs } from 'node:util';
import { flipEveryBit } from './src/fuzz/bit-flips.ts';
import { fuzz } from './src/fuzz/fuzz.ts';

const { values } = parseArgs({
  options: {
    runs: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
  },
});

console.log('target                                inputs');
const results = await fuzz(Number(values.runs), Number(values.seed), values.only);
for (const [name, { runs, failures }] of results) {
  console.log(`${name.padEnd(34)}${`${runs}`.padStart(10)}`);
  for (const failure of failures) console.log(failure);
  if (failures.length > 0) process.exitCode = 1;
}
const megabytes = Math.max(0, ...[...results.values()].map(({ maxMegabytes }) => maxMegabytes));
console.log(`\nat most ${megabytes.toFixed(0)} MB in a process`);

if (values.only === '') {
  const { flips, unnoticed } = flipEveryBit(50);
  console.log(`every bit of 50 stored records flipped: ${flips} flips, ${unnoticed.length} unnoticed`);
  if (unnoticed.length > 0) process.exitCode = 1;
}

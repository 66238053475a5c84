/**
 * node packages/core/test/ledger/worlds/run.ts              how much of the budget an outage takes and how long an audience that works waits, in each world
 * node packages/core/test/ledger/worlds/run.ts 3 outage     ... for three seeds, in the worlds with such a name
 */
import { hour, live, minute } from './world.ts';
import { worlds } from './worlds.ts';

const [seeds = '2', part = ''] = process.argv.slice(2);
console.log(`${'world'.padEnd(56)} unknown  share   wait  locked out  issued  attempts`);
for (const [name, world] of Object.entries(worlds).filter(([name]) => name.includes(part))) {
  const courses = Array.from({ length: Number(seeds) }, (_, seed) => live(world, seed + 1));
  const most = (of: keyof (typeof courses)[number]) => Math.max(...courses.map((course) => course[of]));
  const columns = [
    `${most('unknown')}`.padStart(7),
    `${Math.round(100 * most('unknownShare'))} %`.padStart(6),
    `${(most('waitMs') / minute).toFixed(0)} min`.padStart(7),
    `${(most('lockedOutMs') / hour).toFixed(1)} h`.padStart(10),
    `${most('issued')}`.padStart(7),
    `${most('attempts')}`.padStart(9),
  ];
  console.log(name.padEnd(56), columns.join(' '));
}

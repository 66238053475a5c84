// pnpm soak [calls|renewals|aborts|clients|crowd|audiences]: runs a client's whole life on a manual clock, and measures the memory that remains. `--short`: a hundredth of it, and a tenth of the crowd.
// crowd: measures what 10,000 clients take that wait for their next call. audiences: measures what 1,000 audiences of one client id cost.
import { gatherAudiences, most } from './audiences.ts';
import { gather, maxBytes } from './crowd.ts';
import { exercises } from './exercises.ts';
import { isLeak, measure } from './measure.ts';

const times: Readonly<Record<string, number>> = {
  calls: 1_000_000,
  renewals: 100_000,
  aborts: 100_000,
  clients: 20_000,
};
const isShort = process.argv.includes('--short');
const share = isShort ? 0.01 : 1;

const asked = process.argv.slice(2).filter((name) => name in exercises || name === 'crowd' || name === 'audiences');

// First, because code that the exercises compile would count as memory of the clients.
if (asked.length === 0 || asked.includes('crowd')) {
  const count = isShort ? 1_000 : 10_000;
  const { bytes, handles, createdWithin } = await gather(count);
  const isTooLarge = bytes > maxBytes || handles > 0;
  const taken = `${bytes} bytes each without its token, ${handles} handles, created within ${createdWithin} µs`;
  console.log(`${isTooLarge ? 'TOO LARGE ' : ''}${count.toLocaleString('en')} crowd: ${taken}`);
  if (isTooLarge) process.exitCode = 1;
}

for (const [name, prepare] of Object.entries(exercises)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  const count = (times[name] ?? 0) * share;
  const remains = await measure(prepare(), count);
  const { kilobytes, listeners, timers, handles, seconds } = remains;
  const left = `${kilobytes} kB, ${listeners} listeners, ${timers} timers, ${handles} handles`;
  console.log(
    `${isLeak(remains) ? 'LEAK ' : ''}${count.toLocaleString('en')} ${name}: ${left} left after ${seconds} s`,
  );
  if (isLeak(remains)) process.exitCode = 1;
}

if (asked.length === 0 || asked.includes('audiences')) {
  const count = 1_000;
  const { bytes, loads } = await gatherAudiences(count);
  const isTooLarge = bytes > most.bytes || loads > most.loads;
  const taken = `${(bytes / 1_000_000).toFixed(1)} MB, ${loads} reads of the record in five minutes`;
  console.log(`${isTooLarge ? 'TOO LARGE ' : ''}${count.toLocaleString('en')} audiences: ${taken}`);
  if (isTooLarge) process.exitCode = 1;
}

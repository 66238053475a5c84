// pnpm soak [calls|renewals|aborts|clients|crowd|audiences]: runs a client's whole life on a manual clock, and measures the memory that remains. `--short`: a hundredth of it, and a tenth of the crowd.
// crowd: measures what 10,000 clients take that wait for their next call. audiences: measures what 1,000 audiences of one client id cost.
import { gatherAudiences, most } from './audiences.ts';
import { gather, maxBytes } from './crowd.ts';
import { exercises } from './exercises.ts';
import { isLeak, measure } from './measure.ts';

const times: Readonly<Record<string, number>> = { calls: 1e6, renewals: 1e5, aborts: 1e5, clients: 20_000 };
const isShort = process.argv.includes('--short');
const named = process.argv.slice(2).filter((name) => name in exercises || name === 'crowd' || name === 'audiences');
const isAsked = (name: string) => named.length === 0 || named.includes(name);

// First, because code that the exercises compile would count as memory of the clients.
if (isAsked('crowd')) {
  const count = isShort ? 1_000 : 10_000;
  const { bytes, handles, createdWithin } = await gather(count);
  const taken = `${bytes} bytes each without its token, ${handles} handles, created within ${createdWithin} µs`;
  report(bytes > maxBytes || handles > 0 ? 'TOO LARGE' : '', count, `crowd: ${taken}`);
}

for (const [name, prepare] of Object.entries(exercises).filter(([name]) => isAsked(name))) {
  const count = (times[name] ?? 0) * (isShort ? 0.01 : 1);
  const remains = await measure(prepare(), count);
  const { kilobytes, listeners, timers, handles, seconds } = remains;
  const left = `${kilobytes} kB, ${listeners} listeners, ${timers} timers, ${handles} handles`;
  report(isLeak(remains) ? 'LEAK' : '', count, `${name}: ${left} left after ${seconds} s`);
}

if (isAsked('audiences')) {
  const count = 1_000;
  const { bytes, loads } = await gatherAudiences(count);
  const taken = `${(bytes / 1_000_000).toFixed(1)} MB, ${loads} reads of the record in five minutes`;
  report(bytes > most.bytes || loads > most.loads ? 'TOO LARGE' : '', count, `audiences: ${taken}`);
}

/** Prints what was measured, and what is wrong with it. */
function report(flaw: string, count: number, what: string): void {
  console.log(`${flaw && `${flaw} `}${count.toLocaleString('en')} ${what}`);
  if (flaw) process.exitCode = 1;
}

// pnpm chaos [minutes] [seed] [store]: by default five minutes over all stores in turn, with a seed of the time.

import { openPlace } from './src/places.ts';
import { type ChaosFigures, runChaos } from './src/run-chaos.ts';
import { type StoreKind, storeKinds } from './src/stores.ts';

const runMs = 30_000;
const [minutes = '5', firstSeed = `${Date.now() % 1_000_000}`, store] = process.argv.slice(2);
const kinds = storeKinds.filter((kind) => store === undefined || kind === store);
if (!(Number(minutes) > 0) || !Number.isInteger(Number(firstSeed)) || kinds.length === 0) {
  console.error(`pnpm chaos [minutes] [seed] [${storeKinds.join(' | ')}]`);
  process.exit(2);
}

const figures: ChaosFigures[] = [];
const until = performance.now() + Number(minutes) * 60_000;
for (let seed = Number(firstSeed); performance.now() < until; seed += 1) {
  for (const kind of kinds) await run(kind, seed);
}
summarize();

async function run(kind: StoreKind, seed: number): Promise<void> {
  const ran = await runChaos({ place: await openPlace(kind), seed, durationMs: runMs, recoverWithinMs: 120_000 });
  figures.push(ran);
  const { tokensIssued, servedAfterMs, violations } = ran;
  const faults = ran.kills + ran.killsOfSenders + ran.stops + ran.stopsOfSenders + ran.serverKills + ran.relayFaults;
  const served = `everyone served ${(servedAfterMs / 1_000).toFixed(1)} s after the last`;
  console.log(`${kind.padEnd(14)} seed ${seed}: ${faults} faults, ${tokensIssued} tokens issued, ${served}`);
  if (violations.length === 0) return;
  process.exitCode = 1;
  for (const violation of violations) console.log(`  ✗ ${violation}`);
  console.log(`  again: pnpm chaos 0.1 ${seed} ${kind}`);
}

/** A table like that of docs/data/chaos.json. */
function summarize(): void {
  const rows: Record<string, (ran: readonly ChaosFigures[]) => number> = {
    runs: (ran) => ran.length,
    'processes started': sumOf('processStarts'),
    'processes killed': sumOf('kills'),
    'killed as they sent a token request': sumOf('killsOfSenders'),
    'processes stopped and continued': sumOf('stops'),
    'stopped as they sent a token request': sumOf('stopsOfSenders'),
    'servers killed and restarted': sumOf('serverKills'),
    'faults of the connection to the store': sumOf('relayFaults'),
    'token requests that arrived': sumOf('tokenRequests'),
    'tokens issued': sumOf('tokensIssued'),
    'most issued in a window that allows 10': (ran) => Math.max(...ran.flatMap(({ largest }) => largest)),
    'processes given another agreement': sumOf('rolledOut'),
    'most issued in a window after a limit of 25': (ran) =>
      Math.max(...ran.map(({ largestAfterChange }) => largestAfterChange)),
    'ledger compared with the service': sumOf('comparisons'),
    'longest until everyone was served, ms': (ran) => Math.max(...ran.map(({ servedAfterMs }) => servedAfterMs)),
    violations: (ran) => ran.flatMap(({ violations }) => violations).length,
  };
  console.log(`\n| | ${kinds.join(' | ')} |\n| --- |${' ---: |'.repeat(kinds.length)}`);
  for (const [name, figure] of Object.entries(rows)) {
    const values = kinds.map((kind) => figure(figures.filter((ran) => ran.kind === kind)).toLocaleString('en'));
    console.log(`| ${name} | ${values.join(' | ')} |`);
  }
}

type Counted = { [Name in keyof ChaosFigures]: ChaosFigures[Name] extends number ? Name : never }[keyof ChaosFigures];

function sumOf(name: Counted): (ran: readonly ChaosFigures[]) => number {
  return (ran) => ran.reduce((sum, one) => sum + one[name], 0);
}

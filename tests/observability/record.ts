// Records what Prometheus sees of a fleet in trouble, for the unit tests of the rules. It takes some minutes:
//
//   node --conditions=@service-auth/source tests/observability/record.ts
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startFleet } from './fleet.ts';
import { startPrometheus } from './prometheus.ts';
import { notationOf, type Phase, type Recording, recordingFile, stepSeconds } from './recording.ts';
import { impatientRules } from './rules.ts';

// In the tests a step stands for a minute, and the slowest rule waits for 15.
const lastsMs = 20 * stepSeconds * 1_000;
const calmMs = 8 * stepSeconds * 1_000;
const patienceMs = 300_000;
const metrics = 'service_auth_(budget_(limit|usage|spent_in|refused_for)|hold_remaining|record_info)';

await using fleet = await startFleet();
await using prometheus = await startPrometheus(fleet.ports, impatientRules);
await until(async () => (await prometheus.query('service_auth_record_info')) >= fleet.ports.length);
const startedAt = Math.ceil(Date.now() / 1_000);
const step = () => Math.floor((Date.now() / 1_000 - startedAt) / stepSeconds);

const phases: Phase[] = [];
for (const { name, alerts, begin, end } of fleet.troubles) {
  const from = Math.max(0, step());
  await begin();
  await until(async () => isSubset(alerts, await prometheus.firing()));
  await delay(lastsMs);
  const to = step();
  await end();
  await until(async () => !overlaps(alerts, await prometheus.firing()));
  await delay(calmMs);
  phases.push({ name, alerts, from, to, over: step() });
  console.log(phases.at(-1));
}
const steps = step() + 1;
const found = await prometheus.range(
  `{__name__=~"${metrics}"}`,
  startedAt,
  startedAt + (steps - 1) * stepSeconds,
  stepSeconds,
);
const series = Object.entries(found).map(([name, samples]) => {
  const values = Array.from({ length: steps }, (_, index) => rounded(samples.get(startedAt + index * stepSeconds)));
  return [name, notationOf(values)] as const;
});
const recording: Recording = { phases, series: Object.fromEntries(series.toSorted(([a], [b]) => a.localeCompare(b))) };
writeFileSync(recordingFile, `${JSON.stringify(recording, null, 2)}\n`);

function rounded(value: number | undefined): number | undefined {
  return value === undefined ? undefined : Math.round(value * 10) / 10;
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  for (const endsAt = Date.now() + patienceMs; !(await isTrue()); await delay(500)) {
    if (Date.now() > endsAt) throw new Error(`waited in vain after ${JSON.stringify(phases)}`);
  }
}

function isSubset(some: readonly string[], all: readonly string[]): boolean {
  return some.every((one) => all.includes(one));
}

function overlaps(some: readonly string[], all: readonly string[]): boolean {
  return some.some((one) => all.includes(one));
}

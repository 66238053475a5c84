import { parseArgs } from 'node:util';
import { createServiceAuth } from '@service-auth/core';
import { modes } from './src/modes.ts';
import { type Plan, type Report, run } from './src/run.ts';
import { shrink } from './src/shrink.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    mode: { type: 'string', multiple: true },
    plan: { type: 'string' },
    print: { type: 'boolean', default: false },
    shrink: { type: 'boolean', default: true },
    'no-shrink': { type: 'boolean', default: false },
    keep: { type: 'string', default: '5' },
  },
});

const year = 365 * 24 * 3_600_000;
const rerun = (plan: Plan) => run(plan, createServiceAuth);

if (values.plan) {
  const report = await run(JSON.parse(values.plan) as Plan, createServiceAuth, values.print ? console.log : undefined);
  console.log({ ...report, counts: Object.fromEntries([...report.counts].sort()) });
  process.exit(report.violations.length > 0 ? 1 : 0);
}

let failures = 0;
const names = values.mode ?? Object.keys(modes).filter((name) => modes[name]?.promised);
for (const mode of names) {
  const begunAt = performance.now();
  const counts = new Map<string, number>();
  let [events, virtualMs, issued, violated] = [0, 0, 0, 0];
  const last = Number(values.from) + Number(values.seeds) - 1;
  for (let seed = Number(values.from); seed <= last; seed++) {
    const report: Report = await rerun({ mode, seed });
    events += report.events;
    virtualMs += report.virtualMs;
    issued += report.issued;
    for (const [name, count] of report.counts) counts.set(name, (counts.get(name) ?? 0) + count);
    if (report.violations.length === 0) continue;
    violated += 1;
    console.log(`${mode} ${seed}: ${report.violations.length}x ${report.violations[0]}`);
    if (violated > Number(values.keep) || values['no-shrink']) continue;
    const smaller = await shrink({ mode, seed }, report, rerun);
    console.log(`  pnpm simulate --print --plan '${JSON.stringify(smaller)}'`);
  }
  if (modes[mode]?.promised) failures += violated;
  const seconds = (performance.now() - begunAt) / 1_000;
  const figures = [
    `${values.seeds} seeds`,
    `${violated} violated`,
    `${(virtualMs / year).toFixed(1)} years`,
    `${issued} tokens`,
    `${(events / 1e6).toFixed(1)}M events`,
    `${(Number(values.seeds) / seconds).toFixed(0)} seeds/s`,
  ];
  console.log(`${mode}: ${figures.join(', ')}`);
  console.log(`  ${[...counts].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, count]) => `${name} ${count}`).join(', ')}`);
}
process.exit(failures > 0 ? 1 : 0);

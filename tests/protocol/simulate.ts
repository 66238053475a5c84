/**
 * pnpm simulate                                    10,000 seeds over all modes within the assumptions
 * pnpm simulate --minutes 300                      a night, from a seed that nobody has tried; Ctrl+C ends it with the figures so far
 * pnpm simulate --seeds 10000 --mode pauses        one mode
 * pnpm simulate --mode wild-clock                  a control, or beyond the assumptions: violations are figures, not failures
 * pnpm simulate --write                            writes the figures of docs/reliability.md
 * pnpm simulate --print --plan '{"mode":"faults","seed":1}'
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { createServiceAuth } from '@service-auth/core';
import { type Figures, type Finding, noFigures, sum } from './src/campaign.ts';
import { keep } from './src/kept-plans.ts';
import { isPromised, modes } from './src/modes.ts';
import { type Plan, run } from './src/run.ts';
import { neverHappened, promisedModes, simulate } from './src/simulation.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    minutes: { type: 'string' },
    from: { type: 'string' },
    mode: { type: 'string', multiple: true },
    plan: { type: 'string' },
    print: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
});

process.exitCode = values.plan ? await replay(JSON.parse(values.plan) as Plan) : await explore();

async function replay(plan: Plan): Promise<number> {
  const report = await run(plan, createServiceAuth, values.print ? (line) => console.log(line) : undefined);
  console.log({ ...report, counts: Object.fromEntries([...report.counts].sort()) });
  return report.violations.length > 0 ? 1 : 0;
}

async function explore(): Promise<number> {
  const begunAt = performance.now();
  const ending = new AbortController();
  process.once('SIGINT', () => ending.abort());
  const minutes = values.minutes === undefined ? undefined : Number(values.minutes);
  if (minutes !== undefined) setTimeout(() => ending.abort(), minutes * 60_000).unref();
  const seeds = Number(values.seeds ?? (minutes === undefined ? 10_000 : 1_000_000));
  // A seed of its own for each second: what it finds is printed with its seed.
  const first = Number(values.from ?? (minutes === undefined ? 1 : Math.floor(Date.now() / 1_000)));
  const results = await simulate(seeds, values.mode ?? promisedModes, first, ending.signal);
  const total = [...results.values()].reduce(sum, noFigures);
  console.log('mode               seeds  violated  virtual years     tokens      faults       events');
  for (const [mode, { seeds, findings, virtualYears, issued, faults, events }] of [
    ...results,
    ['all', total] as const,
  ]) {
    const columns = [seeds, findings.length, virtualYears.toFixed(1), issued, faults, events];
    const widths = [8, 10, 15, 11, 12, 13];
    console.log(mode.padEnd(16) + columns.map((column, at) => `${column}`.padStart(widths[at] ?? 0)).join(''));
  }
  const seconds = (performance.now() - begunAt) / 1_000;
  console.log(`\n${seconds.toFixed(0)} s, ${(total.seeds / seconds).toFixed(0)} seeds per second`);
  console.log(
    `\n${[...total.counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, count]) => `${name} ${count}`)
      .join(', ')}`,
  );

  if (values.write) write([...results, ['**all**', total]], first);
  const bugs = total.findings.filter(({ plan }) => isPromised(plan.mode));
  for (const finding of bugs) report(finding);
  keep(bugs);
  // What is rare happens in a thousand seeds, and need not in fewer.
  const missing = values.mode || total.seeds < 1_000 ? [] : neverHappened(results);
  if (missing.length > 0) console.log(`never happened: ${missing.join(', ')}`);
  return bugs.length + missing.length > 0 ? 1 : 0;
}

function write(results: readonly (readonly [string, Figures])[], first: number): void {
  const columns = ['mode', 'what happens', 'seeds', 'broken', 'virtual years', 'tokens', 'faults'];
  const rows = results.map(([mode, { seeds, findings, virtualYears, issued, faults }]) => {
    const counts = [seeds, findings.length, virtualYears.toFixed(1), issued, faults];
    return [mode, modes[mode]?.about ?? '', ...counts.map((count) => count.toLocaleString('en'))];
  });
  const seeds = rows.at(-1)?.[2];
  const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  const note = `\`pnpm simulate --from ${first}\`, ${seeds} seeds, ${new Date().toISOString().slice(0, 10)}, commit ${commit}.`;
  const document = new URL('../../docs/data/simulation.json', import.meta.url);
  writeFileSync(document, `${JSON.stringify({ tables: [{ columns, rows }], note }, null, 2)}\n`);
}

function report({ plan, violation, smaller }: Finding): void {
  console.log(`${plan.mode} ${plan.seed}: ${violation}`);
  console.log(`  pnpm simulate --print --plan '${JSON.stringify(smaller)}'`);
}

// Everything that CI runs. `pnpm check` runs all of it, `pnpm check types lint` only that, `pnpm check --without test` all but that.
// `--night` adds what takes longer than a change can wait for, and larger numbers. `pnpm check --list` says what each one alone finds.
// Two run at a time, beside one that idles, and each runs even if another one fails.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import '../tests/support/tools/end-with-this-process.ts';
import { root } from '../tests/support/tools/packages/packages.ts';
import { type Check, checks } from './checks.ts';

const { values, positionals: names } = parseArgs({
  allowPositionals: true,
  options: {
    list: { type: 'boolean' },
    night: { type: 'boolean' },
    without: { type: 'boolean', default: false },
  },
});
const unknown = names.filter((name) => !Object.hasOwn(checks, name));
const isNamed = names.length > 0 && !values.without;
const chosen = Object.entries(checks).filter(([name, { night }]) =>
  isNamed ? names.includes(name) : !names.includes(name) && (values.list || values.night || !night),
);
if (unknown.length > 0) {
  console.error(`No such check: ${unknown.join(', ')}. There are: ${Object.keys(checks).join(', ')}.`);
  process.exitCode = 2;
} else if (values.list) {
  for (const [name, { finds, night }] of chosen)
    console.log(`${name.padEnd(13)} ${finds}${night ? ' (by night)' : ''}`);
} else await runAll();

async function runAll(): Promise<void> {
  const begunAt = performance.now();
  // A check alone has all processors; two at a time have one each.
  const atOnce = chosen.length === 1 ? 1 : 2;
  const idle = chosen.filter(([, { idles }]) => idles);
  const waiting = chosen.filter(([, { idles }]) => !idles).values();
  const failed: string[] = [];
  const takeTurns = async (turns: Iterable<(typeof chosen)[number]>) => {
    for (const [name, check] of turns) if (!(await run(name, check, atOnce))) failed.push(name);
  };
  await Promise.all([takeTurns(idle), ...Array.from({ length: atOnce }, () => takeTurns(waiting))]);
  const minutes = ((performance.now() - begunAt) / 60_000).toFixed(1);
  console.log(
    failed.length === 0
      ? `\nAll ${chosen.length} checks passed in ${minutes} minutes.`
      : `\n${failed.length} of ${chosen.length} checks failed in ${minutes} minutes: ${failed.join(', ')}.`,
  );
  process.exitCode = failed.length === 0 ? 0 : 1;
}

/** Runs a check to its end. Its output is shown if it fails, and at once if it runs alone. */
async function run(name: string, check: Check, atOnce: number): Promise<boolean> {
  const begunAt = performance.now();
  const stream = atOnce === 1 || name === 'test' ? 'inherit' : 'pipe';
  const [command = '', ...argv] = (values.night && check.runAtNight) || check.run;
  const child = spawn(command, argv, {
    cwd: root,
    // The whole group ends with this process: the command, and all that it starts.
    detached: true,
    stdio: ['ignore', stream, stream],
    env: {
      ...process.env,
      TURBO_TELEMETRY_DISABLED: '1',
      ...(values.night && { NIGHT: 'true' }),
      ...(atOnce > 1 && !check.waits && { VITEST_MAX_WORKERS: '1' }),
    },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  const [code] = await once(child, 'close').catch((error: Error) => {
    output += error;
    return [1];
  });
  const taken = ((performance.now() - begunAt) / 1_000).toFixed(1);
  console.log(`${code === 0 ? '✓' : '✗'} ${name.padEnd(13)} ${taken.padStart(5)} s`);
  const shown = output.trimEnd().split('\n');
  if (code !== 0) console.log(`\n${[command, ...argv].join(' ')}\n${shown.join('\n')}\n`);
  else for (const note of shown.filter((line) => line.startsWith('warning: '))) console.log(`    ${note}`);
  return code === 0;
}

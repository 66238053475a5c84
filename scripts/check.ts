// Everything that CI runs. `pnpm check` runs all of it, `pnpm check types lint` only that,
// `pnpm check --without test` all but that. Every step runs even if one before it failed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import '../tests/support/tools/end-with-this-process.ts';
import { root } from './packages.ts';
import { steps } from './steps.ts';

const asked = process.argv.slice(2);
const without = asked[0] === '--without';
const unknown = asked.slice(without ? 1 : 0).filter((name) => !(name in steps));
if (unknown.length > 0) {
  console.error(`No such step: ${unknown.join(', ')}. There are: ${Object.keys(steps).join(', ')}.`);
  process.exit(2);
}
const chosen = Object.entries(steps).filter(([name]) => asked.length === 0 || asked.includes(name) !== without);

if (chosen.length === 0 || (without && asked.length === 1)) {
  console.error(`Nothing to check. There are: ${Object.keys(steps).join(', ')}.`);
  process.exit(2);
}

const failed: string[] = [];
for (const [name, argv] of chosen) {
  const startedAt = performance.now();
  const { passed, output } = await run(argv, name === 'test');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  console.log(`${passed ? '✓' : '✗'} ${name.padEnd(13)} ${seconds.padStart(5)} s`);
  const notes = output.split('\n').filter((line) => line.startsWith('warning: '));
  if (passed) for (const note of notes) console.log(`    ${note}`);
  else {
    failed.push(name);
    console.log(`\n${argv.join(' ')}\n${output}\n`);
  }
}

console.log(
  failed.length === 0
    ? `\nAll ${chosen.length} checks passed.`
    : `\n${failed.length} of ${chosen.length} checks failed: ${failed.join(', ')}.`,
);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs a command to its end. Its output is shown at once, or else returned. */
async function run([command = '', ...argv]: string[], isShown: boolean): Promise<{ passed: boolean; output: string }> {
  const stream = isShown ? 'inherit' : 'pipe';
  const child = spawn(command, argv, {
    cwd: root,
    // The whole group ends with this process: the command, and all that it starts.
    detached: true,
    stdio: ['ignore', stream, stream],
    env: { ...process.env, TURBO_TELEMETRY_DISABLED: '1' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text) => (output += text));
  try {
    const [code] = await once(child, 'close');
    return { passed: code === 0, output: output.trimEnd() };
  } catch (error) {
    return { passed: false, output: `${error}` };
  }
}

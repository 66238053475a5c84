// pnpm bench [--quick] [question ...]
import { spawnSync } from 'node:child_process';
import { loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Answer, Scope } from './harness/answer.ts';
import { writeAnswer } from './harness/document.ts';
import { goalText, textOf } from './harness/render.ts';

const questions = [
  'hot-path',
  'adapters',
  'loopback',
  'forwarding',
  'stampede',
  'fleet',
  'same-day',
  'round-trips',
  'local-stores',
  'start-up',
  'command-line',
  'clients',
  'audiences',
  'refused-names',
] as const;
type Question = (typeof questions)[number];

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const unknown = positionals.filter((name) => !questions.includes(name as Question));
if (unknown.length > 0) stop(`No such question: ${unknown.join(', ')}. There are: ${questions.join(', ')}.`);
const asked = questions.filter((name) => positionals.length === 0 || positionals.includes(name));
const scope: Scope = { quick: values.quick };

const root = fileURLToPath(new URL('..', import.meta.url));
// The measurement uses the published build, not the sources.
run('turbo', ['run', 'build', '--output-logs=errors-only']);
if (!scope.quick) run('pnpm', ['install', '--frozen-lockfile', '--dir', 'bench/peers']);

const failed: string[] = [];
for (const name of asked) {
  const startedAt = performance.now();
  const [load = Number.NaN] = loadavg();
  const { default: measure } = (await import(`./questions/${name}.ts`)) as {
    default: (scope: Scope) => Promise<Answer>;
  };
  try {
    const answer = await measure(scope);
    console.log(`\n${name}, ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`);
    for (const table of answer.tables) console.log(`\n${textOf(table)}`);
    console.log(answer.goals.map((goal) => `\n${goalText(goal)}`).join(''));
    if (scope.quick) continue;
    const command = asked.length === questions.length ? 'pnpm bench' : `pnpm bench ${name}`;
    const commit = run('git', ['rev-parse', '--short', 'HEAD']);
    console.log(`\nWritten: ${writeAnswer(name, answer, { command, commit, load }).join(', ')}`);
  } catch (error) {
    failed.push(name);
    console.error(error);
  }
}
if (scope.quick) console.log('\nNothing is written by a quick run.');
else run('biome', ['format', '--write', 'docs/data/performance']);
if (failed.length > 0) stop(`\nNot answered: ${failed.join(', ')}.`);

/** Returns what the command prints. */
function run(command: string, argv: string[]): string {
  const env = { ...process.env, TURBO_TELEMETRY_DISABLED: '1' };
  const { status, stdout, stderr, error } = spawnSync(command, argv, { cwd: root, encoding: 'utf8', env });
  if (status !== 0) stop(`${stdout ?? ''}${stderr ?? ''}${error ?? ''}\n${command} ${argv.join(' ')} failed.`);
  return stdout.trim();
}

function stop(reason: string): never {
  console.error(reason);
  process.exit(1);
}

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Answer, atMost, numberText, type Row, type Scope, spreadText } from '../harness/answer.ts';
import { environmentOf } from '../harness/client.ts';
import { openPlaces } from '../harness/places.ts';
import { startService } from '../harness/service.ts';
import { type Rounds, spreadOf } from '../harness/statistics.ts';

const bare = 'node -e 0';
const cold = 'service-auth token, a directory';
const allowedMs = 60;

const program = fileURLToPath(new URL('dist/service-auth.js', import.meta.resolve('@service-auth/cli/package.json')));

/** Measures how long a shell waits for a token that another program has already had issued. Each call is a new process. */
export default async function commandLine({ quick }: Scope): Promise<Answer> {
  await using service = await startService();
  await using stack = new AsyncDisposableStack();
  const places = await openPlaces(stack);
  const token = (store: string) => [program, 'token', '--store', store];
  const commands: Readonly<Record<string, readonly string[]>> = {
    [bare]: ['-e', '0'],
    [cold]: token(`file:${places.directory}`),
    ...(places.redis && { 'service-auth token, Redis': token(places.redis) }),
    ...(places.postgres && { 'service-auth token, PostgreSQL': token(places.postgres) }),
    'service-auth --version': [program, '--version'],
  };
  const times = measure(commands, environmentOf(service.client), quick ? 5 : 25);
  const spread = (name: string) => spreadOf(times[name] ?? []);
  // Round by round: what slowed the machine for a moment slowed both.
  const excess = spreadOf(
    (times[cold] ?? []).map((ms, round) => (ms - allowedMs) / (times[bare]?.[round] ?? Number.NaN)),
  );
  const rows = Object.keys(commands).map(
    (name): Row => ({
      name,
      kind: name === bare ? 'limit' : 'ours',
      cells: [spreadText(spread(name), 0), numberText(spread(name).median - spread(bare).median, 0)],
    }),
  );
  return {
    tables: [
      { title: 'a process that prints a token of the store', columns: ['ms', 'ms more than Node itself'], rows },
    ],
    goals: [atMost(`a cold token of a directory less ${allowedMs} ms, ${bare} = 1`, 1.5, excess)],
  };
}

/** Milliseconds from the start of each process to its end, in turns. */
function measure(
  commands: Readonly<Record<string, readonly string[]>>,
  env: NodeJS.ProcessEnv,
  rounds: number,
): Rounds {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    for (const [name, args] of Object.entries(commands)) {
      const startedAt = performance.now();
      execFileSync(process.execPath, args, { env, stdio: 'pipe' });
      // The first one has the token issued.
      if (round > 0) times[name]?.push(performance.now() - startedAt);
    }
  }
  return times;
}

// Stores that stop answering, at the first moment or in the middle of a command.
import { describe, expect, test } from 'vitest';
import { startFallingSilent } from './support/falling-silent.ts';
import { manyProcesses, type Outcome, run, runProcess } from './support/program.ts';
import { postgres, redis, startCanaryService, variablesOf } from './support/world.ts';

/** docs/command-line.md says 15 seconds, of which `doctor` waits for 12. A machine that is busy starts a program many times more slowly. */
const maxMs = 60_000;

const audience = 'https://api.example/';

/** Each command that uses a store, with the exit code for a store that does not answer. */
const commands: readonly (readonly [args: readonly string[], code: number, says: RegExp])[] = [
  [['token'], 69, /store could not be/],
  [['usage'], 69, /store could not be read/],
  [['usage', '--watch'], 69, /store could not be read/],
  [['explain'], 69, /store could not be read/],
  [['check'], 3, /^UNKNOWN - .*store could not be read/],
  [['doctor'], 1, /^failure {2}store: .* cannot be read/m],
  [['reset', '--audience', audience, '--yes'], 69, /store could not be/],
  [['retry', '--yes'], 69, /store could not be/],
  [['record', 'export'], 69, /could not be read/],
  [['record', 'discard', '--yes'], 69, /could not be/],
];

describe.runIf(redis && postgres)('a store that hangs', () => {
  const servers = [
    {
      name: 'Redis',
      server: redis,
      address: (port: number, name: string) => `redis://127.0.0.1:${port}?prefix=${name}:`,
    },
    {
      name: 'PostgreSQL',
      server: postgres,
      address: (port: number, name: string) => `postgres://test@127.0.0.1:${port}/postgres?table=${name}`,
    },
  ];

  test.for(servers)(
    '($name) from the beginning ends each command soon and spends nothing',
    manyProcesses,
    async ({ server, address }) => {
      const service = await startCanaryService();
      const { port } = await startFallingSilent(server?.port ?? 0, 0);
      const env = variablesOf(service, address(port, 'silent'));
      await Promise.all(
        commands.map(async ([args, code, says]) => {
          const { outcome, ms } = await timed(() => runProcess(args, { env }));
          expect({ args, code: outcome.code }).toEqual({ args, code });
          expect(outcome.stdout + outcome.stderr).toMatch(says);
          expect(ms, args.join(' ')).toBeLessThan(maxMs);
        }),
      );
      expect(service.counts.issued).toBe(0);
    },
  );

  test.for(servers)(
    '($name) after any of its answers ends each command soon',
    { timeout: 300_000 },
    async ({ server, address }) => {
      const service = await startCanaryService();
      const target = server?.port ?? 0;
      const prepared = (place: string) => run(['token'], { env: variablesOf(service, address(target, place)) });
      const through = async (args: readonly string[], maxAnswers: number) => {
        const place = writes(args) ? `middle_${args[0]}_${maxAnswers}` : 'middle';
        if (writes(args)) await prepared(place);
        const relay = await startFallingSilent(target, maxAnswers);
        const { outcome, ms } = await timed(() => run(args, { env: variablesOf(service, address(relay.port, place)) }));
        const { answers, hasDropped } = relay;
        return { args, maxAnswers, code: outcome.code, ms, answers, hasDropped };
      };
      await prepared('middle');
      // The program alone knows how many answers a command needs, so it runs to its end first.
      const cuts: (readonly [args: readonly string[], maxAnswers: number, code: number])[] = [];
      for (const [args, code] of commands.filter(([args]) => !args.includes('--watch'))) {
        const healthy = await through(args, whole);
        expect(healthy).toMatchObject({ args, code: 0 });
        for (let answers = 1; answers < healthy.answers; answers += 1) cuts.push([args, answers, code]);
      }
      // A few at a time: most of the time is waiting.
      for (let at = 0; at < cuts.length; at += 8) {
        const some = cuts.slice(at, at + 8);
        const outcomes = await Promise.all(some.map(([args, maxAnswers]) => through(args, maxAnswers)));
        for (const [index, outcome] of outcomes.entries()) {
          const [args, , code] = some[index] ?? [];
          // When explain has the record, it only leaves out what it did not learn. Replies that arrive together are one answer.
          const allowed = !outcome.hasDropped ? [0] : args?.[0] === 'explain' ? [code, 0] : [code];
          expect(allowed, JSON.stringify(outcome)).toContain(outcome.code);
        }
        for (const outcome of outcomes) expect(outcome.ms, JSON.stringify(outcome)).toBeLessThan(maxMs);
      }
    },
  );
});

const whole = 1_000;

function writes([command, second]: readonly string[]): boolean {
  return command === 'reset' || second === 'discard';
}

async function timed(call: () => Promise<Outcome>): Promise<{ readonly outcome: Outcome; readonly ms: number }> {
  const startedAt = performance.now();
  const outcome = await call();
  return { outcome, ms: performance.now() - startedAt };
}

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

interface Server {
  readonly port: number;
  readonly address: (port: number, name: string) => string;
}

describe.runIf(redis && postgres)('a store that hangs', () => {
  const servers: readonly Server[] = [
    { port: redis?.port ?? 0, address: (port, name) => `redis://127.0.0.1:${port}?prefix=${name}:` },
    { port: postgres?.port ?? 0, address: (port, name) => `postgres://test@127.0.0.1:${port}/postgres?table=${name}` },
  ];

  test('from the beginning ends each command soon and spends nothing', manyProcesses, async () => {
    const service = await startCanaryService();
    const ends = async ({ port, address }: Server) => {
      const silent = await startFallingSilent(port, 0);
      const env = variablesOf(service, address(silent.port, 'silent'));
      await Promise.all(
        commands.map(async ([args, code, says]) => {
          const { outcome, ms } = await timed(() => runProcess(args, { env }));
          expect({ args, code: outcome.code }).toEqual({ args, code });
          expect(outcome.stdout + outcome.stderr).toMatch(says);
          expect(ms, args.join(' ')).toBeLessThan(maxMs);
        }),
      );
    };
    await Promise.all(servers.map(ends));
    expect(service.counts.issued).toBe(0);
  });

  test('after any of its answers ends each command soon', { timeout: 300_000 }, async () => {
    const service = await startCanaryService();
    const prepared = ({ port, address }: Server, place: string) =>
      run(['token'], { env: variablesOf(service, address(port, place)) });
    const through = async (server: Server, args: readonly string[], maxAnswers: number) => {
      const place = writes(args) ? `middle_${args[0]}_${maxAnswers}` : 'middle';
      if (writes(args)) await prepared(server, place);
      const relay = await startFallingSilent(server.port, maxAnswers);
      const env = variablesOf(service, server.address(relay.port, place));
      const { outcome, ms } = await timed(() => run(args, { env }));
      const { answers, hasDropped } = relay;
      return { args, maxAnswers, code: outcome.code, ms, answers, hasDropped };
    };
    // The program alone knows how many answers a command needs, so it runs to its end first.
    const cuts: (readonly [server: Server, args: readonly string[], maxAnswers: number, code: number])[] = [];
    for (const server of servers) {
      await prepared(server, 'middle');
      for (const [args, code] of commands.filter(([args]) => !args.includes('--watch'))) {
        const healthy = await through(server, args, whole);
        expect(healthy).toMatchObject({ args, code: 0 });
        for (let answers = 1; answers < healthy.answers; answers += 1) cuts.push([server, args, answers, code]);
      }
    }
    const waiting = cuts.values();
    const takeTurns = async () => {
      for (const [server, args, maxAnswers, code] of waiting) {
        const outcome = await through(server, args, maxAnswers);
        // When explain has the record, it only leaves out what it did not learn. Replies that arrive together are one answer.
        const allowed = !outcome.hasDropped ? [0] : args[0] === 'explain' ? [code, 0] : [code];
        expect(allowed, JSON.stringify(outcome)).toContain(outcome.code);
        expect(outcome.ms, JSON.stringify(outcome)).toBeLessThan(maxMs);
      }
    };
    // A few at a time: most of the time is waiting, but a connection must be open within two seconds.
    await Promise.all(Array.from({ length: 8 }, takeTurns));
  });
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

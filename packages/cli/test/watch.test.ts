// What people do in a terminal: `script` of util-linux gives one, and an emulator says what a person sees in it.
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { byDay } from '@service-auth/test-tools/night';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import xterm from '@xterm/headless';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openCanvas } from '../src/line/canvas.ts';
import { emptyFolder, manyProcesses, node, program, run } from './support/program.ts';
import { redis, startCanaryService, variablesOf } from './support/world.ts';

const hasTerminal = await orSkip(async () => {
  const version = execFileSync('script', ['--version'], { encoding: 'utf8', stdio: 'pipe' });
  if (!version.includes('util-linux')) throw new Error('no terminal for tests: install util-linux, which has `script`');
  return true;
});

interface Screen {
  /** The lines that can be seen now. */
  seen(): string[];
  /** The lines that can be scrolled back to. */
  above(): string[];
  /** Resolves with the lines as soon as they match. */
  untilSeen(text: RegExp): Promise<string[]>;
  type(keys: string): void;
  readonly ended: Promise<number | null>;
}

const ctrlC = '\u0003';
const ctrlD = '\u0004';

/** Runs the program in a terminal of this size, after a line of another command. */
function inTerminal(args: readonly string[], env: object, [columns, rows]: readonly [number, number]): Screen {
  const terminal = new xterm.Terminal({ cols: columns, rows, allowProposedApi: true });
  const line = `stty cols ${columns} rows ${rows}; echo before; exec '${node}' '${program}' ${args.join(' ')}`;
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', line, '/dev/null'], {
    env: { PATH: process.env['PATH'], TERM: 'xterm-256color', ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const written = new EventTarget();
  child.stdout.on('data', (chunk) => terminal.write(chunk, () => written.dispatchEvent(new Event('written'))));
  const lines = (from: number, to: number) =>
    Array.from(
      { length: to - from },
      (_, at) => terminal.buffer.active.getLine(from + at)?.translateToString(true) ?? '',
    );
  const seen = () => lines(terminal.buffer.active.baseY, terminal.buffer.active.baseY + rows);
  return {
    seen,
    above: () => lines(0, terminal.buffer.active.baseY),
    untilSeen: (text) =>
      new Promise((resolve, reject) => {
        const look = () => text.test(seen().join('\n')) && resolve(seen());
        written.addEventListener('written', look);
        void ended.then(() => reject(new Error(`it ended and showed ${seen().join('\n')}`)));
        look();
      }),
    type: (keys) => void child.stdin.write(keys),
    ended,
  };
}

describe.runIf(redis && hasTerminal)('usage --watch in a terminal', () => {
  const sizes = [
    [40, 12],
    [80, 24],
    [200, 60],
  ] as const;
  const tried = byDay(sizes, ([columns]) => columns === 40);

  test.for(tried)(
    'of %i columns and %i rows redraws in place and survives a lost store',
    manyProcesses,
    async (size) => {
      const service = await startCanaryService();
      const relay = await startRelay(redis?.port ?? 0);
      onTestFinished(() => relay.close());
      const env = variablesOf(service, `redis://127.0.0.1:${relay.port}?prefix=watch-${size.join('-')}:`);
      const spend = (audience: string) => run(['token', '--audience', audience], { env });
      await spend('https://api.example/');
      const screen = inTerminal(['usage', '--watch'], env, size);
      const first = await screen.untilSeen(/Budget[\s\S]* 1 of[\s\S]*Ctrl-C/);
      expect(first[0]).toMatch(/^client-of-tests at /);
      const scrolledOnce = screen.above().length;
      expect(screen.above().join('\n')).toContain('before');

      await spend('https://other.example/');
      await screen.untilSeen(/Budget[\s\S]* 2 of/);
      relay.set('silent');
      const lost = await screen.untilSeen(/What you see is \d+ s old/);
      expect(lost[0]).toBe(first[0]);
      expect(lost.join('\n')).toMatch(/Budget[\s\S]* 2 of/);
      relay.set('pass');
      relay.reset();
      const back = await screen.untilSeen(/every 2 seconds/);
      // Nothing of the line about the lost store is left, and nothing was scrolled away.
      expect(back.join('\n')).not.toContain('old. The store');
      expect(screen.above().length).toBe(scrolledOnce);
      screen.type(ctrlC);
      expect(await screen.ended).toBe(130);
    },
  );
});

describe.runIf(hasTerminal)('a question before something is changed', () => {
  test.for([
    ['y\r', 0, /was reset/],
    ['\r', 1, /Nothing was changed/],
    [ctrlD, 1, /Nothing was changed/],
    [ctrlC, 130, /\[y\/N\]/],
  ] as const)('is answered by %j: the program ends with %i', async ([keys, code, says]) => {
    const service = await startCanaryService();
    const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
    await run(['token'], { env });
    const screen = inTerminal(['reset'], env, [80, 24]);
    await screen.untilSeen(/Reset the token\? \[y\/N\]/);
    screen.type(keys);
    expect(await screen.ended).toBe(code);
    const shown = screen.seen().join('\n');
    expect(shown).toMatch(says);
    expect(shown).not.toContain('unexpected error');
  });
});

test('a terminal that says it has no rows is drawn on as one of 24', () => {
  const written: string[] = [];
  const stream = new Writable({
    write(text, _encoding, done) {
      written.push(`${text}`);
      done();
    },
  });
  const draw = openCanvas(Object.assign(stream, { rows: 0 }));
  draw(
    Array.from({ length: 30 }, () => 'line'),
    'footer',
  );
  expect(written.join('').split('line\u001B')).toHaveLength(22);
});

import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { FunctionMessage, FunctionOptions } from './function.ts';

/** The outcome of one call. */
export type Outcome = Extract<FunctionMessage, { readonly type: 'answered' | 'failed' }>;

/** Instances of a function, each a process of its own. */
export interface Instances extends AsyncDisposable {
  /** Calls these instances at once, all by default. Each resolves with its outcome. */
  call(indexes?: readonly number[]): Promise<Outcome>[];
  /** Resolves with the instance that is the first to send a token request, at that moment. */
  sender(): Promise<number>;
  freeze(index: number): void;
  thaw(index: number): void;
  kill(index: number): void;
}

/** Bundles the function as it is bundled for a platform, so that instances start fast. */
async function bundle(folder: string): Promise<string> {
  const outfile = join(folder, 'function.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL('function.ts', import.meta.url))],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node24',
    conditions: ['@service-auth/source'],
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);" },
    logLevel: 'error',
  });
  return outfile;
}

const startedAtOnce = 8;

/** Resolves when the module of the instance was loaded. */
async function loaded(child: ChildProcess): Promise<void> {
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`an instance ended with ${code ?? signal} before its module was loaded`);
  });
  await Promise.race([once(child, 'message'), ended]);
}

function outcomeOf(child: ChildProcess): Promise<Outcome> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: FunctionMessage) => {
      if (message.type !== 'answered' && message.type !== 'failed') return;
      child.off('message', onMessage).off('exit', onExit);
      resolve(message);
    };
    const onExit = (code: number | null, signal: string | null) =>
      reject(new Error(`the instance ended with ${code ?? signal}`));
    child.on('message', onMessage).once('exit', onExit);
    child.send('call');
  });
}

/** Starts `count` instances. Resolves when the module of each was loaded, and none was called. */
export async function startInstances(count: number, options: FunctionOptions): Promise<Instances> {
  const folder = mkdtempSync(join(tmpdir(), 'service-auth-cold-starts-'));
  const processes: ChildProcess[] = [];
  const senders: ((index: number) => void)[] = [];
  let isDisposed = false;

  async function start(program: string): Promise<void> {
    while (!isDisposed && processes.length < count) {
      const index = processes.length;
      const child = fork(program, [JSON.stringify(options)], { execArgv: ['--max-semi-space-size=1'] });
      processes.push(child);
      child.on('message', ({ type }: FunctionMessage) => {
        if (type === 'sending') senders.shift()?.(index);
      });
      await loaded(child);
    }
  }

  async function dispose(): Promise<void> {
    isDisposed = true;
    const running = processes.filter(({ exitCode, signalCode }) => exitCode === null && signalCode === null);
    const ended = running.map((child) => once(child, 'exit'));
    for (const child of running) child.kill('SIGKILL');
    await Promise.all(ended);
    rmSync(folder, { recursive: true, force: true });
  }

  try {
    const program = await bundle(folder);
    await Promise.all(Array.from({ length: Math.min(count, startedAtOnce) }, () => start(program)));
  } catch (error) {
    await dispose();
    throw error;
  }
  return {
    call: (indexes = [...processes.keys()]) => indexes.map((index) => outcomeOf(processes[index] as ChildProcess)),
    sender: () => new Promise((resolve) => senders.push(resolve)),
    freeze: (index) => void processes[index]?.kill('SIGSTOP'),
    thaw: (index) => void processes[index]?.kill('SIGCONT'),
    kill: (index) => void processes[index]?.kill('SIGKILL'),
    [Symbol.asyncDispose]: dispose,
  };
}

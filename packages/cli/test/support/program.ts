import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { isNight } from '@service-auth/test-tools/night';
import { build } from 'esbuild';
import { onTestFinished } from 'vitest';
import { run as runHere } from '../../src/main.ts';

/** For a test that starts many processes, on a machine that may be busy with others. */
export const manyProcesses: { readonly timeout: number } = { timeout: 120_000 };

const home = fileURLToPath(new URL('../..', import.meta.url));
// `pnpm check packed` names the packed program here, and the Node that runs it.
const { SERVICE_AUTH_PROGRAM: packed } = process.env;
export const node: string = process.env['SERVICE_AUTH_NODE'] ?? process.execPath;

export const program: string = packed ?? (await bundled());

/** The program from the present sources, as fast as the packed one: tests start hundreds of processes. */
async function bundled(): Promise<string> {
  const cache = join(home, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  // The test files of one worker share it.
  const folder = temporaryFolder(join(cache, 'program-'));
  cpSync(join(home, 'package.json'), join(folder, 'package.json'));
  await build({
    entryPoints: [join(home, 'src/service-auth.ts')],
    outdir: join(folder, 'dist'),
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    conditions: ['@service-auth/source'],
    external: ['@prometheus-io/client', '@redis/client', 'pg', 'undici'],
    sourcemap: 'linked',
  });
  return join(folder, 'dist/service-auth.js');
}

export interface Outcome {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** The program while it runs. */
export interface Running {
  readonly pid: number;
  readonly outcome: Promise<Outcome>;
  /** The output up to now. */
  readonly printed: { readonly stdout: string; readonly stderr: string };
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the output when it contains this. */
  untilPrinted(text: string | RegExp | ((printed: string) => boolean)): Promise<string>;
}

export interface World {
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly cwd?: string;
  /** The text of standard input, which has no terminal. */
  readonly input?: string;
}

/** Starts the program as a process of its own, with these variables and no others of ours. */
export function start(args: readonly string[], { env = {}, cwd, input = '' }: World = {}): Running {
  const { PATH, HOME, LANG } = process.env;
  const child = spawn(node, [program, ...args], {
    env: { PATH, HOME, LANG, ...env },
    cwd,
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  const printed = { stdout: '', stderr: '' };
  child.stdin.on('error', () => {}).end(input);
  child.stdout.setEncoding('utf8').on('data', (chunk) => (printed.stdout += chunk));
  child.stderr.setEncoding('utf8').on('data', (chunk) => (printed.stderr += chunk));
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => resolve({ code, signal, ...printed }));
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return {
    pid: child.pid ?? 0,
    outcome,
    printed,
    kill: (signal) => void child.kill(signal),
    untilPrinted: (text) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const all = printed.stdout + printed.stderr;
          const found =
            typeof text === 'function' ? text(all) : typeof text === 'string' ? all.includes(text) : text.test(all);
          if (found) resolve(all);
        };
        child.stdout.on('data', look);
        child.stderr.on('data', look);
        child.on('close', () => reject(new Error(`it ended and had printed: ${printed.stdout}${printed.stderr}`)));
        look();
      }),
  };
}

/** Runs the program to its end as a process of its own. */
export function runProcess(args: readonly string[], world?: World): Promise<Outcome> {
  return start(args, world).outcome;
}

/**
 * Runs the program to its end. By day it runs in this process, from the present sources, which
 * takes a tenth of the time; by night, and in another folder, as a process of its own.
 */
export async function run(args: readonly string[], world: World = {}): Promise<Outcome> {
  if (isNight || world.cwd !== undefined) return runProcess(args, world);
  const { PATH, HOME, LANG } = process.env;
  const printed = { stdout: '', stderr: '' };
  const into = (name: keyof typeof printed) =>
    new Writable({
      decodeStrings: false,
      write(text, _, done) {
        printed[name] += text;
        done();
      },
    });
  const code = await runHere(args, {
    env: { PATH, HOME, LANG, ...world.env },
    stdin: Readable.from([Buffer.from(world.input ?? '')]),
    stdout: into('stdout'),
    stderr: into('stderr'),
    signal: new AbortController().signal,
  });
  return { code, signal: null, ...printed };
}

/** An empty folder for one test. */
export function emptyFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'service-auth-cli-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

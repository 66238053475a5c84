// What somebody does who has installed our packages: programs of his own, and the commands of ours, each as a process of its own.
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { write } from './consumer.ts';

/** The end of a process. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A process while it runs. */
export interface Running {
  readonly outcome: Promise<Outcome>;
  kill(signal: NodeJS.Signals): void;
  /** Resolves when standard output contains a text. Rejects if the process ends before. */
  until(text: string): Promise<void>;
  /** Writes a line to standard input. */
  tell(line: string): void;
}

type Variables = Readonly<Record<string, string>>;

/** The folder of the packed packages, with that of this file's programs in it. */
const installed = join(inject('consumers'), 'all');
export const programs: string = join(installed, 'first-day');

/** What a command tells people, without its line breaks. */
export async function told(argv: readonly string[], env: Variables): Promise<string> {
  return (await command(argv, env)).stdout.replace(/\s+/g, ' ');
}

/** Starts a program with these variables and no others of ours. Its name ends in .mjs or .cjs. */
export function start(name: string, code: string, env: Variables = {}): Running {
  write(programs, name, code);
  return spawned([join(programs, name)], env);
}

/** Runs a program to its end. */
export function run(name: string, code: string, env?: Variables): Promise<Outcome> {
  return start(name, code, env).outcome;
}

/** Starts the program `service-auth`. */
export function startCommand(argv: readonly string[], env: Variables = {}): Running {
  return spawned([join(installed, 'node_modules/.bin/service-auth'), ...argv], env);
}

/** Runs the program `service-auth` to its end. */
export function command(argv: readonly string[], env?: Variables): Promise<Outcome> {
  return startCommand(argv, env).outcome;
}

function spawned(argv: readonly string[], env: Variables): Running {
  const { PATH, HOME, LANG } = process.env;
  const inherited = Object.fromEntries(Object.entries({ PATH, HOME, LANG }).filter(([, value]) => value !== undefined));
  const child = spawn(process.execPath, argv, { cwd: programs, env: { ...inherited, ...env } });
  onTestFinished(() => void child.kill('SIGKILL'));
  child.stdin.on('error', () => {});
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text));
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return {
    outcome,
    kill: (signal) => void child.kill(signal),
    tell: (line) => void child.stdin.write(`${line}\n`),
    until: (text) =>
      new Promise((resolve, reject) => {
        const look = () => stdout.includes(text) && resolve();
        child.stdout.on('data', look);
        child.on('close', () => reject(new Error(`It ended before it printed ${text}:\n${stdout}${stderr}`)));
        look();
      }),
  };
}

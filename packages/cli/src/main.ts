import { createRequire } from 'node:module';
import { commands, everywhere } from './commands.ts';
import { configurationOptions } from './configuration/options.ts';
import { readArguments } from './line/arguments.ts';
import type { Context } from './line/command.ts';
import { exitCodeOf, exitCodes, Failure, sentenceOf, UsageError } from './line/exit.ts';
import { printable, printableLines } from './line/printable.ts';

/** Runs the program and ends the process with its exit code. */
export async function main(argv: readonly string[]): Promise<never> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      // A second signal does not wait for the end of the command.
      if (controller.signal.aborted) process.exit(signalCodes[name]);
      controller.abort(signalCodes[name]);
    });
  }
  const name = readArguments(argv, commands, everywhere).command?.name;
  process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
    // The token server goes on without a reader of its log.
    if (name === 'serve') return;
    // A reader that has seen enough, such as head, ends the program without a word.
    if (code === 'EPIPE') process.exit(exitCodes.success);
    process.stderr.write(`service-auth: the output cannot be written (${code})\n`);
    process.exit(name === 'check' ? checkFailed : exitCodes.failure);
  });
  // A log that nobody can read, or a disk that is full, must not end the token server.
  process.stderr.on('error', () => {});
  const { env, stdin, stdout, stderr } = process;
  const exitCode = await run(argv, { env, stdin, stdout, stderr, signal: controller.signal });
  await Promise.all([flushed(stdout), flushed(stderr)]);
  // Connections to a store that no longer answers must not keep the process running.
  process.exit(exitCode);
}

/** UNKNOWN of Nagios. */
const checkFailed = 3;

const signalCodes = { SIGINT: 130, SIGTERM: 143 };

function flushed(stream: NodeJS.WritableStream): Promise<void> {
  return new Promise((resolve) => stream.write('', () => resolve()));
}

/** Runs a command line with what it reads and writes. Resolves with the exit code. */
export async function run(argv: readonly string[], world: Omit<Context, 'flags' | 'operands'>): Promise<number> {
  const { stdout, stderr } = world;
  const { command, flags, operands, problems } = readArguments(argv, commands, everywhere);
  const isEmpty = argv.length === 0;
  try {
    if (flags['help'] === true || (!command && isEmpty)) {
      const { commandHelp, programHelp } = await import('./line/help.ts');
      const text = command ? commandHelp(command, everywhere, configurationOptions) : programHelp(commands, everywhere);
      (isEmpty ? stderr : stdout).write(`${text}\n`);
      return isEmpty ? exitCodes.usage : exitCodes.success;
    }
    if (flags['version'] === true) {
      stdout.write(`${version()}\n`);
      return exitCodes.success;
    }
    if (problems.length > 0) throw new UsageError(problems);
    if (!command) throw new UsageError(['a command is missing']);
    const { run } = await command.load();
    const exitCode = await run({ ...world, flags, operands });
    return command.endsBySignal ? exitCode : (endOf(world.signal) ?? exitCode);
  } catch (error) {
    const ended = endOf(world.signal);
    if (ended !== undefined) return ended;
    const failed = await failureOf(error, command?.name);
    if (command?.name === 'check') {
      // Monitoring reads the first line of standard output, and takes any other exit code for a
      // failure of the plug-in.
      stdout.write(`UNKNOWN - ${printable(failed.message.replaceAll('\n', ' '))}\n`);
      return checkFailed;
    }
    stderr.write(`${printableLines(failed.message)}\n`);
    return failed.exitCode;
  }
}

function endOf({ aborted, reason }: AbortSignal): number | undefined {
  return aborted ? (reason as number) : undefined;
}

async function failureOf(
  error: unknown,
  command = '',
): Promise<{ readonly message: string; readonly exitCode: number }> {
  if (error instanceof UsageError) {
    const [first, ...others] = error.problems;
    const problems =
      others.length === 0 ? first : `${error.problems.length} problems:\n  ${error.problems.join('\n  ')}`;
    const help = `service-auth ${command}${command && ' '}--help`;
    return { message: `service-auth: ${problems}\nRun ${help} for usage.`, exitCode: error.exitCode };
  }
  if (error instanceof Failure) return { message: `service-auth: ${error.message}`, exitCode: error.exitCode };
  const { isServiceAuthError } = await import('@service-auth/core');
  if (!isServiceAuthError(error)) return { message: defectOf(error), exitCode: exitCodes.failure };
  const exitCode = exitCodeOf(error);
  const message = sentenceOf(error);
  if (exitCode !== exitCodes.tryLater) return { message: `service-auth: ${message}`, exitCode };
  const { code, retryAt } = error;
  const at = retryAt === undefined ? undefined : new Date(retryAt).toISOString();
  return { message: JSON.stringify({ code, retryAt: at, message }), exitCode };
}

/** Describes a defect. The message of a foreign error is left out: it may have a password. */
function defectOf(error: unknown): string {
  const { name, code, stack } = Object(error) as { name?: unknown; code?: unknown; stack?: unknown };
  const [place = ''] = String(stack).match(/\n\s+at .*/) ?? [];
  return `service-auth: an unexpected error, ${[name, code].filter(Boolean).join(' ')}${place}\nPlease report it: https://github.com/service-auth/service-auth/issues`;
}

function version(): string {
  return (createRequire(import.meta.url)('../package.json') as { version: string }).version;
}

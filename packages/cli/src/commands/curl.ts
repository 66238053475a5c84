import { type ChildProcess, spawn } from 'node:child_process';
import { openClient } from '../configuration/client.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';
import { readsStandardInput, refusedArguments } from './curl-arguments.ts';

const missing = 'curl is not installed, or not on PATH; install it, or use service-auth token';

/** Runs curl with the token, for one address under the base URL. */
export async function run(context: Context): Promise<number> {
  const { operands, rest, signal } = context;
  const { auth, env } = await openClient(context);
  const url = addressOf(operands[0] ?? '', env['SERVICE_BASE_URL']);
  if (!auth.covers(url)) throw new UsageError(['PATH is not under SERVICE_BASE_URL, so the token was not sent']);
  const isWholeHost = new URL(env['SERVICE_BASE_URL'] ?? '').pathname === '/';
  const refused = refusedArguments(rest, await valueOptions(), isWholeHost);
  if (refused.length > 0) throw new UsageError(refused);
  const { authorization } = await auth.getToken({ signal });
  await auth.close();
  // One address: without globoff, curl would take brackets for a list of addresses that nobody checked.
  const config = `url = ${quoted(url)}\nheader = ${quoted(`Authorization: ${authorization}`)}\ngloboff\n`;
  return exitCodeOf(start(config, rest), signal);
}

/** A whole address, or a path that is appended to the base URL. */
function addressOf(path: string, base: string | undefined): string {
  if (base === undefined) throw new UsageError(['SERVICE_BASE_URL (--base-url) is not set']);
  const address = /^https?:\/\//i.test(path) ? path : `${base.replace(/\/+$/, '')}/${path.replace(/^\/+/, '')}`;
  try {
    // The form in which curl gets it is the one that is checked.
    return new URL(address).href;
  } catch {
    throw new UsageError(['PATH is no path, and no address']);
  }
}

/** Quotes a value for a configuration file of curl. */
function quoted(text: string): string {
  return `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

/**
 * Curl reads the token from a pipe: no argument and no variable has it. The pipe is standard input, unless the arguments want to read that: then a
 * shell opens another one, because the pipes of Node are sockets, which cannot be opened by their number.
 */
function start(config: string, args: readonly string[]): ChildProcess {
  const env = withoutSecrets(process.env);
  if (!readsStandardInput(args)) {
    const curl = spawn('curl', ['--config', '-', ...args], { env, stdio: ['pipe', 'inherit', 'inherit'] });
    curl.stdin.on('error', () => {}).end(config);
    return curl;
  }
  const script = 'exec 5<&0; cat <&3 | curl --config /dev/fd/4 "$@" 4<&0 <&5 5<&-';
  const shell = spawn('sh', ['-c', script, 'sh', ...args], { env, stdio: ['inherit', 'inherit', 'inherit', 'pipe'] });
  const pipe = shell.stdio[3] as NodeJS.WritableStream;
  pipe.on('error', () => {});
  pipe.end(config);
  return shell;
}

/** The environment of curl can be read by others of the same user, and curl needs none of this. */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SERVICE_AUTH_')));
}

/** The options of the installed curl that take a value, as its help lists them. */
async function valueOptions(): Promise<ReadonlySet<string>> {
  const help = spawn('curl', ['--help', 'all'], { stdio: ['ignore', 'pipe', 'ignore'] });
  let text = '';
  help.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await new Promise<void>((resolve, reject) => {
    help.on('error', () => reject(new Failure(missing)));
    help.on('close', () => resolve());
  });
  const lines = text.matchAll(/^\s*(?:(-\S), )?\s*(--[\w.-]+) </gm);
  return new Set([...lines].flatMap(([, short, long]) => [short, long]).filter((name) => name !== undefined));
}

async function exitCodeOf(child: ChildProcess, signal: AbortSignal): Promise<number> {
  // A terminal sends Ctrl-C to curl itself; other signals come to this process alone.
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', () => reject(new Failure(missing)));
    child.on('close', (code) => resolve(code ?? exitCodes.failure));
  });
}

import { type ChildProcess, spawn } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { openClient } from '../configuration/client.ts';
import type { Context } from '../line/command.ts';
import { exitCodes, Failure, UsageError } from '../line/exit.ts';
import { readsStandardInput, refusedArguments, showsRequest } from './curl-arguments.ts';

const missing = 'curl is not installed, or not on PATH; install it, or use service-auth token';

/** Runs curl with the token, for one address under the base URL. */
export async function run(context: Context): Promise<number> {
  const { operands, rest, signal, stderr } = context;
  const { auth, env } = await openClient(context);
  const url = addressOf(operands[0] ?? '', env['SERVICE_BASE_URL']);
  if (!auth.covers(url)) throw new UsageError(['PATH is not under SERVICE_BASE_URL, so the token was not sent']);
  const isHttps = new URL(url).protocol === 'https:';
  const isWholeHost = new URL(env['SERVICE_BASE_URL'] ?? '').pathname === '/';
  const refused = refusedArguments(rest, { isWholeHost, isHttps });
  if (refused.length > 0) throw new UsageError(refused);
  await findCurl();
  const { authorization, value } = await auth.getToken({ signal });
  await auth.close();
  const config = [
    `url = ${quoted(url)}`,
    `header = ${quoted(`Authorization: ${authorization}`)}`,
    // An older curl sends the token on when -L leads to another protocol of the same host.
    `proto-redir = "=${isHttps ? 'https' : 'http'}"`,
    // One address: without globoff, curl would take brackets for a list of addresses that nobody checked.
    'globoff',
    // A proxy reads what is sent by plain http.
    ...(isHttps ? [] : ['noproxy = "*"']),
  ];
  const isShown = showsRequest(rest);
  const curl = start(`${config.join('\n')}\n`, rest, isShown ? 'pipe' : 'inherit');
  if (curl.stderr) writeWithout(value, curl.stderr, stderr);
  return exitCodeOf(curl, signal);
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

/** As the first argument it makes curl ignore .curlrc, which may name any option. Every version knows the short name. */
const withoutCurlrc = '-q';

/**
 * Curl reads the token from a pipe: no argument and no variable has it. The pipe is standard input, unless the arguments want to read that: then a
 * shell opens another one, because the pipes of Node are sockets, which cannot be opened by their number.
 */
function start(config: string, args: readonly string[], stderr: 'pipe' | 'inherit'): ChildProcess {
  const env = withoutSecrets(process.env);
  if (!readsStandardInput(args)) {
    const curl = spawn('curl', [withoutCurlrc, '--config', '-', ...args], { env, stdio: ['pipe', 'inherit', stderr] });
    curl.stdin?.on('error', () => {}).end(config);
    return curl;
  }
  const script = `exec 5<&0; cat <&3 | curl ${withoutCurlrc} --config /dev/fd/4 "$@" 4<&0 <&5 5<&-`;
  const shell = spawn('sh', ['-c', script, 'sh', ...args], { env, stdio: ['inherit', 'inherit', stderr, 'pipe'] });
  const pipe = shell.stdio[3] as NodeJS.WritableStream;
  pipe.on('error', () => {});
  pipe.end(config);
  return shell;
}

/** Copies whole lines, in which the token is replaced. */
function writeWithout(token: string, from: Readable, to: Writable): void {
  let rest = '';
  const write = (text: string) => void to.write(text.replaceAll(token, '(the token)'), 'latin1');
  // Each byte is a character of latin1, so that none is changed.
  from.setEncoding('latin1').on('data', (chunk: string) => {
    const text = rest + chunk;
    const end = Math.max(text.lastIndexOf('\n'), text.lastIndexOf('\r')) + 1;
    rest = text.slice(end);
    write(text.slice(0, end));
  });
  from.on('end', () => write(rest));
}

/** The environment of curl can be read by others of the same user, and curl needs none of this. */
function withoutSecrets(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('SERVICE_AUTH_')));
}

/** @throws Failure without curl, before a token is requested */
async function findCurl(): Promise<void> {
  const curl = spawn('curl', [withoutCurlrc, '--version'], { env: withoutSecrets(process.env), stdio: 'ignore' });
  await new Promise<void>((resolve, reject) => {
    curl.on('error', () => reject(new Failure(missing)));
    curl.on('close', () => resolve());
  });
}

async function exitCodeOf(child: ChildProcess, signal: AbortSignal): Promise<number> {
  // A terminal sends Ctrl-C to curl itself; other signals come to this process alone.
  signal.addEventListener('abort', () => child.kill('SIGTERM'));
  return new Promise((resolve, reject) => {
    child.on('error', () => reject(new Failure(missing)));
    child.on('close', (code) => resolve(code ?? exitCodes.failure));
  });
}

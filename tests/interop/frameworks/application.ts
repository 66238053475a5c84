// Applications of other frameworks, with our packages as they are published.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isNight } from '@service-auth/test-tools/night';
import { installPacked } from '@service-auth/test-tools/packages/packed';
import { freePort } from '@service-auth/test-tools/servers/server';
import { startTestService, type TestService } from '@service-auth/testing';

/** The folder in whose `node_modules` the frameworks are. */
export const folder: string = fileURLToPath(new URL('.', import.meta.url));

/** The number of times that a test of reloads saves files. */
export const saves: number = isNight ? 5 : 2;

const startLimitMs = 120_000;

/** Copies an application to where it finds the frameworks, and gives it our packages. Returns its folder. */
export async function createApplication(source: URL): Promise<string> {
  const home = join(folder, 'generated', source.pathname.split('/').filter(Boolean).at(-1) ?? '');
  rmSync(home, { recursive: true, force: true });
  cpSync(fileURLToPath(source), home, { recursive: true });
  await installPacked(home, ['core', 'fetch', 'file', 'testing']);
  return home;
}

/** Replaces a text that a file of an application must have. */
export function edit(file: string, from: string | RegExp, to: string): void {
  const text = readFileSync(file, 'utf8');
  const edited = text.replace(from, to);
  if (edited === text) throw new Error(`${file} has no ${from}`);
  writeFileSync(file, edited);
}

/** The environment of an application: that of this process without anything of ours or of vitest. */
function environment(variables: Readonly<Record<string, string>>): Record<string, string | undefined> {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(SERVICE_|NODE_|VITE|VITEST|JEST|TEST$|DEV$|PROD$|MODE$|SSR$|BASE_URL$)/.test(name),
  );
  return { ...Object.fromEntries(inherited), NEXT_TELEMETRY_DISABLED: '1', NO_COLOR: '1', ...variables };
}

export interface Program extends AsyncDisposable {
  readonly output: string;
  /** The exit code; 1 if a signal ended it. */
  readonly ended: Promise<number>;
}

/** Starts a program of Node in an application. */
export function startProgram(home: string, argv: readonly string[], variables: Record<string, string> = {}): Program {
  const [program = '', ...rest] = argv;
  const child = spawn(process.execPath, [join(folder, 'node_modules', program), ...rest], {
    cwd: home,
    env: environment(variables),
    stdio: 'pipe',
    detached: true,
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const ended = once(child, 'close').then(([code]) => (typeof code === 'number' ? code : 1));
  return {
    get output() {
      return output;
    },
    ended,
    async [Symbol.asyncDispose]() {
      // With the processes that it started itself.
      if (child.exitCode === null && child.pid) process.kill(-child.pid, 'SIGKILL');
      await ended;
    },
  };
}

export interface Server extends Program {
  /** Resolves with the status, two headers and the text of a page. `limitMs` (default: none): rejects if there is no answer by then. */
  get(
    path: string,
    limitMs?: number,
  ): Promise<{ status: number; retryAfter: string | null; tokenId: string | null; text: string }>;
  post(path: string, form: Readonly<Record<string, string>>): Promise<number>;
}

/** Starts a server and waits until it answers. `argvFor` gets a free port. */
export async function startServer(
  home: string,
  argvFor: (port: string) => readonly string[],
  variables: Record<string, string>,
): Promise<Server> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const program = startProgram(home, argvFor(`${port}`), { PORT: `${port}`, HOST: '127.0.0.1', ...variables });
  const deadline = AbortSignal.timeout(startLimitMs);
  const ended = program.ended.then((code) => Promise.reject(new Error(`It ended with ${code}: ${program.output}`)));
  ended.catch(() => {});
  while (!(await Promise.race([listens(port), ended]))) deadline.throwIfAborted();
  return Object.assign(program, {
    async get(path: string, limitMs?: number) {
      const response = await fetch(url + path, { signal: limitMs ? AbortSignal.timeout(limitMs) : null });
      const { status, headers } = response;
      const text = await response.text();
      return { status, retryAfter: headers.get('retry-after'), tokenId: headers.get('token-id'), text };
    },
    async post(path: string, form: Readonly<Record<string, string>>) {
      // As a browser at this address would send it.
      const headers = { origin: url, 'x-forwarded-proto': 'http' };
      const body = new FormData();
      for (const [name, value] of Object.entries(form)) body.set(name, value);
      const response = await fetch(url + path, { method: 'POST', body, redirect: 'manual', headers });
      await response.text();
      return response.status;
    },
  });
}

async function listens(port: number): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${port}/no-such-page`).catch(() => undefined);
  await answer?.text();
  return answer !== undefined;
}

/** The service, with orders in its API. */
export async function startOrders(): Promise<TestService> {
  const service = await startTestService();
  const headers = { 'content-type': 'application/json' };
  const orders = [{ id: 1, item: 'coffee' }];
  service.api.always(({ bearer, method, body }) => {
    if (bearer !== 'valid') return undefined;
    if (method === 'POST') orders.push({ id: orders.length + 1, ...JSON.parse(body.text) });
    return { headers, body: JSON.stringify(method === 'POST' ? orders.at(-1) : orders) };
  });
  return service;
}

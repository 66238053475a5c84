import { request } from 'node:http';
import { connect } from 'node:net';
import type { TestService } from '@service-auth/testing';
import { expect } from 'vitest';
import { emptyFolder, type Running, start } from './program.ts';
import { startCanaryService, variablesOf } from './world.ts';

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface Asked {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly socketPath?: string;
}

/** `service-auth serve` while it runs. */
export interface Serving {
  readonly running: Running;
  readonly service: TestService;
  /** The address that it printed. */
  readonly url: string;
  ask(path: string, asked?: Asked): Promise<Answered>;
  /** Asks the token endpoint with the right credentials. */
  token(fields?: Readonly<Record<string, string>>): Promise<Answered>;
}

export interface ServingOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly service?: TestService;
  /** The port is as closed as the arguments leave it. By default it has `--no-key`. */
  readonly isClosed?: boolean;
}

/** Starts the program and waits until it listens. */
export async function startServing({
  args = [],
  env,
  service: given,
  isClosed = args.some((arg) => ['--socket', '--listen', '--key-file'].includes(arg)),
}: ServingOptions = {}): Promise<Serving> {
  const service = given ?? (await startCanaryService());
  const variables = variablesOf(service, `file:${emptyFolder()}`);
  const running = start(['serve', ...(isClosed ? [] : ['--no-key']), ...args], {
    env: { ...variables, ...env },
  });
  const printed = await running.untilPrinted(/^(http|unix):.*\n/m);
  const url = /^(?:http|unix):.*$/m.exec(printed)?.[0] ?? '';
  const { clientId, clientSecret } = service.credentials;
  const ask = (path: string, asked?: Asked) => send(url, path, asked);
  return {
    running,
    service,
    url,
    ask,
    token: (fields) =>
      ask('/oauth/token', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: clientId,
          client_secret: clientSecret,
          ...fields,
        }).toString(),
      }),
  };
}

/** Resolves with the address of `--observe`, which the program logs. */
export async function observedUrl(running: Running): Promise<string> {
  const logged = /shows metrics and probes\W+address\W+(http:[^\s"]+)/;
  const [, address = ''] = logged.exec(await running.untilPrinted(logged)) ?? [];
  return address.replace('0.0.0.0', '127.0.0.1');
}

/** Waits until the program has a token. The first one may take longer than a probe waits. */
export async function untilReady(ask: (path: string) => Promise<Answered>): Promise<void> {
  await expect.poll(async () => (await ask('/readiness')).status, { timeout: 60_000, interval: 100 }).toBe(200);
}

/** Sends one request on a connection of its own. Unlike fetch, it sends every header that it is told to send. */
export function send(url: string, path: string, asked: Asked = {}): Promise<Answered> {
  const { method = 'GET', headers = {}, body = '', socketPath } = asked;
  const { hostname, port } = new URL(url.startsWith('unix:') ? 'http://localhost' : url);
  return new Promise((resolve, reject) => {
    const place = socketPath === undefined ? { host: hostname.replace(/[[\]]/g, ''), port } : { socketPath };
    const length = { 'content-length': `${Buffer.byteLength(body)}` };
    const outgoing = request({ ...place, path, method, headers: { ...length, ...headers }, agent: false }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('error', reject);
      answer.on('end', () => {
        const { statusCode = 0, headers } = answer;
        resolve({ status: statusCode, headers, body: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Sends bytes as they are, and resolves with all that comes back until the connection ends. */
export function sendRaw(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(Number(port), hostname, () => socket.write(bytes, 'latin1'));
    socket.setEncoding('latin1').on('data', (chunk) => (received += chunk));
    socket.on('close', () => resolve(received));
    socket.on('error', reject);
  });
}

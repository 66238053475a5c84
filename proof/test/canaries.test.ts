import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { secretCanary, tokenCanary } from '../../scripts/canaries.ts';

const program = fileURLToPath(new URL('../src/canaries/program.ts', import.meta.url));

type Behaviour = (response: ServerResponse, body: string) => void;

const json = { 'content-type': 'application/json' };
const issued = JSON.stringify({ access_token: `${tokenCanary}.1`, token_type: 'Bearer', expires_in: 3_600 });

/** What the token endpoint does, by the first part of the path. */
const behaviours: Readonly<Record<string, Behaviour>> = {
  works: (response) => response.writeHead(200, json).end(issued),
  'echoes-500': (response, body) => response.writeHead(500, json).end(body + issued),
  'echoes-400': (response, body) => response.writeHead(400, json).end(body.replace('{', `{"error":"${secretCanary}",`)),
  'echoes-200': (response, body) => response.writeHead(200, { ...json, 'x-echo': secretCanary }).end(body),
  redirects: (response) => response.writeHead(307, { location: `/elsewhere?${secretCanary}` }).end(),
  limits: (response) => response.writeHead(429, { 'retry-after': secretCanary }).end(),
  breaks: (response) =>
    response.writeHead(200, { ...json, 'content-length': '999' }).write(issued, () => response.destroy()),
  api: (response) => response.writeHead(401).end(),
};

async function startService(): Promise<string> {
  const server = createServer(async (request, response) => {
    const behaviour = behaviours[request.url?.split('/')[1] ?? ''];
    const body = await text(request);
    if (behaviour) behaviour(response, body);
    else response.end();
  });
  onTestFinished(() => void server.close());
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Everything that the program printed or wrote, as one text for each place. */
async function tracesOf(leak: string): Promise<Record<string, string>> {
  const directory = mkdtempSync(join(tmpdir(), 'canaries-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const env = { ...process.env, DEBUG: '*', NODE_DEBUG: '*', TMPDIR: directory, CLIENT_SECRET: secretCanary };
  const argv = ['--conditions=@service-auth/source', program, await startService(), directory, leak];
  const child = spawn(process.execPath, argv, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')]);
  const names = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const files = names.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'latin1')).join('\n');
  expect(code, stderr.slice(-2_000)).toBe(0);
  return { stdout, stderr, files };
}

function placesWithCanaries(traces: Record<string, string>): string[] {
  return Object.keys(traces).filter((place) =>
    [secretCanary, tokenCanary].some((canary) => traces[place]?.includes(canary)),
  );
}

test('a program that prints all it has, under DEBUG=* and NODE_DEBUG=*, shows neither secret nor token', async () => {
  const traces = await tracesOf('');
  expect(placesWithCanaries(traces)).toEqual([]);
  // It did print: events, every kind of error, the token’s id; and records were written.
  for (const sign of [
    'token_issued',
    'ERR_TOKEN_ENDPOINT',
    'ERR_CREDENTIALS_REJECTED',
    'ERR_TOKEN_RESPONSE',
    'ERR_RATE_LIMITED',
    'ERR_CONFIG',
  ]) {
    expect(traces['stdout']).toContain(sign);
  }
  expect(traces['stderr']?.length).toBeGreaterThan(100_000);
  expect(traces['files']).toContain('service-auth/1 ');
}, 120_000);

test.each(['stdout', 'stderr'])(
  'a canary planted in %s is found',
  async (place) => {
    expect(placesWithCanaries(await tracesOf(place))).toEqual([place]);
  },
  120_000,
);

test('a canary planted in a file is found', async () => {
  expect(placesWithCanaries(await tracesOf('file'))).toEqual(['files']);
}, 120_000);

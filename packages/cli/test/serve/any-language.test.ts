// Clients that others wrote, in six languages, share one token through two servers over one Redis.
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { describe, expect, test } from 'vitest';
import { debianRunners, type Runner } from '../support/languages.ts';
import { emptyFolder } from '../support/program.ts';
import { type ServingOptions, startServing } from '../support/serving.ts';
import { redis, startCanaryService } from '../support/world.ts';

const folder = fileURLToPath(new URL('../../../../examples/any-language/', import.meta.url));
const examples = readdirSync(folder);
const page = readFileSync(new URL('../../../../docs/any-language.md', import.meta.url), 'utf8');

// The first run downloads about 60 MB and compiles the network packages of Go.
const slowly = { timeout: 600_000 };
const runners = await orSkip(debianRunners);
const node: Runner = { command: process.execPath, args: [], env: {} };

function runnerOf(example: string): Runner | undefined {
  const { python, go, ruby, php, shell } = runners ?? {};
  return { '.py': python, '.go': go, '.rb': ruby, '.php': php, '.sh': shell, '.mjs': node }[extname(example)];
}

test('the page links to every example, and shows two of them as they are', () => {
  for (const example of examples) expect(page).toContain(`(../examples/any-language/${example})`);
  for (const example of ['requests_oauthlib_client.py', 'client.go']) {
    const [, ...lines] = readFileSync(folder + example, 'utf8')
      .replace(/^(#!.*|<\?php)\n/, '')
      .trimEnd()
      .split('\n');
    expect(page).toContain(lines.join('\n').trim());
  }
});

const key = 'a-key-of-this-machine-0123456789abcdef';

/** Starts the server that callers reach by the client secret, by the key or by the socket. */
async function startKeyed(options: ServingOptions) {
  const directory = emptyFolder();
  const file = join(directory, 'key');
  writeFileSync(file, key);
  const socket = join(directory, 'auth.sock');
  const { url } = await startServing({ ...options, args: ['--key-file', file, '--socket', socket, '--port', '0'] });
  return { url, socket };
}

/** Runs an example to its end, and returns what the API answered. */
async function printedBy(example: string, service: Service, server: Server | undefined) {
  const { command = '', args = [], env = {} } = runnerOf(example) ?? {};
  const { clientId, clientSecret } = service.credentials;
  const variables = {
    PATH: process.env['PATH'],
    HOME: process.env['HOME'],
    TOKEN_URL: `${server?.url}/oauth/token`,
    API_URL: `${service.baseUrl}/api/v1/`,
    CLIENT_ID: clientId,
    CLIENT_SECRET: clientSecret,
    OAUTHLIB_INSECURE_TRANSPORT: '1',
    SERVE_KEY: key,
    ...(server && { SERVE_SOCKET: server.socket }),
    ...env,
  };
  const { stdout } = await promisify(execFile)(command, [...args, example], { cwd: folder, env: variables });
  return JSON.parse(stdout);
}

type Service = Awaited<ReturnType<typeof startCanaryService>>;
type Server = Awaited<ReturnType<typeof startKeyed>>;

describe.runIf(redis && runners)('over one Redis', () => {
  test('nine clients in six languages start at once, and one token is issued', slowly, async () => {
    const service = await startCanaryService();
    const env = { SERVICE_AUTH_STORE: `${redis?.url}?prefix=any-language:` };
    const servers = [await startKeyed({ service, env }), await startKeyed({ service, env })];
    expect(examples.length).toBe(9);
    const printed = await Promise.all(
      examples.map(async (example, index) => [example, await printedBy(example, service, servers[index % 2])] as const),
    );
    const [[, { tokenId }] = ['', {}]] = printed;
    for (const [example, answer] of printed)
      expect([example, answer]).toMatchObject([example, { bearer: 'valid', tokenId }]);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1, apiRequests: 9 });
  });

  test('the first Python client reports a token that the API rejected, and gets another one', slowly, async () => {
    const service = await startCanaryService();
    const server = await startKeyed({
      service,
      env: { SERVICE_AUTH_STORE: `${redis?.url}?prefix=any-language-401:` },
    });
    const first = await printedBy('requests_oauthlib_client.py', service, server);
    service.revoke('all');
    const second = await printedBy('requests_oauthlib_client.py', service, server);
    expect(second).toMatchObject({ bearer: 'valid', tokenId: expect.not.stringContaining(first.tokenId) });
    expect(service.counts).toMatchObject({ issued: 2, apiRequests: 3, apiUnauthorized: 1 });
  });

  test('the shell sends nothing to the API without a token', slowly, async () => {
    const service = await startCanaryService();
    service.tokenEndpoint.always({ status: 503 });
    const server = await startKeyed({
      service,
      env: { SERVICE_AUTH_STORE: `${redis?.url}?prefix=any-language-503:` },
    });
    await expect(printedBy('client.sh', service, server)).rejects.toMatchObject({ code: 1, stdout: '' });
    expect(service.counts.apiRequests).toBe(0);
  });
});

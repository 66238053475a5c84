import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Listening, listen } from '@service-auth/test-tools/servers/listen';
import { run } from '@service-auth/test-tools/servers/tools';
import type { Result } from './suite/cases.ts';
import type { Connected } from './suite/through-proxy.ts';

const issued = { access_token: 'issued', token_type: 'Bearer', expires_in: 3_600 };
const hosts = ['127.0.0.1', '127.0.0.2', '[::1]', 'localhost'];

/** The variables that name the proxy. Each runtime adds the setting that makes it obey them. */
const environments: readonly Readonly<Record<string, string>>[] = [
  { HTTP_PROXY: 'proxy' },
  { http_proxy: 'proxy' },
  { HTTP_PROXY: 'proxy', NO_PROXY: 'example.com' },
  { ALL_PROXY: 'proxy' },
];

/**
 * A token request to loopback goes through no proxy. `plain` fetches say which variables the runtime heeds: `heeded` of them at least.
 * Runs `program` once for each environment.
 */
export async function runThroughProxy(
  folder: string,
  command: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  heeded: number,
): Promise<Result[]> {
  let seen = '';
  const proxy = await start('127.0.0.1', (head, body) => {
    seen += `${head}\n${body}\n`;
    return 'proxied';
  });
  const endpoints = await Promise.all(
    ['127.0.0.1', '127.0.0.2', '::1'].map((host) =>
      start(host, (head) => (head.endsWith('/plain') ? 'direct' : JSON.stringify(issued))),
    ),
  );
  const origins = hosts.map((host, index) => `http://${host}:${endpoints[index % endpoints.length]?.port}`);
  const results: Result[] = [];
  let proxiedEnvironments = 0;
  for (const environment of environments) {
    const variables = Object.entries(environment).map(([name, value]) => [name, value === 'proxy' ? proxy.url : value]);
    const output = await run(command, [...argv, JSON.stringify(origins)], {
      cwd: folder,
      timeout: 30_000,
      env: { ...env, ...Object.fromEntries(variables) },
    }).catch((error: Error) => error.message);
    const connected = /^\[.*\]$/m.exec(output) ? (JSON.parse(output) as Connected[]) : [];
    proxiedEnvironments += connected.some(({ plain }) => plain === 'proxied') ? 1 : 0;
    for (const host of hosts) {
      const name = `${Object.keys(environment).join(', ')}: the token request to ${host} goes through no proxy`;
      const one = connected[hosts.indexOf(host)];
      const isRight = one?.token === 'issued' && one.used === 1 && !seen.includes('CANARY-secret');
      results.push({ name, problem: isRight ? undefined : `${JSON.stringify(one)} ${output}; the proxy saw ${seen}` });
    }
  }
  results.push({
    name: `the runtime sends fetches of its own through the proxy in ${heeded} environments`,
    problem: proxiedEnvironments === heeded ? undefined : `it did so in ${proxiedEnvironments}`,
  });
  for (const server of [proxy, ...endpoints]) await server.close();
  return results;
}

function start(host: string, answer: (head: string, body: string) => string): Promise<Listening> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.setHeader('content-type', 'application/json');
    response.end(answer(`${request.method} ${request.url}`, body));
  });
  // A tunnel for what is not encrypted: it shows what would be sent.
  server.on('connect', (_, socket) => {
    socket.write('HTTP/1.1 200 OK\r\n\r\n');
    server.emit('connection', socket);
  });
  return listen(server, host);
}

import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect, type Server } from 'node:net';
import { join } from 'node:path';
import { startForeign } from '@service-auth/test-support/service';
import { sightings } from '@service-auth/test-tools/canaries';
import { describe, expect, onTestFinished, test } from 'vitest';
import { readsStandardInput, refusedArguments } from '../src/commands/curl-arguments.ts';
import { copyCertificate } from './support/certificate.ts';
import { emptyFolder, run, start } from './support/program.ts';
import { startCanaryService, stores, variablesOf } from './support/world.ts';

const file = () => `file:${join(emptyFolder(), 'store')}`;

test.for(stores)(
  'curl sends the token of $name to addresses under the base URL, and its exit code is passed on',
  async ({ address }) => {
    const service = await startCanaryService();
    const env = variablesOf(service, address());
    const posted = await run(['curl', '/api/v1/orders?a=[1]', '--', '-s', '-d', '{}', '-XPUT'], { env });
    expect(posted).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(posted.stdout)).toMatchObject({ method: 'PUT', path: '/api/v1/orders?a=[1]', bearer: 'valid' });
    const whole = await run(['curl', `${service.baseUrl}/api/v1/orders`, '--', '-s'], { env });
    expect(JSON.parse(whole.stdout)).toMatchObject({ bearer: 'valid' });
    // 22 is what --fail makes of a 404.
    expect(await run(['curl', '/nowhere', '--', '--fail', '-s'], { env })).toMatchObject({ code: 22 });
  },
);

test('curl reads its data from standard input if an argument says so', async () => {
  const service = await startCanaryService();
  const args = ['curl', '/api/v1/orders', '--', '-s', '--data-binary', '@-'];
  const { stdout } = await run(args, { env: variablesOf(service, file()), input: 'the data' });
  expect(JSON.parse(stdout)).toMatchObject({ bearer: 'valid', body: { text: 'the data' } });
});

test('no argument and no variable of curl has the token or the secret', async () => {
  const service = await startCanaryService();
  for (const args of [['-s'], ['-s', '-d', '@-']]) {
    const paused = service.api.pauseNext();
    const running = start(['curl', '/api/v1/orders', '--', ...args], { env: variablesOf(service, file()) });
    await paused.arrived;
    const descendants = descendantsOf(running.pid);
    expect(descendants.map(({ name }) => name)).toContain('curl');
    const visible = [running.pid, ...descendants.map(({ pid }) => pid)].map((pid) =>
      readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
    );
    const inherited = descendants.map(({ pid }) => readFileSync(`/proc/${pid}/environ`, 'latin1'));
    const text = [...visible, ...inherited].join('\n');
    expect(sightings(text)).toEqual([]);
    expect(service.findSecrets(text)).toEqual([]);
    paused.resume();
    expect((await running.outcome).code).toBe(0);
  }
});

/** The processes that a process started, and those that they started. */
function descendantsOf(pid: number): { pid: number; name: string }[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const [, command = '', parent] = /\((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${name}/stat`, 'latin1')) ?? [];
        return [{ pid: Number(name), name: command, parent: Number(parent) }];
      } catch {
        // It has ended meanwhile.
        return [];
      }
    });
  const below = (id: number): typeof all =>
    all.filter(({ parent }) => parent === id).flatMap((child) => [child, ...below(child.pid)]);
  return below(pid);
}

test.for([
  ['another host', 'http://127.0.0.2:1/api', []],
  ['another port', 'http://127.0.0.1:1/api', []],
  ['a path above the base URL', '/../../secret', []],
  ['an address after the hyphens', '/orders', ['http://127.0.0.2:1/']],
  ['an address after an option', '/orders', ['-s', 'example.com']],
  ['--url', '/orders', ['--url', 'http://127.0.0.2:1/']],
  ['-K', '/orders', ['-sK', 'file']],
  ['--next', '/orders', ['--next', '-s']],
  ['--location-trusted', '/orders', ['--location-trusted']],
  ['redirects to the whole host', '/orders', ['-sL']],
  ['another target of the request', '/orders', ['--request-target', '/admin']],
  ['the beginning of the name of an option', '/orders', ['--request-t', '/admin']],
  ['another server for the host', '/orders', ['--connect-to', '::127.0.0.2:1']],
  ['another address of the host', '/orders', ['--resolve', '127.0.0.1:1:127.0.0.2']],
  ['a socket', '/orders', ['--unix-socket', '/nowhere']],
  ['a proxy, which reads plain http,', '/orders', ['-x', 'http://127.0.0.2:1']],
  ['a proxy in spite of the base URL', '/orders', ['--noproxy', '']],
  ['a file with the source of the request', '/orders', ['--libcurl', '/dev/stdout']],
  ['a trace', '/orders', ['--trace-ascii', '-']],
  ['a method that sends the token back', '/orders', ['-sXTRACE']],
  ['a target in the method', '/orders', ['-X', 'GET /admin']],
  ['another Host', '/orders', ['-HHost: other.example']],
  ['another Host after a line break', '/orders', ['--header', 'x: y\r\nHost: other.example']],
  ['a header that cannot be checked', '/orders', ['-H', '@-']],
  ['another Authorization', '/orders', ['-H', 'authorization;']],
  ['a user', '/orders', ['-u', 'name:password']],
  ['a host that nobody checks', '/orders', ['-sk']],
  ['an option of another curl', '/orders', ['--of-tomorrow', 'value']],
] as const)('%s is refused with 2, and nothing is sent', async ([, path, args]) => {
  const service = await startCanaryService();
  const env = { ...variablesOf(service, file()), SERVICE_BASE_URL: `${service.baseUrl}/api/v1/part` };
  expect(await run(['curl', path, '--', ...args], { env })).toMatchObject({ code: 2, stdout: '' });
  expect(service.counts).toMatchObject({ apiRequests: 0, issued: 0 });
});

test('a redirect does not carry the token to another host', async () => {
  const service = await startCanaryService();
  const foreign = await startForeign();
  service.api.always({ status: 302, headers: { location: `${foreign.url}/there` } });
  const { code } = await run(['curl', '/api/v1/orders', '--', '-s', '-L'], { env: variablesOf(service, file()) });
  expect(code).toBe(0);
  expect(foreign.requests.map(({ path }) => path)).toEqual(['/there']);
  expect(service.findSecrets(foreign.received)).toEqual([]);
});

test('without curl on PATH it says so', async () => {
  const service = await startCanaryService();
  const env = { ...variablesOf(service, file()), PATH: emptyFolder() };
  const outcome = await run(['curl', '/api/v1/orders'], { env });
  expect(outcome).toMatchObject({ code: 1, stderr: expect.stringContaining('curl is not installed') });
});

/** A home in which curl finds this file. */
function homeWith(curlrc: string): string {
  const home = emptyFolder();
  writeFileSync(join(home, '.curlrc'), curlrc);
  return home;
}

test.for([
  ['the arguments alone', []],
  ['arguments that read standard input', ['-d', '@-']],
] as const)('a file .curlrc has no effect on %s', async ([, args]) => {
  const service = await startCanaryService();
  const foreign = await startForeign();
  const curlrc = `location-trusted\nurl = "${foreign.url}/there"\nproxy = "${foreign.url}"\n`;
  const home = homeWith(curlrc);
  for (const folder of [{ HOME: home }, { CURL_HOME: home }]) {
    service.api.next({ status: 302, headers: { location: `${foreign.url}/there` } });
    const env = { ...variablesOf(service, file()), ...folder };
    const outcome = await run(['curl', '/api/v1/orders', '--', '-s', '-w', '%{http_code}', ...args], { env });
    expect(outcome).toMatchObject({ code: 0, stdout: expect.stringMatching(/302$/) });
  }
  expect(foreign.requests).toEqual([]);
  expect(service.findSecrets(foreign.received)).toEqual([]);
});

test('plain http goes through no proxy of the environment', async () => {
  const service = await startCanaryService();
  const foreign = await startForeign();
  const proxies = { http_proxy: foreign.url, ALL_PROXY: foreign.url };
  const env = { ...variablesOf(service, file()), ...proxies };
  const { code, stdout } = await run(['curl', '/api/v1/orders', '--', '-s'], { env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ bearer: 'valid' });
  expect(foreign.requests).toEqual([]);
});

test('https goes through a proxy that an argument names, and the proxy does not see the token', async () => {
  const service = await startCanaryService();
  const { ca, cert, key } = copyCertificate();
  const bearers: (string | undefined)[] = [];
  const api = createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) => {
    bearers.push(request.headers.authorization);
    response.end('answer');
  });
  const tunnels: string[] = [];
  const proxy = createServer().on('connect', (request, client) => {
    tunnels.push(`${request.url} ${JSON.stringify(request.headers)}`);
    const upstream = connect(portOf(api), '127.0.0.1', () => client.write('HTTP/1.1 200 OK\r\n\r\n'));
    for (const socket of [client, upstream]) socket.on('error', () => {});
    client.pipe(upstream).pipe(client);
  });
  await Promise.all([listening(api), listening(proxy)]);
  const env = { ...variablesOf(service, file()), SERVICE_BASE_URL: `https://localhost:${portOf(api)}` };
  const options = ['-s', '--cacert', ca, '-x', `http://127.0.0.1:${portOf(proxy)}`];
  expect(await run(['curl', '/', '--', ...options], { env })).toMatchObject({ code: 0, stdout: 'answer' });
  expect(tunnels).toEqual([expect.stringContaining(`localhost:${portOf(api)} `)]);
  expect(service.findSecrets(tunnels.join())).toEqual([]);
  expect(service.findSecrets(bearers.join())).not.toEqual([]);
});

test('a redirect from https to http of the same host is not followed', async () => {
  const service = await startCanaryService();
  const { ca, cert, key } = copyCertificate();
  const plain: string[] = [];
  const lower = createServer((request, response) => {
    plain.push(`${request.url} ${JSON.stringify(request.headers)}`);
    response.end();
  });
  await listening(lower);
  const location = `http://localhost:${portOf(lower)}/there`;
  const api = createSecureServer({ cert: readFileSync(cert), key: readFileSync(key) }, (_request, response) => {
    response.writeHead(302, { location }).end();
  });
  await listening(api);
  const env = { ...variablesOf(service, file()), SERVICE_BASE_URL: `https://localhost:${portOf(api)}` };
  const { code } = await run(['curl', '/', '--', '-s', '-L', '--cacert', ca], { env });
  // CURLE_UNSUPPORTED_PROTOCOL.
  expect(code).toBe(1);
  expect(plain).toEqual([]);
});

async function listening(server: Server): Promise<void> {
  onTestFinished(() => void server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

const portOf = (server: Server) => (server.address() as AddressInfo).port;

test.for([
  ['the arguments alone', ['-sv']],
  ['arguments that read standard input', ['--silent', '--verbose', '-d', '@-']],
] as const)('--verbose shows the request without the token, with %s', async ([, args]) => {
  const service = await startCanaryService();
  const outcome = await run(['curl', '/api/v1/orders', '--', ...args], { env: variablesOf(service, file()) });
  expect(JSON.parse(outcome.stdout)).toMatchObject({ bearer: 'valid' });
  expect(outcome.stderr).toMatch(/^> Authorization: Bearer \(the token\)\r?$/m);
  expect(outcome.stderr).toMatch(/^< HTTP\/1\.1 200/m);
  expect(service.findSecrets(outcome.stderr)).toEqual([]);
});

test('headers come from a file, unless they name another host', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  const headers = join(emptyFolder(), 'headers');
  const outcome = async (text: string) => {
    writeFileSync(headers, text);
    return run(['curl', '/api/v1/orders', '--', '-s', '-H', `@${headers}`], { env });
  };
  const { code, stdout } = await outcome('x-key: one\nx-other: two\n');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ bearer: 'valid' });
  expect(await outcome('x-key: one\nhost: other.example\n')).toMatchObject({ code: 2, stdout: '' });
});

describe('arguments for curl', () => {
  const problems = (...args: string[]) => refusedArguments(args, { isWholeHost: true, isHttps: true });

  test('values of options are no addresses', () => {
    const args = ['-d', 'https://example.com', '-Hx: y', '-so', 'file', '-e', 'example.com', '--data', '--url'];
    expect(problems(...args)).toEqual([]);
  });

  test('what the usual calls need is allowed', () => {
    for (const line of [
      '-fsSL -XPOST --json {} -H accept:text/csv -o out -D head -w %{http_code} --retry 3 --retry-all-errors -m 20',
      '-iv -G --data-urlencode a=b -b jar -c jar --compressed --http2 --no-buffer --no-progress-meter -# -r 0-9 -C -',
      '--cacert ca -E cert --key key -F a=@b -T - -A name --max-redirs 3 --tlsv1.2 -x http://proxy:1 -U a:b',
      '-T . --resolve a:1:b --connect-to ::c:1',
      '-T folder/..file',
    ]) {
      expect(problems(...line.split(' ')), line).toEqual([]);
    }
  });

  test('--no- reverses an option without a value only, and brackets stay parts of the address', () => {
    expect(problems('--no-location')).toEqual([]);
    expect(problems('--no-data')).toHaveLength(1);
    expect(problems('--no-globoff')).toHaveLength(1);
  });

  test('the name of an uploaded file does not lead out of PATH', () => {
    for (const file of ['..', 'folder/..', './.', 'folder\\..']) {
      expect(problems('-T', file), file).toHaveLength(1);
      expect(problems(`-T${file}`), file).toHaveLength(1);
    }
  });

  test('another server for the host needs a certificate of an authority that curl knows', () => {
    for (const authority of ['--cacert', '--capath']) {
      expect(problems('--connect-to', '::other:443', authority, 'mine')).toHaveLength(1);
      expect(problems(authority, 'mine', '--resolve', 'host:443:127.0.0.2')).toHaveLength(1);
    }
  });

  test('the value of an unknown option is not shown', () => {
    expect(problems('--oauth2-bearer=SECRET', 'x').join()).not.toContain('SECRET');
  });

  test('curl reads standard input for -, @- and their kin', () => {
    for (const args of [['-d', '@-'], ['-d@-'], ['-T', '-'], ['-T', '.'], ['-F', 'a=@-'], ['-F', 'a=<-'], ['-T-']]) {
      expect(readsStandardInput(args), args.join(' ')).toBe(true);
    }
    expect(readsStandardInput(['-s', '-d', 'a=b@c', '-H', 'x: y'])).toBe(false);
  });
});

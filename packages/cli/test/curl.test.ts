import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { startForeign } from '@service-auth/test-support/service';
import { sightings } from '@service-auth/test-tools/canaries';
import { describe, expect, test } from 'vitest';
import { readsStandardInput, refusedArguments } from '../src/commands/curl-arguments.ts';
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

describe('arguments for curl', () => {
  const takesValue = new Set(['-d', '--data', '-H', '--header', '-o', '-X', '-e', '--netrc-file']);
  const problems = (...args: string[]) => refusedArguments(args, takesValue, true).length;

  test('values of options are no addresses', () => {
    expect(problems('-d', 'https://example.com', '-Hx: y', '-so', 'file', '-e', 'example.com', '--data', '--url')).toBe(
      0,
    );
  });

  test('the beginning of a forbidden option is refused where curl takes it for that option', () => {
    expect(problems('--location-tr')).toBe(1);
    expect(problems('--nex')).toBe(1);
    // This could be another option, so curl refuses it, too.
    expect(problems('--ne')).toBe(0);
  });

  test('curl reads standard input for -, @- and their kin', () => {
    for (const args of [['-d', '@-'], ['-d@-'], ['-T', '-'], ['-T', '.'], ['-F', 'a=@-'], ['-F', 'a=<-'], ['-T-']]) {
      expect(readsStandardInput(args), args.join(' ')).toBe(true);
    }
    expect(readsStandardInput(['-s', '-d', 'a=b@c', '-H', 'x: y'])).toBe(false);
  });
});

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { sightings } from '@service-auth/test-tools/canaries';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { everywhere } from '../src/commands.ts';
import { emptyFolder, node, program } from './support/program.ts';
import { startCanaryService, variablesOf } from './support/world.ts';

const folder = fileURLToPath(new URL('../../../examples/pipelines', import.meta.url));
const read = (file: string) => readFileSync(join(folder, file), 'utf8');

/** A folder for PATH in which `npx --yes @service-auth/cli` and `service-auth` are the program of this test. */
function commands(): string {
  const bin = emptyFolder();
  const write = (name: string, lines: string[]) => {
    writeFileSync(join(bin, name), ['#!/bin/sh', ...lines, `exec '${node}' '${program}' "$@"`, ''].join('\n'));
    chmodSync(join(bin, name), 0o755);
  };
  write('service-auth', []);
  write('npx', ['[ "$1 $2" = "--yes @service-auth/cli" ] || exit 99', 'shift 2']);
  return bin;
}

async function execute(command: string, args: readonly string[], env: Readonly<Record<string, string | undefined>>) {
  const path = `${commands()}:${process.env['PATH']}`;
  return promisify(execFile)(command, args, { env: { HOME: process.env['HOME'], ...env, PATH: path } }).then(
    ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
    ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
  );
}

test('the page links to each file, and shows two of them as they are', () => {
  const page = readFileSync(join(folder, '../../docs/any-language.md'), 'utf8');
  for (const file of readdirSync(folder)) expect(page, file).toContain(`(../examples/pipelines/${file})`);
  for (const file of ['github-actions.yml', 'orders.sh']) expect(page, file).toContain(`\n${read(file)}\`\`\``);
});

test('the line of the help that calls the API does so', async () => {
  const service = await startCanaryService();
  const [, line = ''] = everywhere.examples.find(([, command]) => command.includes('curl')) ?? [];
  const called = await execute(
    'sh',
    ['-ec', line.replace('https://api.example.com', service.baseUrl)],
    variablesOf(service, `file:${emptyFolder()}/store`),
  );
  expect(JSON.parse(called.stdout)).toMatchObject({ path: '/api/v1/orders', bearer: 'valid' });
});

test('the job of GitHub Actions calls the API, and a second one costs nothing', async () => {
  const service = await startCanaryService();
  const variables = { ...variablesOf(service, `file:${emptyFolder()}/store`) };
  const { env, steps } = parse(read('github-actions.yml')).jobs.orders;
  // As GitHub fills them in.
  const filled = Object.entries(env as Record<string, string>).map(([name, expression]) => [
    name,
    expression
      .replace(/\$\{\{ (?:vars|secrets)\.(\w+) \}\}/g, (_, variable: string) => variables[variable] ?? '')
      .replace(/\$\{\{ github\.\w+ \}\}/g, 'orders'),
  ]);
  for (let run = 0; run < 2; run += 1) {
    const outcome = await execute('sh', ['-ec', steps[0].run], Object.fromEntries(filled));
    expect(outcome).toMatchObject({ code: 0, stderr: '' });
    expect(JSON.parse(outcome.stdout)).toMatchObject({ path: '/api/v1/orders', bearer: 'valid' });
  }
  expect(service.counts.issued).toBe(1);
});

test('the job of GitLab CI calls the API', async () => {
  const service = await startCanaryService();
  const { orders } = parse(read('gitlab-ci.yml'));
  const env = { ...variablesOf(service, `file:${emptyFolder()}/store`), SERVICE_AUTH_INSTANCE: 'group-orders-42' };
  const outcome = await execute('sh', ['-ec', orders.script.join('\n')], env);
  expect(outcome).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(outcome.stdout)).toMatchObject({ bearer: 'valid' });
});

test('the script for cron calls the API, is no failure when it has to wait, and passes other failures on', async () => {
  const service = await startCanaryService();
  const envFile = join(emptyFolder(), 'env');
  const variables = { ...variablesOf(service, `file:${emptyFolder()}/store`), SERVICE_AUTH_TOKEN_LIMIT: '1' };
  const write = (more = {}) => {
    const lines = Object.entries({ ...variables, ...more }).map(([name, value]) => `${name}="${value}"\n`);
    writeFileSync(envFile, lines.join(''));
  };
  const env = { ENV_FILE: envFile, ORDERS_URL: `${service.baseUrl}/api/v1/orders` };
  const cron = () => execute('sh', [join(folder, 'orders.sh')], env);
  write();
  const called = await cron();
  expect(called).toMatchObject({ code: 0, stderr: '' });
  expect(JSON.parse(called.stdout)).toMatchObject({ bearer: 'valid' });

  // The budget of one is spent, and this audience has no token.
  write({ SERVICE_AUTH_AUDIENCE: 'https://other.example/' });
  expect(await cron()).toMatchObject({ code: 0, stdout: '' });
  write({ SERVICE_AUTH_STORE: 'redis://127.0.0.1:1' });
  const failed = await cron();
  expect(failed).toMatchObject({ code: 69, stdout: '' });
  expect(sightings(failed.stderr)).toEqual([]);
});

test('the program of the Terraform data source answers a query by the rules of `external`', async () => {
  const service = await startCanaryService();
  const list = /program = (?<program>\[.*\])/.exec(read('main.tf'))?.groups?.['program'] ?? '[]';
  const [command = '', ...args] = JSON.parse(list) as string[];
  const env = { ...variablesOf(service, `file:${emptyFolder()}/store`), PATH: `${commands()}:${process.env['PATH']}` };
  // Terraform writes the query to standard input and wants one JSON object of texts, and 0.
  const child = spawn(command, args, { env });
  child.stdin.end('{}');
  const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  expect({ code, stderr }).toEqual({ code: [0, null], stderr: '' });
  const result = JSON.parse(stdout) as Record<string, unknown>;
  expect(Object.values(result).every((value) => typeof value === 'string')).toBe(true);
  expect(result['accessToken']).toMatch(/^ey/);
});

test('kubectl gets what its credential plug-in has to print', async () => {
  const service = await startCanaryService();
  const { exec } = parse(read('kubeconfig.yml')).users[0].user;
  const info = JSON.stringify({ kind: 'ExecCredential', apiVersion: exec.apiVersion, spec: { interactive: false } });
  const env = { ...variablesOf(service, `file:${emptyFolder()}/store`), KUBERNETES_EXEC_INFO: info };
  const { code, stdout } = await execute(exec.command, exec.args, env);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    kind: 'ExecCredential',
    apiVersion: exec.apiVersion,
    status: { token: expect.any(String) },
  });
});

// The stores in MySQL, SQLite and DynamoDB, by their addresses.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable } from '@service-auth/dynamodb';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { freePort } from '@service-auth/test-tools/servers/server';
import { afterAll, describe, expect, test } from 'vitest';
import { emptyFolder, manyProcesses, run } from './support/program.ts';
import { startCanaryService, variablesOf } from './support/world.ts';

const mariadb = await orSkip(() => startMariadb());
afterAll(() => mariadb?.stop());
// The driver is looked for from the working directory, and this package has it.
const cwd = fileURLToPath(new URL('..', import.meta.url));

describe.runIf(mariadb)('an address of MySQL', () => {
  const url = mariadb?.url ?? '';

  test('is a store whose table a command that writes creates', manyProcesses, async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, `${url}?table=of_tests`);
    expect(await run(['usage'], { env, cwd })).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('no program has used it yet'),
    });
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(service.counts.issued).toBe(1);
    const { code, stdout } = await run(['doctor'], { env, cwd });
    expect(stdout).toContain('of two writers at once, one wins');
    expect(stdout).toContain('this server takes writes');
    expect(code).toBe(0);
  });

  test.each([
    ['has no such database', () => url.replace(/test$/, 'nowhere')],
    ['did not accept the user and password', () => url.replace('test@', 'nobody@')],
    ['offers no TLS', () => `${url}?ssl-mode=REQUIRED`],
    ['is 127.0.0.1:', async () => `mysql://127.0.0.1:${await freePort()}/test`],
  ])('tells that the server %s', async (advice, address) => {
    const service = await startCanaryService();
    const outcome = await run(['token'], { env: variablesOf(service, await address()), cwd });
    expect(outcome).toMatchObject({ code: 69, stderr: expect.stringContaining(advice) });
  });
});

test.each([
  ['mysql://127.0.0.1/test', 'Run: npm install mysql2'],
  ['mysql://127.0.0.1/test?sslmode=x', 'has an unknown parameter sslmode'],
  ['mysql://127.0.0.1/test?ssl-ca=/nowhere', 'names a file that cannot be read: /nowhere'],
  ['sqlite:', 'must name a file'],
  ['sqlite:a.db?table=a;b', 'must name a valid table'],
  ['sqlite:a.db?prefix=a', 'has an unknown parameter prefix'],
  ['sqlite:missing/a.db', 'names a file that cannot be opened'],
  ['dynamodb:a', 'Run: npm install @aws-sdk/client-dynamodb'],
  ['dynamodb:a?prefix=b', 'has an unknown parameter prefix'],
])('the address %s is refused', async (address, problem) => {
  const service = await startCanaryService();
  const outcome = await run(['token'], { env: variablesOf(service, address), cwd: emptyFolder() });
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
});

test('an address of SQLite is a file that a command that writes creates', manyProcesses, async () => {
  const service = await startCanaryService();
  const file = join(emptyFolder(), 'tokens.db');
  const env = variablesOf(service, `sqlite:${file}?table=of_tests`);
  expect(await run(['usage'], { env })).toMatchObject({ code: 2, stderr: expect.stringContaining('does not exist') });
  expect(existsSync(file)).toBe(false);
  expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
  expect(service.counts.issued).toBe(1);
  const { code, stdout } = await run(['doctor'], { env });
  expect(stdout).toContain('of two writers at once, one wins');
  expect(code).toBe(0);
});

describe('an address of DynamoDB', () => {
  // The program takes the store from this package's dependencies, and finds its sources there.
  const sources = { NODE_OPTIONS: '--conditions=@service-auth/source' };

  /** The variables of the SDK. */
  const variables = (endpoint: string) => {
    const { region, credentials } = dynaliteClientSettings(endpoint);
    return {
      ...sources,
      AWS_ENDPOINT_URL_DYNAMODB: endpoint,
      AWS_REGION: region,
      AWS_ACCESS_KEY_ID: credentials.accessKeyId,
      AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    };
  };

  test('is a table that must exist', manyProcesses, async () => {
    await using server = await startDynalite();
    const service = await startCanaryService();
    const env = { ...variablesOf(service, 'dynamodb:of-tests'), ...variables(server.url) };
    expect(await run(['token'], { env, cwd })).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('the table is missing in this account and region'),
    });
    const client = new DynamoDBClient(dynaliteClientSettings(server.url));
    await createTable(client, { table: 'of-tests' });
    client.destroy();
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(service.counts.issued).toBe(1);
    const usage = await run(['usage'], { env: { ...env, SERVICE_AUTH_STORE: 'dynamodb://of-tests' }, cwd });
    expect(usage).toMatchObject({ code: 0, stdout: expect.stringContaining('dynamodb:of-tests') });
    const { code, stdout } = await run(['doctor'], { env, cwd });
    expect(stdout).toContain('dynamodb:of-tests answers in');
    expect(code).toBe(0);
  });

  test('tells that the SDK has no region', async () => {
    const service = await startCanaryService();
    const outcome = await run(['token'], { env: { ...variablesOf(service, 'dynamodb:'), ...sources }, cwd });
    expect(outcome).toMatchObject({ code: 69, stderr: expect.stringContaining('set AWS_REGION') });
  });

  test('has a table with a name', async () => {
    const service = await startCanaryService();
    const outcome = await run(['token'], { env: { ...variablesOf(service, 'dynamodb:a b'), ...sources }, cwd });
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining('must name a valid table') });
  });

  const works = 'function () {}';
  const throws = (type: string) => `function () { throw Object.assign(new ${type}('a secret'), { code: 'EBROKEN' }); }`;
  test.each([
    ['@aws-sdk/client-dynamodb, whose client cannot be created (TypeError EBROKEN)', throws('TypeError'), works],
    ['@service-auth/dynamodb, whose store cannot be opened (RangeError EBROKEN)', works, throws('RangeError')],
    ['@service-auth/dynamodb, whose store cannot be opened (TypeError EBROKEN)', works, throws('TypeError')],
  ])('needs the package %s, and the name of the table is not blamed', async (problem, client, store) => {
    const folder = emptyFolder();
    install(folder, '@aws-sdk/client-dynamodb', `exports.DynamoDBClient = ${client};`);
    install(folder, '@service-auth/dynamodb', `exports.dynamodbStore = ${store};`);
    const service = await startCanaryService();
    const outcome = await run(['token'], { env: variablesOf(service, 'dynamodb:tokens'), cwd: folder });
    expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(problem) });
    expect(outcome.stderr).not.toContain('a secret');
  });

  /** A package of one module in this folder. */
  function install(folder: string, name: string, source: string): void {
    const home = join(folder, 'node_modules', name);
    mkdirSync(home, { recursive: true });
    writeFileSync(join(home, 'index.js'), source);
  }
});

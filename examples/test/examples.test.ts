import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { startTestService } from '@service-auth/testing';
import { expect, test } from 'vitest';

const run = promisify(execFile);

/** The output of an example, line by line. It must end by itself, with success and without output on stderr. */
async function outputOf(example: string, variables: Record<string, string> = {}): Promise<string[]> {
  const file = fileURLToPath(new URL(`../${example}`, import.meta.url));
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SERVICE_|NODE_(?!COMPILE_CACHE))/.test(name));
  const { stdout, stderr } = await run(process.execPath, ['--conditions=@service-auth/source', file], {
    env: { ...Object.fromEntries(inherited), ...variables },
    timeout: 20_000,
  });
  expect(stderr.replace(/^\(node:\d+\) ExperimentalWarning: Type Stripping.*\n.*\n/, '')).toBe('');
  return stdout
    .trimEnd()
    .replaceAll(/127\.0\.0\.1:\d+/g, 'LOOPBACK')
    .split('\n');
}

test('axios-existing-app.ts spends one token on its requests and another one on a revocation', async () => {
  expect(await outputOf('axios-existing-app.ts')).toEqual([
    'Against a service on loopback:',
    'event token_issued',
    'GET http://LOOPBACK/api/v1/ was answered 200',
    'GET http://LOOPBACK/api/v1/ was answered 200',
    'GET http://LOOPBACK/api/v1/ was answered 200',
    'The service revokes the token:',
    'event token_rejected',
    'event token_issued',
    'GET http://LOOPBACK/api/v1/ was answered 200',
    'The API fails once:',
    'GET http://LOOPBACK/api/v1/: Request failed with status code 503',
    'GET http://LOOPBACK/api/v1/ was answered 200',
    'Tokens spent: 2 of 120',
  ]);
});

test('axios-existing-app.ts uses the service that the environment names', async () => {
  await using service = await startTestService();
  const lines = await outputOf('axios-existing-app.ts', service.env);
  expect(lines[0]).toBe('Against the service that the environment names:');
  expect(lines.at(-1)).toBe('Tokens spent: 1 of 120');
  expect(service.counts).toMatchObject({ issued: 1, apiRequests: 3, apiUnauthorized: 0 });
  expect(service.findSecrets(lines.join('\n'))).toEqual([]);
});

test('several-apis.ts sends each API the token for its audience', async () => {
  const lines = await outputOf('several-apis.ts');
  expect(lines.toSorted()).toEqual([
    '/api/v1/billing got the token for https://billing.example/',
    '/api/v1/billing/invoices got the token for https://billing.example/',
    '/api/v1/orders got the token for https://orders.example/',
    'Tokens spent: 2 of 120',
  ]);
});

test('custom-http-stack.ts gets along with node:http alone', async () => {
  const lines = await outputOf('custom-http-stack.ts');
  expect(lines.map((line) => line.replace(/\d+ characters/, 'N characters'))).toEqual([
    'POST /oauth/token was answered 200',
    'GET /api/v1/ was answered 200 with N characters',
    'GET /api/v1/ was answered 200 with N characters',
    'POST /oauth/token was answered 200',
    'GET /api/v1/ was answered 200 with N characters',
    'Refused: https://elsewhere.example is not where the token may go',
    'Tokens issued: 2',
  ]);
});

test('got-script.ts gets another token on the way through the pages, and says what is wrong when there is none', async () => {
  const lines = await outputOf('got-script.ts');
  expect(lines.map((line) => line.replace(/\d+ s$/, 'N s'))).toEqual([
    'GET /api/v1/orders?page=1 with a valid token',
    'GET /api/v1/orders?page=2 with a valid token',
    'GET /api/v1/orders?page=3 with a valid token',
    'RequestError: ERR_TOKEN_ENDPOINT, again in N s',
    'Tokens issued: 2',
  ]);
});

test.each(['older-got.ts', 'older-axios.ts'])('%s sends a POST once more after a revocation', async (example) => {
  expect(await outputOf(example)).toEqual([
    'GET was answered 200',
    'POST was answered 200, after 3 requests',
    'Tokens issued: 2',
  ]);
});

test('fetch-and-ky.ts sends what ky was given a second time after a revocation', async () => {
  expect(await outputOf('fetch-and-ky.ts')).toEqual([
    'fetch was answered 200',
    'ky sent {"item":"tea"}, and 1 request was answered 401',
    'Another host was answered 401, because it got no token',
    'Tokens issued: 2',
  ]);
});

test('undici-agent.ts gets along with redirects and retries', async () => {
  expect(await outputOf('undici-agent.ts')).toEqual([
    'GET /api/v1/orders was answered 200 after 1 requests',
    'GET /api/v1/orders/latest was answered 200 after 4 requests',
    'GET /api/v1/orders was answered 200 after 6 requests',
    'Tokens issued: 2',
  ]);
});

test('any-server.ts has one token by Basic, one by a private key, and a refusal that counts', async () => {
  const [first, second, ...others] = await outputOf('any-server.ts');
  expect([first, others]).toEqual(['50 calls, 1 token, 1 issued', ['1 request spent, though it was refused']]);
  expect(second).toMatch(/^a token without a secret, valid until \d{4}-\d\d-\d\dT[\d:.]+Z$/);
});

test('nestjs-any-server.ts has one token for each of its clients', async () => {
  expect(await outputOf('nestjs-any-server.ts')).toEqual(['50 calls, 1 token, 1 issued', 'without a secret: 1 issued']);
});

test('own-adapter.ts passes the contract of HTTP clients', async () => {
  const lines = await outputOf('own-adapter.ts', { NODE_NO_WARNINGS: '1' });
  const passed = lines.filter((line) => line.startsWith('✔ ')).length;
  expect(passed).toBeGreaterThan(50);
  expect(lines).toContain(`ℹ pass ${passed}`);
  expect(lines).toContain('ℹ fail 0');
});

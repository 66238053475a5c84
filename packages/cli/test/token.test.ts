import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { secretCanary } from '@service-auth/test-tools/canaries';
import { isNight } from '@service-auth/test-tools/night';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import { emptyFolder, manyProcesses, node, program, run, runProcess, start } from './support/program.ts';
import { startCanaryService, stores, variablesOf } from './support/world.ts';

const schema = JSON.parse(readFileSync(new URL('exec-credential.schema.json', import.meta.url), 'utf8'));
const isExecCredential = new Ajv2020({ strict: true, strictRequired: false, allErrors: true }).compile(schema);

const file = () => `file:${join(emptyFolder(), 'store')}`;

/** The processes that ask at the same time. */
const askers = isNight ? 20 : 8;

test.for(stores)(
  `${askers} processes that ask at once cost one token, over $name`,
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const env = variablesOf(service, address());
    const outcomes = await Promise.all(Array.from({ length: askers }, () => runProcess(['token'], { env })));
    expect(outcomes.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      outcomes.map(() => ({ code: 0, stderr: '' })),
    );
    expect(new Set(outcomes.map(({ stdout }) => stdout)).size).toBe(1);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
    // A token and a line end, and nothing else.
    const [{ stdout } = { stdout: '' }] = outcomes;
    expect(stdout).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    await expect(bearerOf(service.baseUrl, stdout.trim())).resolves.toBe('valid');
  },
);

async function bearerOf(baseUrl: string, token: string): Promise<unknown> {
  const answer = await fetch(`${baseUrl}/api/v1/x`, { headers: { authorization: `Bearer ${token}` } });
  return ((await answer.json()) as { bearer: unknown }).bearer;
}

test('each format is read by its reader', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  const printed = async (format: string, more = {}) =>
    (await run(['token', '--format', format], { env: { ...env, ...more } })).stdout;
  const raw = (await printed('raw')).trim();
  expect(await printed('header')).toBe(`Authorization: Bearer ${raw}\n`);

  const json = JSON.parse(await printed('json'));
  expect(json).toEqual({
    accessToken: raw,
    tokenType: 'Bearer',
    expiresAt: expect.any(String),
    audience: 'https://api.example/',
  });
  expect(new Date(json.expiresAt).toISOString()).toBe(json.expiresAt);

  const script = 'eval "$PRINTED"; printf "%s %s" "$SERVICE_AUTH_TOKEN" "$SERVICE_AUTH_TOKEN_EXPIRES_AT"';
  const shown = execFileSync('sh', ['-c', script], { env: { PRINTED: await printed('env') }, encoding: 'utf8' });
  const [token, expiresAt = ''] = shown.split(' ');
  expect(token).toBe(raw);
  expect(Math.abs(Date.parse(expiresAt) - Date.parse(json.expiresAt))).toBeLessThan(1_000);

  expect(service.counts.issued).toBe(1);
});

test('another scheme is that of the header and of the type, and shares the token', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  const { stdout: raw } = await run(['token'], { env });
  const scheme = ['--scheme', 'Zoho-oauthtoken'];
  const { stdout: header } = await run(['token', '--format', 'header', ...scheme], { env });
  expect(header).toBe(`Authorization: Zoho-oauthtoken ${raw}`);
  const { stdout: json } = await run(['token', '--format', 'json'], {
    env: { ...env, SERVICE_AUTH_SCHEME: 'Zoho-oauthtoken' },
  });
  expect(JSON.parse(json)).toMatchObject({ accessToken: raw.trim(), tokenType: 'Zoho-oauthtoken' });
  expect(service.counts.issued).toBe(1);
});

test('further headers have no option, because others can read arguments', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  await run(['token'], { env });
  expect(service.tokenRequests[0]?.headers).toMatchObject({ 'x-api-key': secretCanary });
  const { code, stderr } = await run(['token', '--headers', `x-api-key=${secretCanary}`], { env });
  expect(code).toBe(2);
  expect(stderr).toContain('Set SERVICE_AUTH_HEADERS or SERVICE_AUTH_HEADERS_FILE');
  expect(stderr).not.toContain(secretCanary);
});

test('kubectl gets an ExecCredential of the version that it asks for, as the schema of Kubernetes has it', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  const { stdout: raw } = await run(['token'], { env });
  const v1 = 'client.authentication.k8s.io/v1';
  for (const asked of [v1, 'client.authentication.k8s.io/v1beta1', undefined]) {
    // As kubectl hands it over.
    const info = { apiVersion: asked, kind: 'ExecCredential', spec: { interactive: false } };
    expect(asked === undefined || isExecCredential(info)).toBe(true);
    const { stdout } = await run(['token', '--format', 'exec-credential'], {
      env: { ...env, ...(asked !== undefined && { KUBERNETES_EXEC_INFO: JSON.stringify(info) }) },
    });
    const credential = JSON.parse(stdout);
    expect(isExecCredential(credential), JSON.stringify(isExecCredential.errors)).toBe(true);
    expect(credential).toMatchObject({ apiVersion: asked ?? v1, status: { token: raw.trim() } });
    // kubectl keeps the token until then.
    expect(Date.parse(credential.status.expirationTimestamp)).toBeGreaterThan(Date.now());
  }
  expect(service.counts.issued).toBe(1);
});

test('the schema of an ExecCredential refuses what kubectl refuses', () => {
  const whole = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token: 't' } };
  expect(isExecCredential(whole)).toBe(true);
  for (const wrong of [
    { ...whole, apiVersion: 'client.authentication.k8s.io/v1alpha1' },
    { ...whole, kind: 'Credential' },
    { ...whole, status: {} },
    { ...whole, status: { token: '' } },
    { ...whole, status: { token: 't', expirationTimestamp: Date.now() } },
    { ...whole, status: { token: 't', clientKeyData: 'k' } },
  ]) {
    expect(isExecCredential(wrong), JSON.stringify(wrong)).toBe(false);
  }
});

test('the shell reads a token with every character that shells treat in a special way', async () => {
  const service = await startCanaryService();
  // RFC 6750 section 2.1 allows these.
  const hard = 'a.b-c_d~e+f/g==';
  service.tokenEndpoint.always({ fields: { access_token: hard } });
  const { stdout } = await run(['token', '-f', 'env'], { env: variablesOf(service, file()) });
  const shown = execFileSync('sh', ['-c', 'eval "$PRINTED"; printf %s "$SERVICE_AUTH_TOKEN"'], {
    env: { PRINTED: stdout },
    encoding: 'utf8',
  });
  expect(shown).toBe(hard);
});

test.for([
  ['rejected credentials end with 4', { status: 401 }, 4, /^service-auth: The token endpoint/],
  ['a token endpoint that fails ends with 1', { status: 503 }, 1, /^service-auth: The token endpoint answered 503/],
] as const)('%s', async ([, answer, code, sentence]) => {
  const service = await startCanaryService();
  service.tokenEndpoint.always(answer);
  expect(await run(['token'], { env: variablesOf(service, file()) })).toMatchObject({
    code,
    stdout: '',
    stderr: expect.stringMatching(sentence),
  });
});

test('a spent budget and an endpoint that answers 429 end with 75, and standard error has one line of JSON', async () => {
  const service = await startCanaryService({ lifetimeMs: 1_000 });
  const env = { ...variablesOf(service, file()), SERVICE_AUTH_TOKEN_LIMIT: '1' };
  await run(['token'], { env });
  const spent = await run(['token', '--audience', 'https://other.example/'], { env });
  expect(spent).toMatchObject({ code: 75, stdout: '' });
  const { code, retryAt } = JSON.parse(spent.stderr);
  expect(code).toBe('ERR_ISSUANCE_LIMIT');
  expect(new Date(retryAt).toISOString()).toBe(retryAt);
  expect(new Date(retryAt).getTime()).toBeGreaterThan(Date.now());

  service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '60' } });
  const limited = await run(['token'], { env: variablesOf(service, file()) });
  expect(limited).toMatchObject({ code: 75, stdout: '' });
  expect(JSON.parse(limited.stderr)).toMatchObject({ code: 'ERR_RATE_LIMITED', retryAt: expect.any(String) });
});

test('a token of another type is refused by the name of the type, and used if a variable or an option recognizes it', async () => {
  const service = await startCanaryService();
  service.tokenEndpoint.always({ fields: { token_type: 'BearerToken' } });
  const refused = await run(['token'], { env: variablesOf(service, file()) });
  expect(refused).toMatchObject({ code: 1, stdout: '' });
  expect(refused.stderr).toContain('its token_type is "BearerToken", not Bearer.');
  expect(refused.stderr).toContain('name this type in SERVICE_AUTH_TOKEN_TYPES. A token was counted');
  const types = 'Application Access Token, BearerToken';
  const env = { ...variablesOf(service, file()), SERVICE_AUTH_TOKEN_TYPES: types };
  expect(await run(['token'], { env })).toMatchObject({ code: 0, stderr: '' });
  const option = await run(['token', '--token-types', types], { env: variablesOf(service, file()) });
  expect(option).toMatchObject({ code: 0, stderr: '' });
});

test('Ctrl-C during a token request ends the program with 130, and the next one uses what arrived', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  const paused = service.tokenEndpoint.pauseNext();
  const running = start(['token'], { env });
  await paused.arrived;
  running.kill('SIGINT');
  paused.resume();
  expect(await running.outcome).toMatchObject({ code: 130, stdout: '' });
  expect((await run(['token'], { env })).code).toBe(0);
  expect(service.counts.issued).toBe(1);
});

test('the secret comes from a variable, a file or a pipe, and from one of them alone', async () => {
  const service = await startCanaryService();
  const { SERVICE_AUTH_CLIENT_SECRET: secret = '', ...env } = variablesOf(service, file());
  const secretFile = join(emptyFolder(), 'secret');
  writeFileSync(secretFile, `${secret}\n`);
  const fromFile = { ...env, SERVICE_AUTH_CLIENT_SECRET_FILE: secretFile };
  expect(await run(['token'], { env: fromFile })).toMatchObject({ code: 0, stderr: '' });
  const fromPipe = { ...env, PATH: process.env['PATH'], SERVICE_AUTH_CLIENT_SECRET_FILE: '/dev/stdin' };
  const piped = (command: string) => {
    const line = `printf '%s\\r\\n' '${secret}' | '${node}' '${program}' ${command}`;
    return promisify(execFile)('sh', ['-c', line], { env: fromPipe });
  };
  expect((await piped('token')).stdout).toMatch(/^ey/);
  // It needs the secret in several places, and can read a pipe only once.
  expect((await piped('doctor --issue')).stdout).toMatch(/^ok {7}token: /m);
  const both = await run(['token'], { env: { ...fromFile, SERVICE_AUTH_CLIENT_SECRET: secret } });
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('both set') });
  const none = await run(['token'], { env: { ...env, SERVICE_AUTH_CLIENT_SECRET_FILE: `${secretFile}.gone` } });
  expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining('ENOENT') });
  expect(readFileSync(secretFile, 'utf8')).toContain(secret);
});

test('an option wins over the environment, and the environment over the file, as with node --env-file', async () => {
  const service = await startCanaryService();
  const { SERVICE_AUTH_AUDIENCE: _, ...env } = variablesOf(service, file());
  const envFile = join(emptyFolder(), 'env');
  writeFileSync(envFile, `# a comment\nexport SERVICE_AUTH_AUDIENCE="https://api.example/" # the end of the line\n`);
  const audienceOf = async (args: string[], more = {}) => {
    const { stdout } = await run(['token', '-f', 'json', '--env-file', envFile, ...args], { env: { ...env, ...more } });
    return JSON.parse(stdout).audience;
  };
  expect(await audienceOf([])).toBe('https://api.example/');
  const other = { SERVICE_AUTH_AUDIENCE: 'https://other.example/' };
  expect(await audienceOf([], other)).toBe('https://other.example/');
  expect(await audienceOf(['--audience', 'https://api.example/'], other)).toBe('https://api.example/');
});

test('an empty variable counts as missing, also in a file', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  const envFile = join(emptyFolder(), 'env');
  writeFileSync(envFile, 'SERVICE_AUTH_TOKEN_ENDPOINT=\nSERVICE_AUTH_INSTANCE=\n');
  await run(['token', '--env-file', envFile], { env });
  const { code, stdout } = await run(['usage', '--json', '--env-file', envFile], { env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ issuances: [{ instance: expect.stringMatching(/^service-auth@/) }] });
});

test(
  `a token that lives for less than --min-life is renewed, once for ${askers} processes`,
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, file());
    service.tokenEndpoint.next({ lifetimeMs: 2_000 });
    const { stdout: short } = await runProcess(['token'], { env });
    // These processes take a tenth of a second, so the token is not young any more.
    for (let readers = 0; readers < 3; readers += 1) await runProcess(['usage'], { env });
    const renewing = Array.from({ length: askers }, () => runProcess(['token', '--min-life', '10m'], { env }));
    const outcomes = await Promise.all(renewing);
    expect(new Set(outcomes.map(({ code, stderr }) => `${code} ${stderr}`))).toEqual(new Set(['0 ']));
    expect(new Set(outcomes.map(({ stdout }) => stdout)).size).toBe(1);
    expect(outcomes[0]?.stdout).not.toBe(short);
    expect(service.counts.issued).toBe(2);
    const [renewed] = outcomes;
    expect(await run(['token', '--min-life', '2m'], { env })).toMatchObject({
      code: 0,
      stdout: renewed?.stdout,
      stderr: '',
    });
  },
);

test('if the renewal is refused, the old token is printed with a warning', async () => {
  const service = await startCanaryService({ lifetimeMs: 300_000 });
  const env = { ...variablesOf(service, file()), SERVICE_AUTH_TOKEN_LIMIT: '1' };
  const { stdout } = await run(['token'], { env });
  const again = await run(['token', '--min-life', '10m'], { env });
  expect(again).toMatchObject({
    code: 0,
    stdout,
    stderr: expect.stringMatching(/^service-auth: warning: the token lives for \d min only/),
  });
});

test('where no token lives for as long as --min-life, calls do not spend the budget', async () => {
  const service = await startCanaryService({ lifetimeMs: 300_000 });
  const env = variablesOf(service, file());
  for (let call = 0; call < 5; call += 1) expect((await run(['token', '--min-life', '1h'], { env })).code).toBe(0);
  expect(service.counts.issued).toBeLessThanOrEqual(2);
});

import { chmodSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { createServiceAuth } from '@service-auth/core';
import { fileStore } from '@service-auth/file';
import { secretCanary, sightings } from '@service-auth/test-tools/canaries';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { freePort } from '@service-auth/test-tools/servers/server';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { emptyFolder, manyProcesses, type Outcome, run, runProcess } from './support/program.ts';
import { postgres, redis, startCanaryService, variablesOf } from './support/world.ts';

const file = () => `file:${join(emptyFolder(), 'store')}`;

// Nothing listens there.
const closed = await freePort();

interface Line {
  readonly part: string;
  readonly state: string;
  readonly message: string;
  readonly advice?: string;
}

async function doctor(env: Readonly<Record<string, string | undefined>>, ...args: string[]) {
  return said(await run(['doctor', '--json', ...args], { env }));
}

function said({ code, stdout, stderr }: Outcome) {
  expect(stderr).toBe('');
  expect(sightings(stdout)).toEqual([]);
  const { lines } = JSON.parse(stdout) as { lines: Line[] };
  return { code, lines, bad: lines.filter(({ state }) => state !== 'ok') };
}

test('where everything is right, each line is ok, and nothing was spent', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  await run(['token'], { env });
  // It belongs to another program.
  const { code, lines, bad } = await doctor({ ...env, SERVICE_ACCOUNT_JSON: '{\n  "type": "service_account"\n}\n' });
  expect({ code, bad }).toEqual({ code: 0, bad: [] });
  expect(lines.map(({ part }) => part)).toEqual(
    expect.arrayContaining(['configuration', 'store', 'record', 'token endpoint', 'API']),
  );
  expect(lines.find(({ part }) => part === 'token endpoint')?.message).toContain('only --issue can tell');
  expect(lines.find(({ part }) => part === 'API')?.message).toMatch(
    / answers 404 without a token, so it can be reached; whether its paths exist is not checked$/,
  );
  expect(lines.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/^the record is new, so it allows only 28 tokens until .*; 27 of them are left$/),
  );
  expect(service.counts.issued).toBe(1);

  const several = { ...env, SERVICE_AUTH_AUDIENCE: `${env['SERVICE_AUTH_AUDIENCE']} https://other.example/` };
  const { stdout } = await run(['doctor', '--issue'], { env: several });
  expect(stdout).toMatch(/^ok {7}token: token \S+, valid until /m);
  expect(service.counts.issued).toBe(1);
});

test('where requests count, the token endpoint is not asked unless --issue says so', async () => {
  const service = await startCanaryService();
  const env = { ...variablesOf(service, file()), SERVICE_AUTH_TOKEN_LIMIT: '30 requests' };
  const { code, lines } = await doctor(env);
  expect(code).toBe(0);
  expect(lines.find(({ part }) => part === 'token endpoint')).toMatchObject({
    state: 'ok',
    message: expect.stringContaining('was not asked, because the provider counts requests'),
  });
  expect(service.counts.tokenRequests).toBe(0);
  expect((await doctor(env, '--issue')).lines.find(({ part }) => part === 'token')?.state).toBe('ok');
  // The record says it to those who were not told.
  const untold = await doctor({ ...env, SERVICE_AUTH_TOKEN_LIMIT: undefined });
  expect(untold.lines.find(({ part }) => part === 'record')?.message).toMatch(/usable requests spent/);
  expect(service.counts.tokenRequests).toBe(1);
});

test('an audience that this client may not have casts no doubt on its secret', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  await run(['token'], { env });
  const other = { ...env, SERVICE_AUTH_AUDIENCE: 'https://other.example/' };
  service.tokenEndpoint.next({ status: 403, body: '{"error":"access_denied"}' });
  expect((await run(['token'], { env: other })).code).toBe(4);
  const found = (await doctor(other)).bad.find(({ state }) => state === 'failure');
  expect(found).toMatchObject({
    message: expect.stringMatching(/^the token endpoint refuses tokens for https:\/\/other\.example\/ \(403, /),
    advice: 'may this client have them? If it gets no others either, compare its id and secret.',
  });
  const { stdout } = await run(['explain'], { env: other });
  expect(stdout).toMatch(/refuses\s+tokens\s+for\s+https:\S+\s+\(403/);
  expect(stdout).not.toMatch(/rotated/);
});

test('an answer that shows a mistake in the configuration is not called slow', async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, file());
  service.tokenEndpoint.next({ status: 415 });
  await run(['token'], { env });
  const { stdout } = await run(['explain'], { env });
  expect(stdout.replace(/\s+/g, ' ')).toContain(
    'This is a mistake in an address, or in SERVICE_AUTH_CLIENT_AUTHENTICATION. When it is corrected, service-auth retry ends the wait.',
  );
});

test.for([
  [
    'a URL that ends in /oauth/token',
    (url: string) => ({ SERVICE_AUTH_URL: `${url}/oauth/token` }),
    'must end before /oauth/token',
  ],
  ['an http: URL', () => ({ SERVICE_AUTH_URL: 'http://auth.example.com' }), 'https://'],
  ['quotes around the secret', () => ({ SERVICE_AUTH_CLIENT_SECRET: `"${secretCanary}"` }), 'is wrapped in quotes'],
  [
    'a newline in the secret',
    () => ({ SERVICE_AUTH_CLIENT_SECRET: `${secretCanary}\nx` }),
    'SERVICE_AUTH_CLIENT_SECRET',
  ],
  ['quotes around the audience', () => ({ SERVICE_AUTH_AUDIENCE: "'x'" }), 'is wrapped in quotes'],
  [
    'a token endpoint that is not there',
    (url: string) => ({ SERVICE_AUTH_URL: `${url}/nowhere` }),
    'there is no token endpoint',
  ],
  [
    'a port on which nothing listens',
    () => ({ SERVICE_AUTH_URL: `http://127.0.0.1:${closed}` }),
    'cannot be reached (ECONNREFUSED)',
  ],
  [
    'an API that is not there',
    () => ({ SERVICE_BASE_URL: `http://127.0.0.1:${closed}` }),
    'cannot be reached (ECONNREFUSED)',
  ],
  ['a store that is not there', () => ({ SERVICE_AUTH_STORE: 'redis://127.0.0.1:1' }), 'cannot be read'],
  ['an address of a store that is wrong', () => ({ SERVICE_AUTH_STORE: 'mysql//x' }), 'must begin with file:'],
] as const)('it finds %s, and says what to do', async ([, changes, says]) => {
  const service = await startCanaryService();
  const { code, bad } = await doctor({ ...variablesOf(service, file()), ...changes(service.url) });
  const found = bad.find(({ message }) => message.includes(says));
  expect(found, JSON.stringify(bad)).toBeDefined();
  expect(code).toBe(bad.some(({ state }) => state === 'failure') ? 1 : 0);
  expect(service.counts.issued).toBe(0);
});

test('a directory that others can read is a failure, with the command that mends it', async () => {
  const service = await startCanaryService();
  const directory = join(emptyFolder(), 'store');
  mkdirSync(directory);
  chmodSync(directory, 0o755);
  const { code, bad } = await doctor(variablesOf(service, `file:${directory}`));
  expect(code).toBe(1);
  expect(bad).toContainEqual(
    expect.objectContaining({ state: 'failure', part: 'store', advice: expect.stringContaining('chmod 700') }),
  );
});

test('a program that states its window in seconds is found by the record, and one of the environment at once', async () => {
  const service = await startCanaryService();
  const address = file();
  const store = fileStore(address.slice('file:'.length));
  // Ten hours in seconds. Core refuses other lengths that look like seconds, such as those of a day.
  const auth = createServiceAuth({ ...service.options, store, issuanceLimit: { tokens: 60, windowMs: 36_000 } });
  await auth.getToken();
  await auth.close();
  const { code, bad } = await doctor(variablesOf(service, address));
  expect(bad).toEqual([
    expect.objectContaining({
      part: 'record',
      state: 'warning',
      message: 'a program states 60 tokens in a window of 36000 ms',
      advice: expect.stringContaining('meant as seconds'),
    }),
  ]);
  expect(code).toBe(0);
  const own = await doctor({ ...variablesOf(service, file()), SERVICE_AUTH_TOKEN_LIMIT: '150/86400' });
  expect(own.code).toBe(1);
  expect(own.bad).toContainEqual(
    expect.objectContaining({
      part: 'configuration',
      message: expect.stringContaining('must be like 300, 10/1h,50/24h or 10 requests/10m'),
    }),
  );
});

test.for(['SERVICE_AUTH_URL', 'SERVICE_BASE_URL'])('a password in %s is a failure, and is not shown', async (name) => {
  const service = await startCanaryService();
  const addresses = ['https://u:P@h/', 'https:u:P@h', 'https:/u:P@h', 'u:P@h', 'ftp://u:P@h'];
  for (const address of addresses.map((text) => text.replace('P', secretCanary))) {
    const { stdout, code } = await run(['doctor', '--json'], {
      env: { ...variablesOf(service, file()), [name]: address },
    });
    expect(code).toBe(1);
    expect(stdout).toContain(name);
    expect(sightings(stdout)).toEqual([]);
  }
});

test('credentials that are wrong are found with --issue alone', async () => {
  const service = await startCanaryService();
  const env = { ...variablesOf(service, file()), SERVICE_AUTH_CLIENT_SECRET: 'another secret' };
  expect((await doctor(env)).code).toBe(0);
  const { code, bad } = await doctor(env, '--issue');
  expect(code).toBe(1);
  expect(bad).toContainEqual(expect.objectContaining({ part: 'token', state: 'failure' }));
});

describe.runIf(redis && postgres)('in a server', () => {
  test('the trial of a swap leaves nothing behind', async () => {
    const service = await startCanaryService();
    for (const address of [`${redis?.url}?prefix=trial:`, `${postgres?.url}?table=trial`]) {
      const env = variablesOf(service, address);
      await run(['token'], { env });
      const { lines } = await doctor(env);
      expect(lines).toContainEqual(
        expect.objectContaining({ state: 'ok', message: 'of two writers at once, one wins, as it must' }),
      );
    }
  });

  test('a record under another prefix, an eviction policy and a server without appendonly are warned of', async () => {
    const other = await startRedis({ 'maxmemory-policy': 'allkeys-lru' });
    onTestFinished(() => other.stop());
    const service = await startCanaryService();
    await run(['token'], { env: variablesOf(service, `${other.url}?prefix=one:`) });
    const { code, bad } = await doctor(variablesOf(service, `${other.url}?prefix=two:`));
    const text = bad.map(({ state, message }) => `${state} ${message}`).join('\n');
    expect(text).toMatch(
      /warning there are records of this client under other prefixes, too: "one:" \(1 token in 24 h, /,
    );
    expect(text).toContain('Together with this one they count 1 of 150 tokens, which alone does not explain a 429');
    const { advice } = bad.find(({ message }) => message.includes('"one:"')) ?? {};
    expect(advice).toContain(`service-auth usage --store '${other.url}?prefix=one:'`);
    expect(text).toContain('warning maxmemory-policy is allkeys-lru');
    expect(text).toContain('warning appendonly is off');
    expect(text).toContain('warning it has no record of this client yet');
    expect(code).toBe(0);
  });

  test('an address with a password is not shown with the other prefix, and other records that cannot be read are named', async () => {
    const other = await startRedis({ requirepass: secretCanary });
    onTestFinished(() => other.stop());
    const service = await startCanaryService();
    const address = `redis://:${secretCanary}@127.0.0.1:${other.port}`;
    await run(['token'], { env: variablesOf(service, `${address}?prefix=it's%20one:`) });
    const client = await createClient({ url: address }).connect();
    onTestFinished(() => client.destroy());
    const [key = ''] = await client.keys("it's one:*");
    await client.set(key.replace("it's one:", 'rubbish:'), 'rubbish');
    const { bad } = await doctor(variablesOf(service, address));
    const found = bad.find(({ message }) => message.includes("it's one:"));
    expect(found?.message).toMatch(/: "it's one:" \(1 token in 24 h, the last at .*\), "rubbish:"$/);
    expect(found?.advice).toContain('service-auth usage with prefix=it%27s%20one: in the address of the store');
  });

  test('as many tokens under another prefix as the limit has explain a 429', async () => {
    const other = await startRedis();
    onTestFinished(() => other.stop());
    const service = await startCanaryService();
    const env = (prefix: string) => ({
      ...variablesOf(service, `${other.url}?prefix=${prefix}:`),
      SERVICE_AUTH_TOKEN_LIMIT: '2/24h',
    });
    await run(['token'], { env: env('one') });
    await run(['token'], { env: env('two') });
    const { stdout } = await run(['explain'], { env: { ...env('two'), COLUMNS: '500' } });
    expect(stdout).toContain('Together with this one they count 2 of 2 tokens, which explains a 429');
  });

  test('a record in another table of the database is warned of, whatever its name is', manyProcesses, async () => {
    const service = await startCanaryService();
    await run(['token'], { env: variablesOf(service, `${postgres?.url}?table=Other_Table`) });
    const env = variablesOf(service, `${postgres?.url}?table=this_table`);
    await run(['token'], { env });
    const { code, bad } = await doctor(env);
    expect(bad).toEqual([
      expect.objectContaining({
        state: 'warning',
        message: expect.stringMatching(
          /^there are records of this client in other tables, too: "Other_Table" \(1 token in 24 h, the last at .*\)\. Together with this one they count 2 of 150 tokens/,
        ),
        advice: expect.stringContaining('table=Other_Table'),
      }),
    ]);
    expect(code).toBe(0);
    expect((await run(['explain'], { env })).stdout).toContain('"Other_Table"');
  });

  test('a table of the same name in another schema is warned of', manyProcesses, async () => {
    const service = await startCanaryService();
    const pool = new pg.Pool({ connectionString: postgres?.url ?? '' });
    await pool.query('create schema one; create schema two');
    await pool.end();
    const env = (schema: string) =>
      variablesOf(service, `${postgres?.url}?table=tokens&options=-csearch_path%3D${schema}`);
    await run(['token'], { env: env('one') });
    await run(['token'], { env: env('two') });
    expect((await doctor(env('two'))).bad).toContainEqual(
      expect.objectContaining({
        state: 'warning',
        message: expect.stringContaining('The schemas one, two have a table tokens each'),
      }),
    );
    expect(
      (await doctor({ ...env('two'), SERVICE_AUTH_STORE: `${postgres?.url}?table=one.tokens` })).bad,
    ).not.toContainEqual(expect.objectContaining({ message: expect.stringContaining('The schemas') }));
  });

  test('a replica is a failure', async () => {
    const replica = await startRedis({ replicaof: `127.0.0.1 ${redis?.port}` });
    onTestFinished(() => replica.stop());
    const service = await startCanaryService();
    const { code, bad } = await doctor(variablesOf(service, replica.url));
    expect(code).toBe(1);
    expect(bad).toContainEqual(
      expect.objectContaining({ state: 'failure', message: expect.stringContaining('is a replica') }),
    );
  });
});

test(
  'the secret that was refused, and the replica that had it, are named by doctor, usage, explain and check',
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, file());
    await run(['token'], { env });
    const wrong = { ...env, SERVICE_AUTH_CLIENT_SECRET: 'a secret that is wrong', SERVICE_AUTH_INSTANCE: 'api-2' };
    expect((await run(['token'], { env: wrong })).code).toBe(4);
    const { code, bad } = await doctor(wrong);
    expect(code).toBe(1);
    expect(bad).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          part: 'record',
          state: 'failure',
          message: expect.stringMatching(
            /rejected this client secret for https:\S+ \(401, instance api-2 at \d{4}-\S+Z\)$/,
          ),
          advice: 'compare it with the Settings of the dashboard.',
        }),
        expect.objectContaining({ state: 'warning', message: expect.stringContaining('cannot open the token in use') }),
      ]),
    );
    // The others have the right secret, and learn that it is not theirs.
    const others = await doctor(env);
    expect(others.code).toBe(0);
    expect(JSON.stringify(others.bad)).not.toContain('this client secret');
    for (const command of ['usage', 'explain', 'check']) {
      const { stdout } = await run([command], { env });
      const text = stdout.replace(/\s+/g, ' ');
      expect(text).toMatch(/\(401, instance api-2 at [-\d :]+\)/);
      expect(text.includes('with the Settings of the dashboard')).toBe(command !== 'usage');
    }
  },
);

describe('a proxy that the environment names', () => {
  /** As NODE_USE_ENV_PROXY=1 does it, on any Node. */
  const useEnvironment = `import { EnvHttpProxyAgent, setGlobalDispatcher } from '${import.meta.resolve('undici')}'; setGlobalDispatcher(new EnvHttpProxyAgent());`;
  const usesProxy = {
    NODE_NO_WARNINGS: '1',
    NODE_OPTIONS: `--import="data:text/javascript,${encodeURIComponent(useEnvironment)}"`,
  };
  const proxy = `http://user:${secretCanary}@127.0.0.1:${closed}`;
  // Node reads the variables of a proxy when it starts.
  const proxied = async (env: Readonly<Record<string, string | undefined>>) =>
    said(await runProcess(['doctor', '--json'], { env }));
  const of = (lines: readonly Line[], part: string) => lines.find((line) => line.part === part);

  test.for([
    ['HTTPS_PROXY', { HTTPS_PROXY: proxy }],
    ['https_proxy', { https_proxy: proxy, NO_PROXY: 'other.example' }],
  ] as const)('by %s and that is not used is told before the DNS is blamed', async ([name, variables]) => {
    const service = await startCanaryService();
    const there = { SERVICE_AUTH_URL: 'https://auth.invalid', SERVICE_BASE_URL: `https://127.0.0.1:${closed}` };
    const { lines } = await proxied({ ...variablesOf(service, file()), ...there, ...variables });
    const unused = `${name} is set, but the fetch of this process does not use it: if only the proxy leads there, set NODE_USE_ENV_PROXY=1 (Node 22.21, 24 and newer). Otherwise: `;
    expect(of(lines, 'token endpoint')).toMatchObject({
      message: expect.stringMatching(/^https:\/\/auth\.invalid\/oauth\/token cannot be reached \(E\w+\)$/),
      advice: expect.stringContaining(`${unused}the `),
    });
    expect(of(lines, 'API')).toMatchObject({
      message: `https://127.0.0.1:${closed} cannot be reached (ECONNREFUSED)`,
      advice: `${unused}nothing listens there: look at the host and the port.`,
    });
  });

  test('and that is used and dead is blamed in place of the host behind it', async () => {
    const service = await startCanaryService();
    const there = { SERVICE_AUTH_URL: 'https://auth.invalid', SERVICE_BASE_URL: 'https://api.invalid' };
    const env = { ...variablesOf(service, file()), ...there, HTTPS_PROXY: proxy, ...usesProxy };
    const { lines } = await proxied(env);
    const advice = `HTTPS_PROXY is set and used, so this was a connection to the proxy at 127.0.0.1:${closed}: look there first, or name the host in NO_PROXY.`;
    expect(of(lines, 'token endpoint')).toMatchObject({
      message: 'https://auth.invalid/oauth/token cannot be reached through the proxy of HTTPS_PROXY (ECONNREFUSED)',
      advice,
    });
    expect(of(lines, 'API')).toMatchObject({
      message: 'https://api.invalid cannot be reached through the proxy of HTTPS_PROXY (ECONNREFUSED)',
      advice,
    });
    const { stderr } = await runProcess(['token'], { env });
    expect(stderr.replace(/\s+/g, ' ')).toContain(advice);
    expect(sightings(stderr)).toEqual([]);
  });

  test('is not used for a token endpoint on loopback, as token requests do not use it', async () => {
    const service = await startCanaryService();
    const { lines } = await proxied({ ...variablesOf(service, file()), HTTP_PROXY: proxy, ...usesProxy });
    expect(of(lines, 'token endpoint')?.state).toBe('ok');
    expect(of(lines, 'API')?.message).toContain('through the proxy of HTTP_PROXY');
  });
});

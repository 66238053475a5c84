import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Usage } from '@service-auth/core';
import { sightings } from '@service-auth/test-tools/canaries';
import { startRelay } from '@service-auth/test-tools/servers/relay';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { usageJson } from '../src/report/usage-json.ts';
import { hour, now, series, usageOf } from './journals.ts';
import { emptyFolder, manyProcesses, run, runProcess, start } from './support/program.ts';
import { redis, startCanaryService, stores, variablesOf } from './support/world.ts';

const schema = JSON.parse(readFileSync(new URL('../../../docs/usage.schema.json', import.meta.url), 'utf8'));
// Formats are checked by the patterns of the schema.
const validate = new Ajv2020({ strict: true, allErrors: true, formats: { 'date-time': true } }).compile(schema);

function withoutSecret({
  SERVICE_AUTH_CLIENT_SECRET: _,
  SERVICE_AUTH_AUDIENCE: __,
  ...env
}: Record<string, string | undefined>) {
  return env;
}

test.for(stores)(
  'usage, check, explain and doctor read $name without the secret, spend nothing and write nothing',
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const env = { ...variablesOf(service, address()), SERVICE_AUTH_INSTANCE: 'job-1' };
    await runProcess(['token'], { env });
    const onCall = withoutSecret(env);
    const { stdout: before } = await runProcess(['record', 'export'], { env: onCall });

    const json = await runProcess(['usage', '--json'], { env: onCall });
    expect(json).toMatchObject({ code: 0, stderr: '' });
    const usage = JSON.parse(json.stdout);
    expect(validate(usage), JSON.stringify(validate.errors)).toBe(true);
    expect(usage).toMatchObject({
      version: 1,
      used: 1,
      issuances: [{ reason: 'cold', instance: 'job-1', audience: 'https://api.example/', pending: false }],
    });
    expect(Math.abs(Date.parse(usage.issuances[0].at) - Date.now())).toBeLessThan(600_000);

    const screen = await runProcess(['usage'], { env: onCall });
    expect(screen).toMatchObject({ code: 0, stderr: '' });
    expect(screen.stdout).toMatch(/^Spent by +instance +tokens +cold\n +job-1 +1 +1$/m);
    // Without a terminal: no codes, 80 columns.
    expect(screen.stdout).not.toContain('\u001B');
    for (const line of screen.stdout.split('\n')) expect(line.length).toBeLessThanOrEqual(80);

    const check = await runProcess(['check'], { env: onCall });
    expect(check).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^OK - .*\|used=1;[\d.]+;[\d.]+;0;\d+ .*\n$/),
    });
    const explained = await runProcess(['explain'], { env: onCall });
    expect(explained).toMatchObject({ code: 0, stderr: '', stdout: expect.stringContaining('Nothing is unusual.') });
    const doctor = await runProcess(['doctor'], { env: onCall });
    expect(doctor).toMatchObject({ code: 0, stderr: '' });

    const all = [json, screen, check, explained, doctor].map(({ stdout }) => stdout).join();
    expect(sightings(all)).toEqual([]);
    expect(service.findSecrets(all)).toEqual([]);
    expect(service.counts.issued).toBe(1);
    // Doctor asked the endpoint without credentials, which issues nothing.
    expect((await runProcess(['record', 'export'], { env: onCall })).stdout).toBe(before);
  },
);

test(
  'usage shows the limits of the environment beside those of the record, and those of the record alone without any',
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
    await run(['token'], { env: { ...env, SERVICE_AUTH_TOKEN_LIMIT: '150' } });
    const windowsOf = async (more: object) => {
      const { windows } = JSON.parse((await run(['usage', '--json'], { env: { ...env, ...more } })).stdout);
      return windows.map(({ tokens, windowMs, usable, own }: Usage['windows'][number]) => ({
        tokens,
        windowMs,
        usable,
        own,
      }));
    };
    const day = { tokens: 150, windowMs: 86_400_000, usable: 120 };
    expect(await windowsOf({})).toEqual([{ ...day, own: false }]);
    expect(await windowsOf({ SERVICE_AUTH_TOKEN_LIMIT: '10/1h,50/24h' })).toEqual([
      { tokens: 10, windowMs: 3_600_000, usable: 8, own: true },
      { ...day, tokens: 50, usable: 40, own: true },
      { ...day, own: false },
    ]);
    expect(await windowsOf({ SERVICE_AUTH_RESERVE: '0' })).toEqual([
      { ...day, usable: 150, own: true },
      { ...day, own: false },
    ]);
    const { stdout } = await run(['usage', '--token-limit', '10/1h'], { env });
    expect(stdout.replace(/\n {10}/g, ' ')).toContain(
      '150 in 24 h: 1 of 120 spent; only another process states this limit',
    );
  },
);

test('check warns from --warn on, and is critical from --crit on', async () => {
  const service = await startCanaryService();
  const env = { ...variablesOf(service, `file:${join(emptyFolder(), 'store')}`), SERVICE_AUTH_TOKEN_LIMIT: '50' };
  await run(['token'], { env });
  // One of 40 usable tokens.
  const check = (warn: string, crit: string) => run(['check', '--warn', warn, '--crit', crit], { env });
  const begins = (state: string) => expect.stringMatching(new RegExp(`^${state} - 3% of 40 usable tokens spent`));
  expect(await check('2.5%', '90%')).toMatchObject({ code: 1, stdout: begins('WARNING') });
  expect(await check('1', '2.5')).toMatchObject({ code: 2, stdout: begins('CRITICAL') });
  expect(await check('3%', '4%')).toMatchObject({ code: 0, stdout: begins('OK') });
});

test.for([
  ['wrong thresholds', ['--warn', '90%', '--crit', '80%'], {}],
  ['a store that cannot be read', [], { SERVICE_AUTH_STORE: 'redis://127.0.0.1:1' }],
  ['a configuration that is wrong', [], { SERVICE_AUTH_URL: 'ftp://x' }],
  ['an option that does not exist', ['--bogus'], {}],
] as const)('check is UNKNOWN with %s', async ([, args, more]) => {
  const service = await startCanaryService();
  const env = { ...variablesOf(service, `file:${join(emptyFolder(), 'store')}`), ...more };
  expect(await run(['check', ...args], { env })).toMatchObject({
    code: 3,
    stderr: '',
    stdout: expect.stringMatching(/^UNKNOWN - [^\n]+\n$/),
  });
});

test('the schema knows every figure, every reason of a refusal, and every kind of hold', () => {
  const reasons: Readonly<Record<NonNullable<Usage['refusedBecause']>, true>> = {
    limit: true,
    backoff: true,
    rate_limited: true,
    credentials: true,
    full: true,
  };
  const kinds: Readonly<Record<Usage['holds'][number]['kind'], true>> = {
    credentials: true,
    rate_limited: true,
    backoff: true,
    deaths: true,
    rejections: true,
    renewal: true,
  };
  const { properties } = schema;
  expect(Object.keys(properties)).toEqual(
    expect.arrayContaining(Object.keys(usageJson(usageOf(series(1, 60, { reason: 'cold' }))))),
  );
  expect(new Set(properties.refusedBecause.enum)).toEqual(new Set(Object.keys(reasons)));
  expect(new Set(properties.holds.items.properties.kind.enum)).toEqual(new Set(Object.keys(kinds)));
});

test("the provider's own figures are in the JSON as the schema has them", () => {
  const figures = { windowMs: 24 * hour, tokens: 150, remaining: 88, foreign: 60 };
  const quota = [{ ...figures, observedAt: now - hour, resetAt: now + hour }];
  const json = JSON.parse(
    JSON.stringify(usageJson(usageOf(series(2, 60, { reason: 'refresh' }), { quota, foreign: 60 }))),
  );
  expect(validate(json), JSON.stringify(validate.errors)).toBe(true);
  const [observedAt, resetAt] = [now - hour, now + hour].map((at) => new Date(at).toISOString());
  expect(json).toMatchObject({ foreign: 60, quota: [{ ...figures, observedAt, resetAt }] });
  expect(validate({ ...json, quota: [figures] })).toBe(false);
});

test('the help of usage names the address of the schema, because the package does not contain it', async () => {
  expect((await run(['usage', '--help'])).stdout).toContain(` ${schema.$id} `);
});

test(
  'check says whose client secret is wrong, and who is refused by an outage, until when',
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
    await run(['token'], { env });
    const wrong = { ...env, SERVICE_AUTH_CLIENT_SECRET: 'a secret that is wrong' };
    expect((await run(['token'], { env: wrong })).code).toBe(4);
    expect(await run(['check'], { env: withoutSecret(env) })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^WARNING - .*; the token endpoint rejected the credentials of some programs for https:\/\/api\.example\/ \(401, instance service-auth@\S+ at [-\d :]+\): compare their client secret /,
      ),
    });
    // Another key has a token of its own, which this instance gets with the right secret.
    const corrected = { ...env, SERVICE_AUTH_STORE_KEY: 'a key of 32 characters, and more of them' };
    expect((await run(['token'], { env: corrected })).code).toBe(0);
    expect(await run(['check'], { env: withoutSecret(env) })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^OK - /),
    });
    const explained = (await run(['explain'], { env: withoutSecret(env) })).stdout.replace(/\s+/g, ' ');
    expect(explained).toMatch(/^A caller without a token gets one now;/);
    expect(explained).toContain('The token endpoint rejected the credentials of https://api.example/ (401, ');
    expect(explained).toMatch(
      /are spent in 24 h, with 30 of the limit of 150 in reserve and \d+ held back until .* because the record is new\./,
    );
    expect(explained).not.toMatch(/Nothing is unusual|all the same/);
    service.tokenEndpoint.always({ status: 404 });
    expect((await run(['token', '--audience', 'https://other.example/'], { env })).code).toBe(1);
    expect(await run(['check'], { env: withoutSecret(env) })).toMatchObject({
      code: 2,
      stdout: expect.stringMatching(
        /^CRITICAL - .*, programs for https:\/\/other\.example\/ are refused until [-\d :]+ UTC\S* \(in 5 min\): the token endpoint failed \(404\)\|.* available=0;/,
      ),
    });
  },
);

describe.runIf(redis)('usage --watch', () => {
  test('survives a lost store and goes on when it is back, until Ctrl-C', async () => {
    const service = await startCanaryService();
    const relay = await startRelay(redis?.port ?? 0);
    onTestFinished(() => relay.close());
    const env = variablesOf(service, `redis://127.0.0.1:${relay.port}?prefix=watch:`);
    await run(['token'], { env });
    const watching = start(['usage', '--watch', '--json'], { env: withoutSecret(env) });
    await watching.untilPrinted('"used":1');
    relay.set('silent');
    await watching.untilPrinted(/What you see is .* old\. The store could not be read/);
    const lines = watching.printed.stdout.split('\n').length;
    relay.set('pass');
    relay.reset();
    await watching.untilPrinted(() => watching.printed.stdout.split('\n').length > lines);
    watching.kill('SIGINT');
    expect((await watching.outcome).code).toBe(130);
    for (const line of watching.printed.stdout.trim().split('\n')) expect(validate(JSON.parse(line))).toBe(true);
  });
});

test(
  'a place without a record has the usual limit, and usage and explain say that programs may use another place',
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    const env = { ...variablesOf(service, `file:${join(emptyFolder(), 'store')}`), COLUMNS: '120' };
    const printed = async (...args: string[]) => (await run(args, { env })).stdout.replace(/\s+/g, ' ');
    expect(await printed('usage')).toContain('0 of 120 usable tokens spent in 24 h.');
    for (const args of [[], ['--token-limit', '150']]) {
      expect(await printed('usage', ...args)).toMatch(/There is none: .* keeps its record in its memory/);
    }
    expect(await printed('explain')).toMatch(
      /^the store \S+ has no record of client \S+ at http:\S+\. What to do: if programs run/,
    );
    // It would speak of an empty record.
    expect(await printed('explain')).not.toContain('A caller without a token');
    expect(await run(['check'], { env })).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^WARNING - [^|]*store has no record of client [^|]+ at http:[^|;]+; 0% of 120 [^|]*\|/,
      ),
    });
    const { SERVICE_AUTH_STORE: _, ...unset }: Record<string, string | undefined> = env;
    const defaults = { ...unset, XDG_CACHE_HOME: emptyFolder() };
    expect(await run(['check'], { env: defaults })).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('(SERVICE_AUTH_STORE is not set)'),
    });
    await run(['token'], { env });
    for (const args of [['usage'], ['usage', '--token-limit', '150'], ['explain']]) {
      expect(await printed(...args)).not.toContain('no record');
    }
  },
);

test('a store that is lost from the beginning ends usage with 69', manyProcesses, async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, 'redis://127.0.0.1:1');
  for (const args of [['usage'], ['usage', '--watch'], ['explain']]) expect((await run(args, { env })).code).toBe(69);
});

test('commands that only read create no directory, and see one that others create', async () => {
  const service = await startCanaryService();
  const directory = join(emptyFolder(), 'a/store');
  const env = variablesOf(service, `file:${directory}`);
  for (const command of ['usage', 'explain', 'check', 'doctor']) {
    expect((await run([command], { env })).stdout).toMatch(/no record|There is none/);
    expect(existsSync(directory)).toBe(false);
  }
  const watching = start(['usage', '--watch', '--json'], { env });
  await watching.untilPrinted('\n');
  expect((await run(['token'], { env })).code).toBe(0);
  await watching.untilPrinted('"used":1');
  watching.kill('SIGINT');
  await watching.outcome;
});

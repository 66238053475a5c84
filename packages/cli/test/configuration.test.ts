import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { secretCanary, sightings } from '@service-auth/test-tools/canaries';
import { describe, expect, test } from 'vitest';
import { emptyFolder, run, runProcess } from './support/program.ts';
import { postgres, redis, startCanaryService, variablesOf } from './support/world.ts';

const file = () => `file:${join(emptyFolder(), 'store')}`;

test('all problems of the configuration are told at once, with 2', async () => {
  const env = {
    SERVICE_AUTH_URL: 'http://auth.example.com',
    SERVICE_AUTH_STORE: 'mongodb://x',
    SERVICE_AUTH_CLIENT_SECRET: ` ${secretCanary}`,
  };
  const { code, stdout, stderr } = await run(['token', '--client-id', ''], { env });
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  expect(stderr).toContain('--client-id needs a value');
  const rest = await run(['token'], { env });
  expect(rest.code).toBe(2);
  for (const name of ['URL', 'STORE', 'AUDIENCE', 'CLIENT_ID', 'CLIENT_SECRET'])
    expect(rest.stderr).toContain(`SERVICE_AUTH_${name} `);
  expect(sightings(rest.stderr)).toEqual([]);
});

test.each([['token'], ['doctor', '--json']])(
  'a misspelt variable is told with the one that is missing, by %s',
  async (...args) => {
    const service = await startCanaryService();
    const { SERVICE_AUTH_CLIENT_ID, ...others } = variablesOf(service, file());
    const env = { ...others, SERVICE_AUTH_CLIENTID: SERVICE_AUTH_CLIENT_ID };
    const { stdout, stderr } = await run(args, { env });
    expect(args[0] === 'token' ? stderr : stdout).toContain(
      'SERVICE_AUTH_CLIENT_ID (--client-id) is not set (SERVICE_AUTH_CLIENTID is set, but nothing reads it: did you mean SERVICE_AUTH_CLIENT_ID?)',
    );
  },
);

test('every wrong word of the command line is told at once, and none is repeated: it may be a secret', async () => {
  const outcome = await run([
    'token',
    secretCanary,
    '--client-secret',
    secretCanary,
    `--bogus=${secretCanary}`,
    '--format',
    '-x',
    '--store',
    'a',
    '--store',
    'b',
  ]);
  expect(outcome).toMatchObject({ code: 2, stdout: '' });
  for (const problem of [
    '--client-secret does not exist',
    '--bogus is no option',
    '--format needs a value',
    '--store is given twice',
    'no operand',
  ]) {
    expect(outcome.stderr).toContain(problem);
  }
  expect(sightings(outcome.stderr)).toEqual([]);
  expect(await run(['token', '--constructor'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--constructor is no option of token'),
  });
  expect(await run([secretCanary])).toMatchObject({ code: 2, stderr: expect.stringContaining('this is no command') });
  expect(await run(['record'])).toMatchObject({ code: 2, stderr: expect.stringContaining('record export') });
});

test('ids that look like numbers, and values that begin with a hyphen, stay as they are', async () => {
  const service = await startCanaryService({
    clients: [{ clientId: '0123', clientSecret: secretCanary, audiences: ['-1e3'] }],
  });
  const env = { ...variablesOf(service, file()), SERVICE_AUTH_CLIENT_ID: 'x', SERVICE_AUTH_AUDIENCE: 'x' };
  const { code, stdout } = await run(['token', '-f', 'json', '--client-id', '0123', '--audience=-1e3'], { env });
  expect({ code, audience: JSON.parse(stdout).audience }).toEqual({ code: 0, audience: '-1e3' });
});

test('every command has help with two examples, and the version is that of the package', async () => {
  const { stdout: help, code } = await runProcess(['--help']);
  expect(code).toBe(0);
  const commands = /Commands:\n(?<list>(.+\n)+)/.exec(help)?.groups?.['list'] ?? '';
  const names = [...commands.matchAll(/^ {2}(\w+( \w+)?) {2,}/gm)].map(([, name = '']) => name);
  expect(names).toContain('token');
  for (const name of names) {
    const { code, stdout } = await runProcess([...name.split(' '), '--help']);
    expect({ name, code }).toEqual({ name, code: 0 });
    expect(stdout.split('Examples:\n')[1]?.match(/^ {2}# /gm), name).toHaveLength(2);
    for (const line of stdout.split('\n')) expect(line.length, line).toBeLessThanOrEqual(120);
  }
  expect(await runProcess(['--version'])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(await runProcess([])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('Commands:') });
});

describe.runIf(redis && postgres)('a store', () => {
  const servers = [
    { name: 'Redis', port: redis?.port ?? 0, address: (port: number) => `redis://127.0.0.1:${port}` },
    {
      name: 'PostgreSQL',
      port: postgres?.port ?? 0,
      address: (port: number) => `postgres://test@127.0.0.1:${port}/postgres`,
    },
  ];
  const commands = [['token'], ['record', 'export'], ['record', 'discard', '--yes']];

  test.for(servers)(
    'that refuses connections ($name) ends each command with 69 and says what to look at',
    async ({ address }) => {
      const service = await startCanaryService();
      const env = variablesOf(service, address(1));
      for (const command of commands) {
        const { code, stderr } = await run(command, { env });
        expect({ command, code }).toEqual({ command, code: 69 });
        expect(stderr).toContain('ECONNREFUSED');
        expect(stderr).toContain('is 127.0.0.1:1 the right address');
      }
    },
  );

  test('whose password is wrong says so, and never shows the password', async () => {
    const service = await startCanaryService();
    const env = variablesOf(service, `redis://user:${secretCanary}@127.0.0.1:${redis?.port}`);
    const outcome = await run(['token'], { env });
    expect(outcome).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('did not accept the user and password'),
    });
    expect(sightings(outcome.stderr)).toEqual([]);
    const shown = await run(['token', '--store', `redis://user:${secretCanary}@127.0.0.1:${redis?.port}`], { env });
    expect(shown.stderr).toContain('warning: others can read the password');
    expect(sightings(shown.stderr)).toEqual([]);
  });
});

test.for([
  ['redis://127.0.0.1?colour=red', 'unknown parameter colour'],
  ['redis://127.0.0.1/database', 'number of a database'],
  ['redis://127.0.0.1?ca=/etc/ca.pem', 'rediss://'],
  ['rediss://127.0.0.1?ca=/nowhere.pem', '/nowhere.pem (ENOENT)'],
  ['redis://user:pass#word@host', 'is no address'],
  ['redis://user:100%@host', '% in a password'],
  ['redis://us%:41@host', '% in a password'],
  ['redis://host,user:100%@host', '% in a password'],
  ['postgres://us%:41@host/db', '% in a password'],
  ['fs', 'names the module fs of Node'],
  ['fs/promises?a=b', 'must begin with file:'],
  ['stream', 'names the module stream of Node'],
  ['postgres://127.0.0.1/db?table=a-b', 'valid table'],
  ['file://host/directory', 'three slashes'],
  ['file:///%00', 'three slashes'],
  ['@service-auth/no-such-store', 'npm install @service-auth/no-such-store'],
  ['/var/lib/service-auth', 'must begin with file:'],
  ['@service-auth/cloudflare', 'names a Durable Object, which only a Worker can read'],
  ['durable-object:orders', 'packages/cloudflare/README.md#on-call'],
  ['cloudflare://orders', 'packages/cloudflare/README.md#on-call'],
  ['d1:tokens', 'sqlite:record.db'],
  ['postgres:///db', 'is no address'],
  ['redis://127.0.0.1/0?prefix=a@b', '@ and % in a password'],
] as const)('the address %s is refused with 2', async ([address, sentence]) => {
  const service = await startCanaryService();
  const outcome = await run(['token'], { env: variablesOf(service, address), cwd: emptyFolder() });
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) });
});

test.for(
  ['postgres', 'postgresql', 'mysql', 'mariadb', 'redis', 'rediss'].flatMap((scheme) => [
    `${scheme}:/u:${secretCanary}@h/db`,
    `${scheme}:u:${secretCanary}@h/db`,
    `${scheme}:///u:${secretCanary}@h/db`,
    `${scheme}://u:1/${secretCanary}@h/db`,
    `${scheme}://u:1?${secretCanary}@h/db`,
    `${scheme}://u:1#${secretCanary}@h/db`,
  ]),
)('an address whose password is not where it belongs is refused and not shown: %s', async (address) => {
  const env = variablesOf(await startCanaryService(), address);
  const [token, doctor] = await Promise.all([run(['token'], { env }), run(['doctor', '--json'], { env })]);
  expect(token).toMatchObject({ code: 2, stdout: '' });
  expect(JSON.parse(doctor.stdout).lines).toContainEqual(expect.objectContaining({ part: 'store', state: 'failure' }));
  for (const { stdout, stderr } of [token, doctor]) expect(sightings(stdout + stderr)).toEqual([]);
});

test.for([
  ['cannot be loaded', `throw new Error('${secretCanary}');`, 'which cannot be loaded (Error)'],
  ['lacks a package', "import 'no-such-package';", 'which cannot be loaded (Error ERR_MODULE_NOT_FOUND)'],
  ['exports no openStore', 'export const store = 1;', 'exports no function openStore'],
  [
    'cannot open its store',
    `export function openStore() { throw new TypeError('${secretCanary}'); }`,
    'whose openStore failed (TypeError)',
  ],
] as const)('a package that %s is told, with 2', async ([, code, sentence]) => {
  const cwd = emptyFolder();
  const folder = join(cwd, 'node_modules/acme-store');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ type: 'module', exports: './index.js' }));
  writeFileSync(join(folder, 'index.js'), code);
  const outcome = await run(['token'], { env: variablesOf(await startCanaryService(), 'acme-store'), cwd });
  expect(outcome).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(sentence) });
  expect(sightings(outcome.stderr)).toEqual([]);
});

test('a package that exports nothing is told, with 2', async () => {
  const cwd = emptyFolder();
  const folder = join(cwd, 'node_modules/acme-store');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ exports: { './other': './index.js' } }));
  const outcome = await run(['token'], { env: variablesOf(await startCanaryService(), 'acme-store'), cwd });
  expect(outcome).toMatchObject({ code: 2, stderr: expect.stringContaining('acme-store, which exports nothing') });
});

test.for([
  ['for import and require', './index.js'],
  ['for import alone', { '.': { import: './index.js' } }],
] as const)(
  'a package that exports openStore %s serves as a store, looked for from the working directory',
  async ([, exported]) => {
    const service = await startCanaryService();
    const cwd = emptyFolder();
    const folder = join(cwd, 'node_modules/@acme/store');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'package.json'),
      JSON.stringify({ name: '@acme/store', type: 'module', exports: exported }),
    );
    const code = `import { readFileSync, writeFileSync } from 'node:fs';
    export function openStore(parameters) {
      const file = parameters.get('file');
      const present = () => { try { return JSON.parse(readFileSync(file, 'utf8')); } catch { return {}; } };
      return { label: 'acme', store: {
        durability: 'durable',
        load: async () => ({ ...present(), now: Date.now() }),
        swap: async (key, { expected, version, record }) => {
          const swapped = present().version === expected;
          if (swapped) writeFileSync(file, JSON.stringify({ version, record }));
          return { swapped, now: Date.now() };
        },
      } };
    }`;
    writeFileSync(join(folder, 'index.js'), code);
    const env = variablesOf(service, `@acme/store?file=${join(cwd, 'record.json')}`);
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(await run(['token'], { env, cwd })).toMatchObject({ code: 0, stderr: '' });
    expect(service.counts.issued).toBe(1);
  },
);

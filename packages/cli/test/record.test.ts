import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { emptyRecord, recordKey } from '@service-auth/core/record';
import { fileStore } from '@service-auth/file';
import { sightings } from '@service-auth/test-tools/canaries';
import { expect, test } from 'vitest';
import { run as exported } from '../src/commands/record-export.ts';
import { emptyFolder, manyProcesses, run, runProcess } from './support/program.ts';
import { startCanaryService, stores, variablesOf } from './support/world.ts';

test('a damaged record cannot command a terminal, and a file has it as it is', async () => {
  const service = await startCanaryService();
  const directory = join(emptyFolder(), 'store');
  const env = variablesOf(service, `file:${directory}`);
  const damaged = 'service-auth/1 \u001b]0;title\u0007\u001b[2J';
  await fileStore(directory).swap(
    await recordKey({ authUrl: service.authUrl, clientId: service.credentials.clientId }),
    { version: 'v', record: damaged },
  );
  expect((await run(['record', 'export'], { env })).stdout).toBe(`${damaged}\n`);
  const printed: string[] = [];
  const stdout = Object.assign(
    new Writable({
      write(chunk, _, done) {
        printed.push(String(chunk));
        done();
      },
    }),
    {
      isTTY: true,
    },
  );
  const { stdin, stderr } = process;
  await exported({ flags: {}, operands: [], env, stdin, stdout, stderr, signal: new AbortController().signal });
  expect(printed.join('')).toBe('service-auth/1 \\u001b]0;title\\u0007\\u001b[2J\n');
});

test.for(stores)(
  'a record moves from $name to a file and back into an empty store, without the secret',
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const { SERVICE_AUTH_CLIENT_SECRET: secret, ...env } = variablesOf(service, address());
    const withSecret = { ...env, SERVICE_AUTH_CLIENT_SECRET: secret };
    const none = await run(['record', 'export'], { env });
    expect(none.stdout).toBe('');
    expect([1, 69]).toContain(none.code);
    const { stdout: token } = await run(['token'], { env: withSecret });
    const exported = await run(['record', 'export'], { env });
    expect(exported).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^service-auth\/\d+ [\da-f]{8} \{.*\}\n$/),
    });
    expect(sightings(exported.stdout)).toEqual([]);
    expect(service.findSecrets(exported.stdout)).toEqual([]);

    const file = join(emptyFolder(), 'record');
    writeFileSync(file, exported.stdout);
    const elsewhere = { SERVICE_AUTH_STORE: address() };
    const imported = await run(['record', 'import', file], { env: { ...env, ...elsewhere } });
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    // The imported token is used: no second token is requested.
    expect(await run(['token'], { env: { ...withSecret, ...elsewhere } })).toMatchObject({ code: 0, stdout: token });
    expect(service.counts.issued).toBe(1);
    const again = await run(['record', 'import', '-'], { env: { ...env, ...elsewhere }, input: exported.stdout });
    expect(again).toMatchObject({ code: 1, stderr: expect.stringContaining('has a record of this client already') });
  },
);

test('a record is JSON that a person can read, and that cannot be imported by mistake', manyProcesses, async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${emptyFolder()}/store`);
  await run(['token'], { env });
  const { stdout: whole } = await run(['record', 'export'], { env });
  const { code, stderr, stdout } = await run(['record', 'export', '--json'], { env });
  expect([code, stderr]).toEqual([0, '']);
  const record = JSON.parse(stdout);
  expect(record).toEqual(JSON.parse(whole.slice(whole.indexOf('{'))));
  expect(record).toMatchObject({
    form: 4,
    sequence: 2,
    spent: [{ name: expect.any(String), instance: expect.stringContaining('service-auth@'), reason: 'cold' }],
    tokens: [{ sealed: expect.stringMatching(/^[\w-]{100,}$/) }],
  });
  expect(stdout.split('\n').length).toBeGreaterThan(30);
  const elsewhere = { ...env, SERVICE_AUTH_STORE: `file:${emptyFolder()}/store` };
  const imported = await run(['record', 'import', '-'], { env: elsewhere, input: stdout });
  expect(imported).toMatchObject({ code: 2, stderr: expect.stringContaining('export without --json') });
});

test('a damaged record is shown as JSON if it is JSON, and cannot command a terminal', manyProcesses, async () => {
  const service = await startCanaryService();
  const directory = join(emptyFolder(), 'store');
  const env = variablesOf(service, `file:${directory}`);
  const key = await recordKey({ authUrl: service.authUrl, clientId: service.credentials.clientId });
  const exportOf = async (version: string, expected: string | undefined, record: string) => {
    await fileStore(directory).swap(key, { version, record, expected });
    return run(['record', 'export', '--json'], { env });
  };
  const shown = await exportOf('1', undefined, 'service-auth/4 00000000 {"id":"\u009b2J"}');
  expect(shown).toMatchObject({ code: 0, stdout: '{\n  "id": "\\u009b2J"\n}\n' });
  const cut = await exportOf('2', '1', 'service-auth/4 00000000 {"id":');
  expect(cut).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('without --json') });
  expect(await exportOf('3', '2', 'service-auth/4')).toMatchObject({ code: 1, stdout: '' });
});

test.for(stores)(
  'a record is discarded in $name only with --yes where there is no terminal',
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const env = variablesOf(service, address());
    await run(['token'], { env });
    const { stdout: before } = await run(['record', 'export'], { env });
    const asked = await runProcess(['record', 'discard'], { env });
    expect(asked).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('--yes') });
    expect(asked.stderr).toContain('The provider still counts');
    expect((await run(['record', 'export'], { env })).stdout).toBe(before);

    expect(await run(['record', 'discard', '--yes'], { env })).toMatchObject({ code: 0, stderr: '' });
    expect((await run(['record', 'export'], { env })).stdout).toContain('"spent":[],');
    // A process that has the token does not ask again.
    expect((await runProcess(['token'], { env })).code).toBe(0);
    expect(service.counts.issued).toBe(2);
  },
);

test(
  'an imported copy counts, and allows only a part of the limit, unless it is said to be complete',
  manyProcesses,
  async () => {
    const service = await startCanaryService();
    const directory = join(emptyFolder(), 'store');
    const { authUrl, clientId } = service.options;
    // The record began more than a day ago, so it allows the whole limit.
    const record = emptyRecord(Date.now() - 48 * 3_600_000);
    await fileStore(directory).swap(await recordKey({ authUrl, clientId }), { version: 'first', record });
    const env = variablesOf(service, `file:${directory}`);
    await run(['token'], { env });
    const { stdout: copy } = await run(['record', 'export'], { env });
    const availableAfter = async (...args: string[]) => {
      const elsewhere = { ...env, SERVICE_AUTH_STORE: `file:${emptyFolder()}/store` };
      const { code, stdout } = await run(['record', 'import', '-', ...args], { env: elsewhere, input: copy });
      expect(code).toBe(0);
      if (args.length === 0)
        expect(stdout).toMatch(
          /28 tokens can be issued.* The rest: 30 of the limit of 150 in reserve and \d+ held back until .* \(in 27 h\) because the record is new\./,
        );
      const { used, availableNow } = JSON.parse((await run(['usage', '--json'], { env: elsewhere })).stdout);
      return { used, availableNow };
    };
    expect(await availableAfter('--complete')).toEqual({ used: 1, availableNow: 109 });
    expect(await availableAfter()).toEqual({ used: 1, availableNow: 28 });
  },
);

test('a record that another client has used is not imported as a complete one', manyProcesses, async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${emptyFolder()}/store`);
  await run(['token'], { env });
  const { stdout: record } = await run(['record', 'export'], { env });
  const { SERVICE_AUTH_CLIENT_SECRET: secret, ...withoutSecret } = variablesOf(service, `file:${emptyFolder()}/store`);
  const unseen = { ...withoutSecret, SERVICE_AUTH_CLIENT_ID: 'another client' };
  const other = { ...unseen, SERVICE_AUTH_CLIENT_SECRET: secret };
  const whole = ['record', 'import', '-', '--complete'];
  const refused = await run(whole, { env: other, input: record });
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('FILE is of another client') });
  expect(await run(['record', 'export'], { env: other })).toMatchObject({ code: 1 });
  // Without the secret nobody can tell, and the output says so.
  expect(await run(whole, { env: unseen, input: record })).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('see that FILE is of this client'),
  });
});

test('what is no whole record is not imported', manyProcesses, async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${emptyFolder()}/store`);
  await run(['token'], { env });
  const { stdout: record } = await run(['record', 'export'], { env });
  const other = { ...env, SERVICE_AUTH_STORE: `file:${emptyFolder()}/store` };
  for (const input of [
    '',
    'nonsense',
    record.slice(0, -10),
    record.replace('cold', 'warm').replace(/\d{9}/, '123456789'),
  ]) {
    expect(await run(['record', 'import', '-'], { env: other, input })).toMatchObject({ code: 2, stdout: '' });
  }
  for (const format of [1, 99]) {
    const input = record.replace(/^service-auth\/\d+/, `service-auth/${format}`);
    expect(await run(['record', 'import', '-'], { env: other, input })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('another version of Service Auth; if that is newer, update this program'),
    });
  }
  expect(await run(['record', 'import', '/nowhere'], { env: other })).toMatchObject({ code: 2 });
});

test.for(stores)(
  'who knows what a record in $name has not seen says it, without the secret, and the rest of the limit can be used',
  manyProcesses,
  async ({ address }) => {
    const service = await startCanaryService();
    const { SERVICE_AUTH_CLIENT_SECRET: secret, ...env } = variablesOf(service, address());
    await run(['token'], { env: { ...env, SERVICE_AUTH_CLIENT_SECRET: secret } });
    const usage = async () => JSON.parse((await run(['usage', '--json'], { env })).stdout);
    const { usable, used, availableNow: atFirst } = await usage();
    const rest = usable === 120 ? 69 : 28;
    expect([used, atFirst]).toEqual([1, usable === 120 ? 27 : 22]);
    const words = ['--reason', 'the programs of last year', '--instance', 'ops@laptop'];
    const said = await run(['record', 'spent', '40', ...words], { env });
    expect(said).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringContaining(`${rest} tokens can be issued`),
    });
    const told = { count: 40, instance: 'ops@laptop', reason: 'the programs of last year' };
    expect(await usage()).toMatchObject({
      used: 41,
      availableNow: rest,
      spentElsewhere: { ...told, at: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    for (const command of ['usage', 'explain']) {
      const { stdout } = await run([command], { env });
      expect(stdout.replace(/\s+/g, ' ')).toMatch(/ops@laptop said at .* "the programs of last year"/);
    }
    const less = await run(['record', 'spent', '10', ...words], { env });
    expect(less).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('knows of more') });
    expect(await usage()).toMatchObject({ used: 41 });
  },
);

test('the first day begins with a word in a store that has no record yet', manyProcesses, async () => {
  const service = await startCanaryService();
  const env = variablesOf(service, `file:${join(emptyFolder(), 'store')}`);
  expect(await run(['record', 'spent', '0', '--reason', 'a new client'], { env })).toMatchObject({
    code: 0,
    stderr: '',
  });
  expect((await run(['token'], { env })).code).toBe(0);
  expect(JSON.parse((await run(['usage', '--json'], { env })).stdout)).toMatchObject({ availableNow: 109 });
});

test('record spent wants a number and a reason, and tells all that is wrong at once', async () => {
  const { code, stderr, stdout } = await run(['record', 'spent', 'many'], { env: {} });
  expect([code, stdout]).toEqual([2, '']);
  for (const problem of ['N must be', '--reason', 'SERVICE_AUTH_URL']) expect(stderr).toContain(problem);
});

import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { startTestService } from '@service-auth/testing';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { bundled, startPlatform } from './support/platform.ts';

const disk = mkdtempSync(join(tmpdir(), 'service-auth-durable-objects-'));
const durableObjects = {
  SERVICE_AUTH: { className: 'ServiceAuthStore', useSQLite: true },
  WITHOUT_SQLITE: { className: 'WithoutSqlite' },
  OTHER: { className: 'Other', useSQLite: true },
};
/** The Worker of one deployment. */
async function deployed(text: string): Promise<string> {
  const script = await bundled('worker.ts');
  return `const deployment = ${JSON.stringify(text)};\n${script}`;
}
const options = { durableObjects, durableObjectsPersist: disk };
const platform = await orSkip(async () => startPlatform(await deployed('first'), options));
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  rmSync(disk, { recursive: true, force: true });
});

let key: string;
beforeEach(() => {
  key = randomUUID();
});

/** A request to the Worker: what it returns, or how it failed. */
async function ask(operation: string, call: object = {}): Promise<Record<string, unknown>> {
  const answer = await platform?.post(operation, JSON.stringify({ key, ...call }));
  return JSON.parse(answer?.text ?? '') as Record<string, unknown>;
}

const change = { version: '1', record: 'record of 1' };
const kept = { result: expect.objectContaining(change) };

describe.runIf(platform)('a Durable Object', () => {
  test('that restarts while calls are under way keeps the record, and no call fails', async () => {
    await ask('swap', { change });
    const before = await ask('created');
    expect(await ask('restart', { calls: 20 })).toEqual({ result: 20 });
    expect(await ask('created')).not.toEqual(before);
    expect(await ask('load')).toEqual(kept);
  });

  test('keeps the record over a deployment, and the next version of the Worker needs no other token', async () => {
    await using service = await startTestService();
    await ask('swap', { change });
    const { authUrl, baseUrl, credentials } = service;
    const token = { options: { authUrl, baseUrl, ...credentials } };
    const issued = await ask('token', token);
    await platform?.setOptions({ script: await deployed('second') });
    expect(await ask('deployment')).toEqual({ result: 'second' });
    expect(await ask('load')).toEqual(kept);
    expect(await ask('token', token)).toEqual(issued);
    expect(service.counts).toMatchObject({ issued: 1, tokenRequests: 1 });
  });

  test('writes a swap that is sent again once', async () => {
    expect(await ask('swap', { change })).toMatchObject({ result: { swapped: true } });
    expect(await ask('swap', { change })).toMatchObject({ result: { swapped: true } });
    expect(await ask('swap', { change: { version: '2', record: 'late' } })).toMatchObject({
      result: { swapped: false },
    });
    expect(await ask('load')).toEqual(kept);
  });

  test('keeps no record of three million bytes, and keeps the one before', async () => {
    await ask('swap', { change });
    const large = { expected: '1', version: '2', record: 'x'.repeat(3_000_000) };
    expect(await ask('swap', { change: large })).toMatchObject({
      failure: { name: 'DurableObjectError', message: expect.stringContaining('SQLITE_TOOBIG') },
    });
    expect(await ask('load')).toEqual(kept);
  });
});

describe.runIf(platform)('a binding', () => {
  test.each([
    ['of a class without SQLite', 'WITHOUT_SQLITE', 'NoSqlite', /new_sqlite_classes/],
    ['of another class', 'OTHER', 'WrongObject', /ServiceAuthStore/],
  ])('%s says what to do', async (_, binding, name, advice) => {
    for (const call of [{ operation: 'load' }, { operation: 'swap', change }]) {
      expect(await ask(call.operation, { ...call, binding })).toMatchObject({
        failure: { name, advice: expect.stringMatching(advice) },
      });
    }
  });
});

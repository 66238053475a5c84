import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createUsageReader, memoryStore } from '@service-auth/core';
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

describe.runIf(platform)('copies that want too many tokens', () => {
  test('keep to the limit, and the record counts every token, while objects and the whole platform restart', async () => {
    const limit = 10;
    const audiences = Array.from({ length: 60 }, (_, index) => `https://audience-${index}.example`);
    const client = { clientId: 'greedy', clientSecret: 'a secret of no value', audiences };
    // It enforces no limit, and it counts.
    await using service = await startTestService({ clients: [client], issuanceLimit: { tokens: 1_000_000 } });
    const optionsOf = (audience = '') => ({
      ...{ authUrl: service.authUrl, audience, clientId: client.clientId, clientSecret: client.clientSecret },
      ...{ issuanceLimit: { tokens: limit, reserve: 0 }, timeoutMs: 20_000 },
    });
    const recordKey = createUsageReader({
      store: memoryStore(),
      authUrl: service.authUrl,
      clientId: client.clientId,
    }).recordKey;
    const outcomes = new Map<string, number>();
    for (let wave = 0; wave < 6; wave += 1) {
      const calls = audiences.slice(10 * wave, 10 * wave + 10).map((audience) => {
        return ask('fresh', { options: optionsOf(audience) }).catch(() => ({
          failure: { code: 'the platform restarted' },
        }));
      });
      const fault = wave % 3 === 2 ? platform?.setOptions({}) : ask('abort', { key: recordKey }).catch(() => {});
      for (const { failure } of await Promise.all(calls)) {
        const code = (failure as { code?: string } | undefined)?.code ?? 'token';
        outcomes.set(code, (outcomes.get(code) ?? 0) + 1);
      }
      await fault;
    }
    const { result } = (await ask('usage', { options: optionsOf(audiences[0]) })) as { result: { used: number } };
    const { issued } = service.counts;
    expect(issued).toBeGreaterThan(0);
    expect(issued).toBeLessThanOrEqual(limit);
    expect(result.used).toBeGreaterThanOrEqual(issued);
    expect(outcomes.get('token')).toBeGreaterThan(0);
    // The rest was refused by the limit, or met a fault.
    const expected = ['token', 'the platform restarted', 'ERR_ISSUANCE_LIMIT', 'ERR_STORE', 'ERR_TOKEN_ENDPOINT'];
    expect([...outcomes.keys()].filter((code) => !expected.includes(code))).toEqual([]);
  }, 120_000);
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

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { Miniflare } from 'miniflare';
import { afterAll, describe, expect, test } from 'vitest';
import { createTable, type D1Binding, sqliteStore } from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'service-auth-d1-'));
const { outputFiles } = await build({
  entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
  ...{ bundle: true, format: 'esm', write: false, external: ['node:*'], conditions: ['@service-auth/source'] },
});
// The program of workers is workerd, which Cloudflare runs. It is on loopback and needs no network.
const platform = new Miniflare({
  modules: true,
  script: outputFiles[0]?.text ?? '',
  compatibilityDate: '2026-07-01',
  compatibilityFlags: ['nodejs_compat'],
  d1Databases: { DB: 'tokens' },
  d1Persist: folder,
});
afterAll(async () => {
  await platform.dispose();
  rmSync(folder, { recursive: true });
});
const binding = (await platform.getD1Database('DB')) as unknown as D1Binding;
await createTable(binding);

async function ask(search: string): Promise<unknown> {
  const response = await platform.dispatchFetch(`http://127.0.0.1/${search}`);
  return response.json();
}

describe('the contract of stores, in a worker with a binding of Cloudflare D1', async () => {
  for (const name of (await ask('')) as string[]) {
    test(name, async () => {
      expect(await ask(`?case=${encodeURIComponent(name)}`)).toEqual({ problem: null });
    });
  }
});

test('a session of D1 is refused, because its reads may be answered by a replica', () => {
  const session = (binding as unknown as { withSession(): D1Binding }).withSession();
  expect(() => sqliteStore(session)).toThrow(/such as env\.DB; no path, session or transaction/);
});

test('every operation begins at the primary database', async () => {
  const constraints: string[] = [];
  const watched: D1Binding & { withSession(constraint: string): D1Binding } = {
    prepare: (sql) => binding.prepare(sql),
    batch: (statements) => binding.batch(statements),
    withSession(constraint) {
      constraints.push(constraint);
      return binding;
    },
  };
  const store = sqliteStore(watched);
  await store.load('key');
  await store.swap('key', { version: '1', record: 'record' });
  expect(constraints).toEqual(['first-primary', 'first-primary']);
});

test('a table that is missing is reported as what it is', async () => {
  await expect(sqliteStore(binding, { table: 'never_created' }).load('key')).rejects.toMatchObject({
    name: 'MissingTable',
    advice: expect.stringContaining('createTable(database)'),
  });
});

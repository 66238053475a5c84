import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { engine, installEngines } from '@service-auth/runtimes/engines';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { build } from 'esbuild';
import { afterAll, describe, expect, test } from 'vitest';
import type { D1Binding } from '../src/database.ts';
import { createTable, sqliteStore } from '../src/index.ts';

/** The part of Miniflare that these tests use. */
interface Platform {
  readonly ready: Promise<URL>;
  getD1Database(name: string): Promise<D1Binding>;
  dispatchFetch(url: string): Promise<{ json(): Promise<unknown> }>;
  dispose(): Promise<void>;
}

const folder = mkdtempSync(join(tmpdir(), 'service-auth-d1-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** Starts workerd, the program of Workers that Cloudflare runs. It is on loopback and needs no network. */
async function startPlatform(): Promise<Platform> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('worker.ts', import.meta.url))],
    ...{ bundle: true, format: 'esm', write: false, external: ['node:*'], conditions: ['@service-auth/source'] },
  });
  await installEngines();
  const { Miniflare } = createRequire(engine('miniflare/package.json'))('miniflare') as {
    Miniflare: new (options: object) => Platform;
  };
  const platform = new Miniflare({
    modules: true,
    script: outputFiles[0]?.text ?? '',
    // No address of Cloudflare is asked for the place of this machine.
    cf: false,
    compatibilityDate: '2026-07-01',
    compatibilityFlags: ['nodejs_compat'],
    d1Databases: { DB: 'tokens' },
    d1Persist: folder,
  });
  await platform.ready;
  return platform;
}

const platform = await orSkip(startPlatform);
afterAll(() => platform?.dispose());
const binding = (await platform?.getD1Database('DB')) as D1Binding;
if (platform) await createTable(binding);

async function ask(search: string): Promise<unknown> {
  const response = await platform?.dispatchFetch(`http://127.0.0.1/${search}`);
  return response?.json();
}
const names = platform ? ((await ask('')) as string[]) : [];

describe.runIf(platform)('the contract of stores, in a worker with a binding of Cloudflare D1', () => {
  for (const name of names) {
    test(name, async () => {
      expect(await ask(`?case=${encodeURIComponent(name)}`)).toEqual({ problem: null });
    });
  }
});

test.runIf(platform)('a session of D1 is refused, because its reads may be answered by a replica', () => {
  const session = (binding as unknown as { withSession(): D1Binding }).withSession();
  expect(() => sqliteStore(session)).toThrow(/such as env\.DB; no path, session or transaction/);
});

test.runIf(platform)('every operation begins at the primary database', async () => {
  const constraints: string[] = [];
  const watched: D1Binding & { withSession(constraint: string): D1Binding } = {
    prepare: (sql) => binding.prepare(sql),
    batch: (statements) => binding.batch(statements),
    exec: (sql) => binding.exec(sql),
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

test.runIf(platform)('a table that is missing is reported as what it is', async () => {
  await expect(sqliteStore(binding, { table: 'never_created' }).load('key')).rejects.toMatchObject({
    name: 'MissingTable',
    advice: expect.stringContaining('run createTable()'),
  });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createApplication, edit, saves, startOrders, startServer } from '../application.ts';

let home: string;

beforeAll(async () => {
  home = await createApplication(new URL('../apps/nitro/', import.meta.url));
  edit(join(home, 'utils/auth.ts'), 'createAuthFetch(c', "(console.log('NEW CLIENT'), createAuthFetch)(c");
});

test('nitro dev: each save starts another worker thread, and all of them share one token in the file store', async () => {
  const service = await startOrders();
  onTestFinished(() => service.close());
  const cache = temporaryFolder(join(tmpdir(), 'service-auth-nitro-'));
  const argv = (port: string) => ['nitropack/dist/cli/index.mjs', 'dev', '--port', port, '--host', '127.0.0.1'];
  await using server = await startServer(home, argv, { ...service.env, XDG_CACHE_HOME: cache });
  expect(await server.get('/orders')).toMatchObject({ status: 200, text: expect.stringContaining('coffee') });
  const route = join(home, 'routes/orders.ts');
  for (let save = 1; save <= saves; save += 1) {
    edit(route, /return .*;/, `return { save: 'save ${save}', orders: await response.json() };`);
    const page = async () => {
      // Nitro never answers a request that arrives while it replaces the worker.
      const { text } = await server.get('/orders', 5_000).catch(() => ({ text: '' }));
      // Nitro misses a save while it still builds the one before. So save again, as people do.
      if (!text.includes(`save ${save}`)) writeFileSync(route, readFileSync(route));
      return text;
    };
    await expect.poll(page, { timeout: 60_000, interval: 2_000 }).toMatch(new RegExp(`save ${save}.*coffee`, 's'));
  }
  // It is a test of reloads only if the module was loaded again.
  expect(server.output.match(/NEW CLIENT/g)?.length).toBeGreaterThan(saves);
  expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
});

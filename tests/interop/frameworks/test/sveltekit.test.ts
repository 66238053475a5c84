import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { createApplication, edit, saves, startOrders, startProgram, startServer } from '../application.ts';

const vite = 'vite/bin/vite.js';
let home: string;

beforeAll(async () => {
  home = await createApplication(new URL('../../../../examples/sveltekit-app/', import.meta.url));
  edit(join(home, 'src/lib/server/auth.ts'), 'createAuthFetch(c', "(console.log('NEW CLIENT'), createAuthFetch)(c");
});

test('vite dev: pages, endpoints, actions and every save share one token', async () => {
  const service = await startOrders();
  onTestFinished(() => service.close());
  const argv = (port: string) => [vite, 'dev', '--port', port, '--strictPort', '--host', '127.0.0.1'];
  await using server = await startServer(home, argv, service.env);
  for (const path of ['/', '/api/orders']) {
    expect(await server.get(path)).toMatchObject({ status: 200, text: expect.stringContaining('coffee') });
  }
  const clients = () => server.output.match(/NEW CLIENT/g)?.length ?? 0;
  const module = join(home, 'src/lib/server/auth.ts');
  const page = join(home, 'src/routes/+page.svelte');
  for (let save = 1; save <= saves; save += 1) {
    const clientsBefore = clients();
    edit(module, /(\/\/ save \d+\n)?$/, `// save ${save}\n`);
    edit(page, /<button>.*</, `<button>save ${save}<`);
    // Vite misses a save that follows another one at once, so both files are saved until both are seen.
    const isSeen = async () => {
      for (const file of [module, page]) utimesSync(file, new Date(), new Date());
      return (await server.get('/')).text.includes(`save ${save}<`) && clients() > clientsBefore;
    };
    await expect.poll(isSeen, { timeout: 60_000, interval: 1_000 }).toBe(true);
    expect(await server.get('/api/orders')).toMatchObject({ status: 200 });
  }
  expect(clients()).toBeGreaterThan(saves);
  expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
});

test('vite build needs no environment, and the built server has one token for pages, endpoints and actions', async () => {
  const build = startProgram(home, [vite, 'build']);
  expect(await build.ended, build.output).toBe(0);
  expect(build.output).not.toContain('NEW CLIENT');

  const service = await startOrders();
  onTestFinished(() => service.close());
  await using server = await startServer(home, () => ['../generated/sveltekit-app/build/index.js'], {
    ...service.env,
    PROTOCOL_HEADER: 'x-forwarded-proto', // Without it the adapter takes every request for one by https.
  });
  for (const page of ['/', '/api/orders']) {
    expect(await server.get(page)).toMatchObject({ status: 200, text: expect.stringContaining('coffee') });
  }
  expect(await server.post('/', { item: 'tea' })).toBeLessThan(400);
  expect((await server.get('/')).text).toContain('tea');
  expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
});

test('an endpoint answers 503 with Retry-After when there is no token', async () => {
  const service = await startOrders();
  onTestFinished(() => service.close());
  service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '120' } });
  await using server = await startServer(home, () => ['../generated/sveltekit-app/build/index.js'], service.env);
  const { status, retryAfter, text } = await server.get('/api/orders');
  expect([status, text]).toEqual([503, '{"message":"Please try again later."}']);
  expect(Number(retryAfter)).toBeGreaterThan(60);
});

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { byDay } from '@service-auth/test-tools/night';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  createApplication,
  edit,
  folder,
  type Server,
  saves,
  startOrders,
  startProgram,
  startServer,
} from '../application.ts';
import { filesWithToken } from '../visit-next.ts';

const next = 'next/dist/bin/next';
let home: string;

beforeAll(async () => {
  home = await createApplication(new URL('../../../../examples/next-app/', import.meta.url));
  writeFileSync(join(home, 'proxy.ts'), proxy);
  // The workspace, in which Next.js is.
  edit(
    join(home, 'next.config.ts'),
    'cacheComponents',
    `turbopack: { root: ${JSON.stringify(folder)} }, cacheComponents`,
  );
  edit(
    join(home, 'lib/auth.ts'),
    '??= createServiceAuthFromEnv(',
    "??= (console.log('NEW CLIENT'), createServiceAuthFromEnv)(",
  );
  edit(
    join(home, 'lib/auth.ts'),
    '(process.env)',
    "(process.env, process.env.NO_VAULT ? { clientSecret: () => Promise.reject(new Error('The vault is away.')) } : {})",
  );
});

/** As a test for which an application has no use: it needs the token in the proxy. */
const proxy = `
import { type NextRequest, NextResponse } from 'next/server';
import { getAuth } from './lib/auth';

export async function proxy(_request: NextRequest) {
  const { id } = await getAuth().getToken();
  return NextResponse.next({ headers: { 'token-id': id } });
}
export const config = { matcher: '/legacy' };
`;

const pages = ['/', '/api/orders', '/cached', '/legacy'];

async function start(command: string, variables: Record<string, string>): Promise<Server> {
  const argv = command.split(' ');
  const server = await startServer(home, (port) => [next, ...argv, '-p', port, '-H', '127.0.0.1'], variables);
  onTestFinished(() => server[Symbol.asyncDispose]());
  return server;
}

describe('next build and next start', () => {
  beforeAll(async () => {
    const build = startProgram(home, [next, 'build']);
    expect(await build.ended, build.output).toBe(0);
    expect(build.output).not.toContain('NEW CLIENT');
  });

  test('a build without the environment needs no client, and the pages, routes and actions of the server share one token', async () => {
    const service = await startOrders();
    onTestFinished(() => service.close());
    const { get, post, output } = await start('start', service.env);
    for (const page of pages)
      expect(await get(page), output).toMatchObject({ status: 200, text: expect.stringContaining('coffee') });
    expect((await get('/legacy')).tokenId).toEqual(expect.any(String));
    const action = /name="(\$ACTION_ID_\w+)"/.exec((await get('/')).text)?.[1] ?? '';
    expect(await post('/', { [action]: '', item: 'tea' })).toBe(200);
    expect((await get('/legacy')).text).toContain('tea');
    expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });

    service.revoke('all');
    for (const page of pages) expect(await get(page)).toMatchObject({ status: 200 });
    // Each copy of the module learns of it by a 401 of its own, and one of them has a token issued for all.
    expect(service.counts.issued).toBe(2);
    expect(filesWithToken(join(home, '.next'), service)).toEqual([]);
  });

  test('a route answers 503 with Retry-After when there is no token', async () => {
    const service = await startOrders();
    onTestFinished(() => service.close());
    service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '120' } });
    const { get } = await start('start', service.env);
    const { status, retryAfter, text } = await get('/api/orders');
    expect([status, text]).toEqual([503, '{"message":"Please try again later."}']);
    expect(Number(retryAfter)).toBeGreaterThan(60);
  });

  test('a route answers 503 with Retry-After when the function for the client secret fails', async () => {
    const service = await startOrders();
    onTestFinished(() => service.close());
    const { get } = await start('start', { ...service.env, NO_VAULT: 'true' });
    expect(await get('/api/orders')).toMatchObject({
      status: 503,
      retryAfter: '1',
      text: '{"message":"Please try again later."}',
    });
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('without the environment, the first use names all variables that are missing', async () => {
    const server = await start('start', {});
    expect((await server.get('/legacy')).status).toBe(500);
    const names = ['URL', 'AUDIENCE', 'CLIENT_ID', 'CLIENT_SECRET'].map((name) => `SERVICE_AUTH_${name} is not set`);
    for (const name of names) expect(server.output).toContain(name);
  });
});

describe.each(byDay(['dev', 'dev --webpack'], (command) => command === 'dev'))('next %s', (command) => {
  test('pages, routes and every save share one token', async () => {
    const service = await startOrders();
    onTestFinished(() => service.close());
    const server = await start(command, service.env);
    for (const page of pages) expect(await server.get(page)).toMatchObject({ status: 200 });
    for (let save = 1; save <= saves; save += 1) {
      edit(join(home, 'lib/auth.ts'), /(\/\/ save \d+\n)?$/, `// save ${save}\n`);
      edit(join(home, 'lib/orders.ts'), /(save \d+: )?The API answered/, `save ${save}: The API answered`);
      edit(join(home, 'app/page.tsx'), /<button type="submit">.*</, `<button type="submit">save ${save}<`);
      const page = async () => (await server.get('/')).text;
      await expect.poll(page, { timeout: 60_000, interval: 100 }).toContain(`save ${save}<`);
      for (const page of pages) expect(await server.get(page)).toMatchObject({ status: 200 });
    }
    // It is a test of reloads only if modules were reloaded.
    expect(server.output.match(/NEW CLIENT/g)?.length).toBeGreaterThan(saves);
    expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
  });
});

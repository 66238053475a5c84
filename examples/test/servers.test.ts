import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startRecipe, urlOf } from '../backends/start-recipe.ts';
import { openShop } from './support/run-recipe.ts';

async function openServer(name: string) {
  const shop = await openShop();
  const recipe = await startRecipe(name, { shop, stdio: 'pipe' });
  onTestFinished(() => recipe[Symbol.asyncDispose]());
  const url = await urlOf(recipe);
  return {
    service: shop.service,
    async get(path: string) {
      const response = await fetch(url + path);
      return { status: response.status, retryAfter: response.headers.get('retry-after'), text: await response.text() };
    },
  };
}

/** Writes a recipe whose client secret comes from a vault that is away. Returns its file. */
function withoutVault(name: string): string {
  const code = stripTypeScriptTypes(readFileSync(new URL(`../recipes/${name}.ts`, import.meta.url), 'utf8'));
  const vault = "process.env, { clientSecret: () => Promise.reject(new Error('The vault is away.')) }";
  const changed = code.replace('(process.env)', `(${vault})`);
  expect(changed).not.toBe(code);
  // Beside the packages of the examples.
  const folder = fileURLToPath(new URL('../node_modules/.cache/without-vault', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const file = join(folder, `${name}.mjs`);
  writeFileSync(file, changed);
  return file;
}

describe.each(['express', 'fastify', 'hono'])('%s', (name) => {
  test('answers many users with one token, and an error of its own as before', async () => {
    const { service, get } = await openServer(name);
    const answers = await Promise.all(Array.from({ length: 5 }, () => get('/orders')));
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, text: '[{"id":1,"item":"coffee"}]' });
    expect(service.counts.issued).toBe(1);

    service.api.next({ cut: 'request' });
    expect(await get('/orders')).toMatchObject({ status: 500, retryAfter: null });
  });

  test('answers 503 with Retry-After when the token endpoint refuses, and says nothing of it', async () => {
    const { service, get } = await openServer(name);
    service.tokenEndpoint.always({ status: 429, headers: { 'retry-after': '120' } });
    const { status, retryAfter, text } = await get('/orders');
    expect([status, JSON.parse(text)]).toEqual([503, { message: 'Please try again later.' }]);
    expect(Number(retryAfter)).toBeGreaterThan(100);
    expect(Number(retryAfter)).toBeLessThanOrEqual(121);
  });

  test('answers 503, not 401, when the API rejects its token and there is no other one', async () => {
    const { service, get } = await openServer(name);
    expect(await get('/orders')).toMatchObject({ status: 200 });
    service.revoke('all');
    service.tokenEndpoint.always({ status: 503 });
    // Nobody knows when the API accepts a token again.
    expect(await get('/orders')).toMatchObject({ status: 503, retryAfter: null });
  });

  test('answers 503 with Retry-After when the function for its client secret fails, and says nothing of it', async () => {
    const { service, get } = await openServer(withoutVault(name));
    expect(await get('/orders')).toEqual({
      status: 503,
      retryAfter: '1',
      text: '{"message":"Please try again later."}',
    });
    expect(service.counts.tokenRequests).toBe(0);
  });

  test('answers 503, not 401, when its own credentials are wrong', async () => {
    const { service, get } = await openServer(name);
    service.setClientSecret('another one');
    expect(await get('/orders')).toMatchObject({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
  });
});

test('fastify shows users no message of an error of the application', async () => {
  const { service, get } = await openServer('fastify');
  service.api.next({ cut: 'request' });
  expect(await get('/orders')).toMatchObject({ status: 500, text: '{"message":"Internal Server Error"}' });
  expect(await get('/no-such-page')).toMatchObject({ status: 404 });
});

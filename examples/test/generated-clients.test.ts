import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile } from './support/compile.ts';
import { openShop, runRecipe } from './support/run-recipe.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../generated-clients', import.meta.url));
const programs = join(folder, 'generated/programs');

const generators: Readonly<Record<string, readonly string[]>> = {
  'hey-api-fetch': ['openapi-ts', '-i', 'openapi.json', '-o', 'generated/hey-api-fetch', '-c', '@hey-api/client-fetch'],
  'hey-api-axios': ['openapi-ts', '-i', 'openapi.json', '-o', 'generated/hey-api-axios', '-c', '@hey-api/client-axios'],
  orval: ['orval', '--config', 'orval.config.ts'],
};
const clients = ['hey-api-fetch', 'hey-api-axios', 'orval-fetch', 'orval-axios'];

beforeAll(async () => {
  for (const [program = '', ...argv] of Object.values(generators)) {
    const options = { cwd: folder, env: { ...process.env, NODE_OPTIONS: '' } };
    await run(join(folder, '../node_modules/.bin', program), argv, options);
  }
  const files = clients.map((name) => join(folder, `${name}.ts`));
  await compile(folder, files, programs);
}, 60_000);
afterAll(() => rm(join(folder, 'generated'), { recursive: true }));

describe.each(clients)('%s', (name) => {
  const program = join(programs, `${name}.mjs`);

  test('gets along with one token', async () => {
    const shop = await openShop();
    const lines = ["[ { id: 1, item: 'coffee' } ]", "{ id: 2, item: 'tea' }"];
    expect(await runRecipe(program, { shop })).toMatchObject({ code: 0, lines });
    expect(shop.service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
  });

  test('gets another token when the API rejects the first one, and sends the body again', async () => {
    const shop = await openShop(2);
    expect(await runRecipe(program, { shop })).toMatchObject({ code: 0 });
    expect(shop.service.counts).toMatchObject({ issued: 2, apiUnauthorized: 1 });
  });

  test('fails with an error of ours when there is no token', async () => {
    const shop = await openShop();
    shop.service.tokenEndpoint.always({ status: 401, body: '{"error":"invalid_client"}' });
    const { code, complaint } = await runRecipe(program, { shop });
    expect([code, complaint]).toEqual([1, expect.stringContaining("code: 'ERR_CREDENTIALS_REJECTED'")]);
    expect(shop.service.counts.apiRequests).toBe(0);
  });
});

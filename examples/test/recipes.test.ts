import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openShop, runRecipe } from './support/run-recipe.ts';

const read = "[ { id: 1, item: 'coffee' } ]";
const written = "{ id: 2, item: 'tea' }";

/** The output of each recipe, and the number of the request to the API that is answered 401 when its tokens are revoked. */
const recipes = {
  apollo: { prints: [read, written], revokeAt: 2 },
  cron: { prints: [read], revokeAt: 1 },
  'graphql-request': { prints: [read, written], revokeAt: 2 },
  grpc: { prints: [written], revokeAt: 1 },
  kafkajs: { prints: ['connected'], revokeAt: 1 },
  ky: { prints: [read, written], revokeAt: 2 },
  mcp: { prints: ["[ 'order' ]", "[ { type: 'text', text: 'ordered tea' } ]"], revokeAt: 5 },
  ofetch: { prints: [read, written], revokeAt: 2 },
  'openapi-fetch': { prints: [read, written], revokeAt: 2 },
  ws: { prints: ['ordered tea'], revokeAt: 1 },
};

describe.each(Object.entries(recipes))('%s', (name, { prints, revokeAt }) => {
  test('gets along with one token', async () => {
    const shop = await openShop();
    expect(await runRecipe(name, { shop })).toMatchObject({ code: 0, lines: prints });
    expect(shop.service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
  });

  test('gets another token when the API rejects the first one, and sends the same request again', async () => {
    const shop = await openShop(revokeAt);
    expect(await runRecipe(name, { shop })).toMatchObject({ code: 0, lines: prints });
    expect(shop.service.counts).toMatchObject({ issued: 2, apiUnauthorized: 1 });
  });
});

describe('cron', () => {
  test('uses one token for all its starts', async () => {
    const shop = await openShop();
    const directory = mkdtempSync(join(tmpdir(), 'service-auth-cron-'));
    onTestFinished(() => rmSync(directory, { recursive: true }));
    for (const _ of [1, 2, 3]) expect(await runRecipe('cron', { shop, directory })).toMatchObject({ code: 0 });
    expect(shop.service.counts).toMatchObject({ issued: 1, apiRequests: 3 });
  });

  test('ends with 75 when there is no token', async () => {
    const shop = await openShop();
    shop.service.tokenEndpoint.always({ status: 503 });
    expect(await runRecipe('cron', { shop })).toMatchObject({ code: 75, lines: [] });
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { byDay } from '@service-auth/test-tools/night';
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
  test.each(byDay([0, revokeAt], (at) => at !== 0))(
    'gets along with one token, and with another one when the API rejects the first at request %i, which it sends again',
    async (at) => {
      const shop = await openShop(at);
      expect(await runRecipe(name, { shop })).toMatchObject({ code: 0, lines: prints });
      const rejections = at === 0 ? 0 : 1;
      expect(shop.service.counts).toMatchObject({ issued: 1 + rejections, apiUnauthorized: rejections });
    },
  );
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

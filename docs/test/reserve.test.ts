import { readFileSync } from 'node:fs';
import { createUsageReader, memoryStore } from '@service-auth/core';
import { expect, test } from 'vitest';

/** What each of 150 tokens is for: renewals, cold starts and 401s, resets, and the reserve. */
const bars = [
  [84, 26, 10, 30],
  [52, 17, 6, 75],
] as const;

test.each(bars)('core spends the tokens as the picture of the reserve shows: %i for renewals', async (...tokens) => {
  const reader = createUsageReader({
    store: memoryStore(),
    authUrl: 'https://auth.example.com',
    clientId: 'reader',
    issuanceLimit: { tokens: 150, reserve: tokens[3] },
  });
  const { refresh, cold, reset } = (await reader.getUsage()).available;
  expect([refresh, cold - refresh, reset - cold, 150 - reset]).toEqual(tokens);
  const picture = readFileSync(new URL('../drawings/reserve-light.svg', import.meta.url), 'utf8');
  for (const count of tokens) expect(picture).toContain(`>${count} `);
});

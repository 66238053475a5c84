import { readFileSync } from 'node:fs';
import { createUsageReader, memoryStore } from '@service-auth/core';
import { expect, test } from 'vitest';
import { drawings } from '../drawings/drawings.ts';
import { words } from '../drawings/words.ts';

test.each([...drawings()])('the picture %s is what `pnpm site:drawings` draws', (file, svg) => {
  expect(readFileSync(new URL(`../drawings/${file}`, import.meta.url), 'utf8')).toBe(svg);
});

test.each(words.reserve.bars.map(({ tokens, title }) => ({ title, tokens })))(
  'core spends the tokens as in the bar "$title"',
  async ({ tokens }) => {
    const reserve = tokens[3];
    const reader = createUsageReader({
      store: memoryStore(),
      authUrl: 'https://auth.example.com',
      clientId: 'reader',
      issuanceLimit: { tokens: 150, reserve },
    });
    const { available } = await reader.getUsage();
    const { refresh, cold, reset } = available;
    expect([refresh, cold - refresh, reset - cold, 150 - reset]).toEqual(tokens);
  },
);

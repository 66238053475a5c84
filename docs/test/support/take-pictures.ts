// Takes the pictures of the start page: `pnpm site:pictures`. Build the site first.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { serveSite, startBrowser } from './browser.ts';

const folder = fileURLToPath(new URL('../../site', import.meta.url));
/** The picture that other sites show beside a link to this one. */
const card = fileURLToPath(new URL('../../public/card.png', import.meta.url));

mkdirSync(folder, { recursive: true });
const site = await serveSite();
const browser = await startBrowser();
try {
  const preview = await openAfternoon(1200, 630, 'light');
  await preview.screenshot({ path: card });
  await preview.close();
  for (const colorScheme of ['light', 'dark'] as const) {
    const page = await openAfternoon(1440, 900, colorScheme);
    await page.locator('.fleets').screenshot({ path: `${folder}/budget-${colorScheme}.png` });
    await page.close();
  }
} finally {
  await browser.close();
  site.close();
}

async function openAfternoon(width: number, height: number, colorScheme: 'light' | 'dark'): Promise<Page> {
  const page = await browser.newPage({ viewport: { width, height }, colorScheme, reducedMotion: 'reduce' });
  await page.goto(`${site.url}#at=50400`);
  await page.locator('.live-budget[data-busy="false"][data-now="50400000"]').waitFor({ timeout: 120_000 });
  return page;
}

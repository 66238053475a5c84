// Takes the pictures of the start page: `pnpm site:pictures`. Build the site first.
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { serveSite, startBrowser } from './browser.ts';

const folder = fileURLToPath(new URL('../../site', import.meta.url));
const widths = [360, 768, 1440];
const afternoon = 'at=50400';

mkdirSync(folder, { recursive: true });
const site = await serveSite();
const browser = await startBrowser();
try {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of widths) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme, reducedMotion: 'reduce' });
      await page.goto(`${site.url}/#${afternoon}`);
      await page.locator('.live-budget[data-busy="false"][data-now="50400000"]').waitFor({ timeout: 120_000 });
      await page.screenshot({ path: `${folder}/start-${width}-${colorScheme}.png`, fullPage: true });
      if (width === 1440) {
        await page.locator('.fleets').screenshot({ path: `${folder}/budget-${colorScheme}.png` });
      }
      await page.close();
    }
  }
} finally {
  await browser.close();
  site.close();
}

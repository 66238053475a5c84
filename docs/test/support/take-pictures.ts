// Draws the afternoon of the default day for README, and for the card beside links: `pnpm site:pictures`.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afternoon } from '../../.vitepress/budget/afternoon.ts';
import { budgetDrawing, cardDrawing, themeNames } from '../../.vitepress/budget/draw.ts';
import { startBrowser } from './browser.ts';

const at = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url));

const picture = await afternoon();
for (const theme of themeNames) writeFileSync(at(`site/budget-${theme}.svg`), budgetDrawing(picture, theme));

const card = cardDrawing(picture);
writeFileSync(at('site/card.svg'), card);
// Few sites show a card that is no photograph.
const browser = await startBrowser();
const page = await browser.newPage({ viewport: { width: 1200, height: 630 } });
await page.setContent(`<body style="margin:0">${card}`);
await page.screenshot({ path: at('public/card.png') });
await browser.close();

import { readdirSync, readFileSync } from 'node:fs';
import { orSkip } from '@service-auth/test-tools/or-skip';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { afternoon } from '../.vitepress/budget/afternoon.ts';
import { budgetDrawing, cardDrawing, themeNames } from '../.vitepress/budget/draw.ts';
import { startBrowser } from './support/browser.ts';

const browser = await orSkip(startBrowser);

/** Every drawn picture of the pages, light and dark. */
const pictures = ['command-line', 'drawings', 'observability', 'performance', 'site'].flatMap((folder) => {
  const files = readdirSync(new URL(`../${folder}/`, import.meta.url)).filter((file) => file.endsWith('.svg'));
  return files.map((file) => `${folder}/${file}`);
});

/** What Chromium made of one text of a picture. */
interface Text {
  readonly text: string;
  /** The width that the picture asks for, divided by that of the glyphs. 1 if it asks for none. */
  readonly stretch: number;
  readonly left: number;
  readonly right: number;
  /** The size of the type on a phone, where the picture is as wide as the page. */
  readonly size: number;
  readonly top: number;
  readonly bottom: number;
  /** The room between the text and the edges of the box in which it stands. */
  readonly room: number;
}

// Runs in the page. Of the boxes around the middle of a text, the innermost one is drawn last.
const measure = `
  const boxes = [...document.querySelectorAll('rect')].map((rect) => rect.getBoundingClientRect());
  [...document.querySelectorAll('text')].map((element) => {
    const asked = element.getAttribute('textLength');
    const { left, right, top, bottom } = element.getBoundingClientRect();
    const size = parseFloat(getComputedStyle(element).fontSize) * 342 / document.documentElement.viewBox.baseVal.width;
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const box = boxes.findLast((each) => each.left < x && x < each.right && each.top < y && y < each.bottom);
    const room = box ? Math.min(left - box.left, box.right - right) : Infinity;
    element.removeAttribute('textLength');
    const stretch = asked === null ? 1 : asked / element.getComputedTextLength();
    return { text: element.textContent, stretch, size, left, right, top, bottom, room };
  })
`;

let page: Page;
beforeAll(async () => {
  if (browser) page = await browser.newPage();
});
afterAll(async () => {
  await browser?.close();
});

describe.runIf(browser)('in Chromium', () => {
  test.each(pictures)('the texts of %s have the width of their glyphs, and room around them', async (file) => {
    await page.goto(`${new URL(`../${file}`, import.meta.url)}`);
    const { width, height } = await page.evaluate<{ width: number; height: number }>(
      'document.documentElement.getBoundingClientRect()',
    );
    const texts = await page.evaluate<Text[]>(measure);
    expect(texts.length).toBeGreaterThan(5);
    const isStretched = ({ stretch }: Text) => !(Math.abs(stretch - 1) < 0.1);
    const isOutside = ({ left, right, top, bottom }: Text) => left < 0 || top < 0 || right > width || bottom > height;
    const isCramped = ({ room }: Text) => room < 2;
    const isCovered = (one: Text) => texts.some((other) => one !== other && overlap(one, other));
    // What a terminal printed can be moved sideways, like code.
    const isSmall = ({ size }: Text) => size < 11 && !/^command-line\/|card/.test(file);
    for (const isWrong of [isStretched, isOutside, isCramped, isCovered, isSmall])
      expect(
        texts.filter(isWrong).map(({ text }) => text),
        isWrong.name,
      ).toEqual([]);
  });
});

test('the pictures of README and of the card show the default day as it is', async () => {
  const read = (path: string) => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8');
  const picture = await afternoon();
  for (const theme of themeNames) expect(read(`site/budget-${theme}.svg`)).toBe(budgetDrawing(picture, theme));
  expect(read('site/card.svg')).toBe(cardDrawing(picture));
  expect(read('../README.md')).toContain(`With Service Auth, ${picture.ours.spent} of 150 tokens are spent`);
});

test('the card has the size that other sites show whole', () => {
  const card = readFileSync(new URL('../public/card.png', import.meta.url));
  expect([card.readUInt32BE(16), card.readUInt32BE(20)]).toEqual([1_200, 630]);
});

/** Returns whether two texts have more in common than the rounding of their edges. */
function overlap(one: Text, other: Text): boolean {
  const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const height = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  return width > 2 && height > 2;
}

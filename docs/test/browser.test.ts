import { globSync, readFileSync } from 'node:fs';
import { byDay } from '@service-auth/test-tools/night';
import { orSkip } from '@service-auth/test-tools/or-skip';
import type { AxeResults } from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createDay } from '../.vitepress/budget/day.ts';
import type { Picture } from '../.vitepress/budget/picture.ts';
import { presets } from '../.vitepress/budget/presets.ts';
import { fromFragment, incidentKinds } from '../.vitepress/budget/settings.ts';
import { redirects } from '../.vitepress/redirects.ts';
import { serveSite, startBrowser } from './support/browser.ts';
import { dist } from './support/dist.ts';

// `pnpm check site` builds the site first.
const browser = await orSkip(startBrowser);
const site = await serveSite();

const hour = 3_600_000;
/** Two hours of a small fleet, with a storm after half an hour. */
const morning = '#seed=7&processes=4&deploys=0&crashes=3&limit=150&hourly=0&incidents=storm.1800&at=7200';

// These run in the page.
const axe = readFileSync(new URL('../node_modules/axe-core/axe.min.js', import.meta.url), 'utf8');
const recordShifts = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => shifts.push(...list.getEntries().map(({ value }) => value)))
    .observe({ type: 'layout-shift', buffered: true });
`;
const paintTime = `
  performance.getEntriesByName('first-contentful-paint')[0].startTime;
`;
const isDark = `
  document.documentElement.classList.contains('dark');
`;
const focusedControl = `
  const control = document.activeElement;
  control?.closest('.live-budget') ? (control.getAttribute('name') ?? control.textContent.trim()) : '';
`;
/** Runs before the program of the worker. */
const sendsNoPicture = `
  const send = self.postMessage.bind(self);
  self.postMessage = (answer) => {
    if (answer.picture) throw new Error('broken');
    send(answer);
  };
`;

let page: Page;
/** The requests of the page to other hosts. */
const foreign: string[] = [];

async function openPage(): Promise<void> {
  if (browser) page = await browser.newPage({ reducedMotion: 'reduce' });
  page?.setDefaultTimeout(60_000);
  foreign.length = 0;
  page?.on('request', (request) => {
    const { protocol, origin } = new URL(request.url());
    if (protocol.startsWith('http') && origin !== site.origin) foreign.push(request.url());
  });
}
async function closePage(): Promise<void> {
  await page?.close();
  expect(foreign).toEqual([]);
}
function aPageForEachTest(): void {
  beforeEach(openPage);
  afterEach(closePage);
}
/** A browser loads the programs and the styles of all pages once. */
function onePageForAllTests(): void {
  beforeAll(openPage);
  afterAll(closePage);
}
afterAll(async () => {
  await browser?.close();
  site.close();
});

/** Opens the start page, and waits until its own day has come to the moment in the address. */
async function open(fragment: string): Promise<void> {
  await page.goto(site.url + fragment);
  await settled();
}

/** Waits until the page shows the moment that was asked for. */
async function settled(): Promise<void> {
  await page.locator('.live-budget[data-busy="false"]').waitFor();
}

async function fact(name: string): Promise<string> {
  return ((await page.locator(`[data-fact="${name}"]`).textContent()) ?? '').replaceAll(',', '');
}

const themes = ['light', 'dark'] as const;
type Theme = (typeof themes)[number];

async function showTheme(theme: Theme): Promise<void> {
  await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
  await expect.poll(() => page.evaluate<boolean>(isDark)).toBe(theme === 'dark');
}

/** What axe-core finds on the page that hinders people. */
async function seriousFaults(): Promise<string[]> {
  await page.evaluate(axe);
  const { violations } = await page.evaluate<AxeResults>(`axe.run({ resultTypes: ['violations'] })`);
  const serious = violations.filter(({ impact }) => impact === 'serious' || impact === 'critical');
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target).join(', ')}`);
}

async function faultsInBothThemes(): Promise<Partial<Record<Theme, string[]>>> {
  const faults: Partial<Record<Theme, string[]>> = {};
  for (const theme of themes) {
    await showTheme(theme);
    faults[theme] = await seriousFaults();
  }
  return faults;
}

/** Lives through the same day in this process, up to the moment that the page shows. */
async function sameDay(): Promise<Picture> {
  const now = Number(await page.locator('.live-budget').getAttribute('data-now'));
  const day = createDay(fromFragment(new URL(page.url()).hash));
  try {
    await day.runUntil(now);
    return await day.picture();
  } finally {
    day.end();
  }
}

/** The page shows what the providers of the same day have counted. */
async function expectSameDay(): Promise<Picture> {
  const { ours, naive, now, limit } = await sameDay();
  const shown = {
    'ours-issued': ours.spent,
    'ours-counted': `${ours.counted} of ${ours.usable}`,
    'ours-rejected': ours.rejected,
    'ours-refused': ours.refused,
    'ours-answered': ours.answered,
    'ours-failed': ours.failed,
    'naive-issued': naive.spent,
    'naive-rejected': naive.rejected,
    'naive-refused': naive.refused,
    'naive-answered': naive.answered,
    'naive-failed': naive.failed,
  };
  for (const [name, value] of Object.entries(shown)) expect(await fact(name), name).toBe(`${value}`);
  for (const [name, fleet] of Object.entries({ ours, naive })) {
    const panel = page.locator(`[data-fleet="${name}"]`);
    expect(await panel.locator('.slots g:not(.free)').count()).toBe(Math.min(limit, fleet.spent));
    expect(await panel.locator('.slots g').count()).toBe(limit);
    expect(await panel.locator('.processes li').count()).toBe(fleet.processes.length);
  }
  return { ours, naive, now, limit } as Picture;
}

describe.runIf(browser)('the start page', () => {
  aPageForEachTest();

  test('each slider changes the day, by keyboard', async () => {
    await open(morning);
    for (const [name, key] of [
      ['processes', 'ArrowRight'],
      ['deploys', 'ArrowRight'],
      ['crashes', 'ArrowLeft'],
    ] as const) {
      const before = page.url();
      await page.locator(`input[name="${name}"]`).press(key);
      await settled();
      expect(page.url(), name).not.toBe(before);
    }
    await expectSameDay();
  });

  test('the choices of the limits change the day', async () => {
    await open(morning);
    for (const [name, value] of [
      ['limit', '20'],
      ['hourly', '5'],
    ] as const) {
      await page.locator(`select[name="${name}"]`).selectOption(value);
      await settled();
      expect(page.url()).toContain(`${name}=${value}`);
      const { naive } = await expectSameDay();
      expect(naive.refusedAt, name).toBeDefined();
      expect(naive.lockedOutAt !== undefined, name).toBe(name === 'limit');
    }
  });

  test('another seed is another day', async () => {
    await open(morning);
    const answered = await fact('ours-answered');
    await page.locator('input[name="seed"]').fill('8');
    await page.locator('input[name="seed"]').press('Enter');
    await settled();
    expect(await fact('ours-answered')).not.toBe(answered);
    await expectSameDay();
  });

  test('a button for each incident lets it happen', async () => {
    await open(morning);
    for (const kind of incidentKinds) {
      await page.locator(`button[data-incident="${kind}"]`).click();
      await settled();
      expect(page.url()).toContain(`${kind}.7201`);
    }
    await page.locator('button[data-control="step"]').click();
    await settled();
    const { now } = await expectSameDay();
    expect(now).toBe(2 * hour + 60_000);
  });

  test('every control is reached and used by keyboard alone', async () => {
    await open(morning);
    const reached: string[] = [];
    await page.locator('h1').click();
    for (let count = 0; count < 70; count++) {
      await page.keyboard.press('Tab');
      const name = await page.evaluate<string>(focusedControl);
      // After the last control of the page comes the first one again.
      if (reached.includes(name)) break;
      if (name !== '') reached.push(name);
      if (name === '+1 min') await page.keyboard.press('Enter');
    }
    await settled();
    expect(reached).toEqual([
      'Replay the day',
      'Play',
      '+1 min',
      'speed',
      '150 a day',
      ...presets.map(({ name }) => name),
      'Copy link to this day',
      'Published limits',
      'Deploy',
      'Kill a process',
      '20 minutes of 401s',
      'Slow provider',
      'Store fails over',
      'processes',
      'deploys',
      'crashes',
      'limit',
      'hourly',
      'life',
      'seed',
      'the reserve',
      'What Service Auth reported last',
    ]);
    expect((await expectSameDay()).now).toBe(2 * hour + 60_000);
  });

  test('the page shows the picture of the afternoon, and loads no program until a reader plays the day', async () => {
    const workers: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes('/worker-')) workers.push(request.url());
    });
    await page.goto(site.url, { waitUntil: 'networkidle' });
    expect(await page.locator('.clock').textContent()).toBe('14:00');
    expect(workers).toEqual([]);
    await page.locator('button[data-control="replay"]').click();
    await expect.poll(() => page.locator('.clock').textContent()).not.toBe('14:00');
    expect(workers).toHaveLength(1);
  });

  test('the day plays, pauses and begins again', async () => {
    await page.goto(site.url);
    await page.locator('button[data-control="replay"]').click();
    await page.locator('button[data-control="play"]', { hasText: 'Pause' }).click();
    await settled();
    await expectSameDay();
    const paused = await page.locator('.clock').textContent();
    await page.locator('select[name="speed"]').selectOption('3600');
    await page.locator('button[data-control="play"]', { hasText: 'Play' }).press('Enter');
    await expect.poll(() => page.locator('.clock').textContent()).not.toBe(paused);
    await page.locator('select[name="speed"]').selectOption('1');
    await page.locator('button[data-control="replay"]').click();
    await expect.poll(() => page.locator('.clock').textContent()).toBe('00:00');
  });

  test('the limit of each provider is that of its page, and the link to a day shows the same day', async () => {
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await open(morning);
    const copies: { readonly name: string; readonly link: string; readonly shown: string }[] = [];
    for (const { name, source, settings } of presets) {
      await page.locator(`button[data-preset="${name}"]`).click();
      await settled();
      expect(fromFragment(new URL(page.url()).hash)).toMatchObject(settings);
      expect(await page.locator('.source a').getAttribute('href')).toBe(source);
      const { ours, naive } = await expectSameDay();
      expect(ours.refused).toBe(0);
      expect(naive.spent).toBeGreaterThan(ours.spent);
      await page.locator('button[data-control="copy"]').click();
      await page.getByText('Copied.').waitFor();
      const link = await page.evaluate<string>('navigator.clipboard.readText()');
      const shown = (await page.locator('.live-budget .poster').textContent()) ?? '';
      copies.push({ name, link, shown: shown.replace('Copied.', '') });
    }
    for (const { name, link, shown } of byDay(copies, ({ name }) => name === 'Zoho')) {
      await page.goto('about:blank');
      await page.goto(link);
      await page.locator('.live-budget[data-busy="false"][data-now="7200000"]').waitFor();
      expect(await page.locator('.live-budget .poster').textContent()).toBe(shown);
      expect(await page.locator(`button[data-preset="${name}"]`).getAttribute('aria-pressed')).toBe('true');
    }
  });

  test('a phone shows the code before the day, and a wide window has both in its first screen', async () => {
    const top = async (part: string) => (await page.locator(part).first().boundingBox())?.y ?? Number.NaN;
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(site.url);
    expect(await top('.start .code')).toBeLessThan(await top('.poster'));
    await page.setViewportSize({ width: 1440, height: 900 });
    expect(await top('.poster .fleets')).toBeLessThan(300);
    expect(await top('.start .code')).toBeLessThan(800);
  });

  test('a reader who follows a link to another day sees that day', async () => {
    await open(morning);
    await page.evaluate(`location.hash = '${morning.replace('at=7200', 'at=3600').replace('limit=150', 'limit=30')}'`);
    await page.locator('.live-budget[data-busy="false"][data-now="3600000"]').waitFor();
    expect((await expectSameDay()).limit).toBe(30);
    expect(await page.locator('select[name="limit"]').inputValue()).toBe('30');
  });

  test('an address with as many incidents as it holds takes no further one', async () => {
    await open(`#processes=1&at=60&incidents=${Array.from({ length: 50 }, () => 'crash.7200').join('_')}`);
    expect(await page.locator('button[data-incident]:disabled').count()).toBe(incidentKinds.length);
  });

  test('the page says so when its day cannot go on', async () => {
    await page.route('**/assets/worker-*.js', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: sendsNoPicture + (await response.text()) });
    });
    await page.goto(site.url);
    await page.locator('button[data-control="replay"]').click();
    await page.getByRole('alert').filter({ hasText: 'The day stopped: Error: broken.' }).waitFor();
  });

  test('the page says so when its program cannot be loaded', async () => {
    await page.route('**/assets/worker-*.js', (route) => route.abort());
    await page.goto(site.url);
    await page.locator('button[data-control="replay"]').click();
    await page.getByRole('alert').filter({ hasText: 'The day stopped' }).waitFor();
  });

  test('nothing moves while the page loads on a slow machine, and it takes less than 200 kB in 20 requests', async ({
    annotate,
  }) => {
    const { sentBytes, requests } = site;
    await page.addInitScript(recordShifts);
    const session = await page.context().newCDPSession(page);
    // What Lighthouse takes for a cheap phone and its network.
    await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
    await session.send('Network.emulateNetworkConditions', {
      offline: false,
      latency: 150,
      downloadThroughput: 1_638_400 / 8,
      uploadThroughput: 750_000 / 8,
    });
    await open('');
    const shifts = await page.evaluate<number[]>('shifts');
    expect(shifts.reduce((sum, value) => sum + value, 0)).toBeLessThan(0.01);
    const [sent, asked] = [site.sentBytes - sentBytes, site.requests - requests];
    expect(sent).toBeLessThan(200_000);
    expect(asked).toBeLessThanOrEqual(20);
    const paint = Math.round(await page.evaluate<number>(paintTime));
    await annotate(`First picture after ${paint} ms. The whole page: ${sent} bytes, ${asked} requests.`);
  });

  test('the picture of the afternoon needs no program: without scripts the page loads itself and its styles alone', async () => {
    const plain = await browser?.newPage({ javaScriptEnabled: false });
    const { sentBytes, requests } = site;
    await plain?.goto(site.url);
    await plain?.locator('[data-fleet="naive"] .slots').waitFor();
    expect(await plain?.locator('[data-fleet="naive"] .slots g:not(.free)').count()).toBe(150);
    expect(await plain?.locator('[data-fact="naive-issued"]').textContent()).toBe('150');
    expect(site.sentBytes - sentBytes).toBeLessThan(60_000);
    expect(site.requests - requests).toBeLessThanOrEqual(5);
    await plain?.close();
  });

  test('the choice of another life of a token changes the day', async () => {
    await open(morning.replace('at=7200', 'at=18000'));
    expect(await fact('ours-expired')).toBe('0');
    await page.locator('select[name="life"]').selectOption('1');
    await settled();
    expect(page.url()).toMatch(/[#&]life=1(&|$)/);
    expect(await fact('ours-expired')).toBe('3');
    await expectSameDay();
  });
});

describe.runIf(browser)('the start page on the afternoon of the default day', () => {
  onePageForAllTests();
  beforeAll(() => open('#at=50400'), 120_000);

  test('the naive client is locked out on the default day, and ours is not', async () => {
    const { ours } = await expectSameDay();
    expect(await fact('naive-issued')).toBe('150');
    await page.locator('[data-fleet="naive"] .outcome', { hasText: 'Locked out since 11:' }).waitFor();
    await page.locator('[data-fleet="ours"] .outcome', { hasText: 'No token was refused.' }).waitFor();
    expect(ours.counted).toBe(ours.slots.length);
  });

  test('axe-core finds nothing serious in either theme', async () => {
    await page.locator('details summary').click();
    expect(await faultsInBothThemes()).toEqual({ light: [], dark: [] });
  });

  test('on a narrow screen nothing is wider than the screen', async () => {
    await page.setViewportSize({ width: 360, height: 800 });
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBe(360);
  });
});

describe.runIf(browser)('the page about stores', () => {
  aPageForEachTest();

  /** The rows of the table that can be seen. */
  const visible = () => page.locator('.store-chooser tbody tr:visible').count();

  test('hides what does not fit, by keyboard, and says so to screen readers', async () => {
    await page.goto(`${site.url}choosing-a-store`);
    await page.locator('.store-chooser [role="status"]', { hasText: '12 of 12 rows fit.' }).waitFor();
    await page.locator('select[name="sharing"]').press('s');
    await page.locator('input[value="PostgreSQL"]').press('Space');
    await page.locator('.store-chooser [role="status"]', { hasText: '1 of 12 rows fit.' }).waitFor();
    expect(await visible()).toBe(1);
    await page.getByRole('button', { name: 'Show all' }).press('Enter');
    await expect.poll(visible).toBe(12);
    expect(await page.locator('input[value="PostgreSQL"]').isChecked()).toBe(false);
  });

  test('axe-core finds nothing serious in either theme', async () => {
    await page.goto(`${site.url}choosing-a-store`);
    await page.locator('.store-chooser [role="status"]', { hasText: 'rows fit' }).waitFor();
    expect(await faultsInBothThemes()).toEqual({ light: [], dark: [] });
  });

  test('without JavaScript the page has the table alone', async () => {
    const plain = await browser?.newPage({ javaScriptEnabled: false });
    await plain?.goto(`${site.url}choosing-a-store`);
    expect(await plain?.locator('.store-chooser tbody tr:visible').count()).toBe(12);
    expect(await plain?.locator('.store-chooser form').isVisible()).toBe(false);
    await plain?.close();
  });
});

/** Everything that people wrote: the reference has its form from one program. */
const written = globSync('**/*.html', { cwd: dist }).filter(
  (file) => !/^(reference|decisions)\//.test(file) && !(file.replace(/\.html$/, '') in redirects),
);

// These run in the page.
const clippedTables = `
  [...document.querySelectorAll('.vp-doc table')]
    .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth + 1)
    .map((table) => 'a clipped table: ' + table.textContent.trim().slice(0, 40))
`;
const wideParts = `
  [...document.querySelectorAll('main :is(p, li, td, img, h1, h2, h3)')]
    .filter((part) => part.offsetParent && !part.closest('pre, .live-budget, .visually-hidden, .terminal'))
    .filter((part) => part.getBoundingClientRect().right > innerWidth + 1)
    .map((part) => 'beyond the edge: ' + (part.textContent.trim() || part.src).slice(0, 40))
`;
const smallType = `
  [...document.querySelectorAll('main :is(p, li, td, th, code, figcaption)')]
    .filter((part) => part.offsetParent && parseFloat(getComputedStyle(part).fontSize) < 11)
    .map((part) => 'small type: ' + part.textContent.trim().slice(0, 40))
`;

const smallTerminals = `
  [...document.querySelectorAll('.terminal img')]
    .filter((image) => image.offsetParent && (image.width * 14) / image.naturalWidth < 11)
    .map((image) => 'a small terminal: ' + image.alt)
`;
const coveredParts = `
  [...document.querySelectorAll('.vp-doc, .vp-doc > div:not([class*="language-"]), .vp-doc details')].flatMap((parent) => {
    const parts = [...parent.children].filter((part) => part.offsetParent && !part.matches('.visually-hidden, summary'));
    return parts.slice(1).filter((part, index) => {
      const [above, below] = [parts[index], part].map((each) => each.getBoundingClientRect());
      return below.top < above.bottom - 2 && below.left < above.right && above.left < below.right;
    });
  }).map((part) => 'covers what is above: ' + part.textContent.trim().slice(0, 40))
`;
const cutCode = `
  [...document.querySelectorAll('.vp-doc pre')]
    .filter((code) => code.offsetParent && code.scrollWidth > code.clientWidth + 1)
    .map((code) => 'cut code: ' + code.textContent.split('\\n').toSorted((a, b) => b.length - a.length)[0])
`;

/** Neither the widths of the parts depend on the theme, nor the colours on the width. By day axe-core looks at every other page in the other view. */
const views = [
  { width: 1440, height: 900, theme: 'light', measures: [] },
  { width: 390, height: 844, theme: 'dark', measures: [smallTerminals] },
] as const;
const everywhere = [clippedTables, wideParts, smallType, coveredParts, cutCode];

describe.runIf(browser)('the layout', () => {
  onePageForAllTests();

  test.each([...written.entries()])(
    'of page %i, %s, cuts, covers and shrinks nothing, and axe-core finds nothing serious in the views that it examines',
    async (index, file) => {
      const faults: Record<number, string[]> = {};
      await page.goto(site.url + file.replace(/(?:(?<=\/|^)index)?\.html$/, ''), { waitUntil: 'load' });
      // The theme draws all pages, so by day axe-core examines every third one, in one view.
      const examined = byDay(views, (view) => index % 3 === 0 && view === views[index % views.length]);
      for (const view of views) {
        const { width, height, theme, measures } = view;
        await page.setViewportSize({ width, height });
        await showTheme(theme);
        const found = [...everywhere, ...measures].map((measure) => page.evaluate<string[]>(measure));
        faults[width] = (await Promise.all(found)).flat();
        if (examined.includes(view)) faults[width].push(...(await seriousFaults()));
      }
      expect(faults).toEqual({ 1440: [], 390: [] });
    },
  );
});

describe.runIf(browser)('the search', () => {
  onePageForAllTests();
  beforeAll(async () => {
    await page?.goto(`${site.url}upgrading`);
  });

  /** The first results for these words, best first. The page keeps the index. */
  async function found(words: string): Promise<string[]> {
    await page.getByRole('button', { name: 'Search' }).first().click();
    const results = page.locator('.VPLocalSearchBox .result');
    await page.locator('#localsearch-input').fill('');
    await expect.poll(() => results.count()).toBe(0);
    await page.locator('#localsearch-input').fill(words);
    await results.first().waitFor();
    const links = await results.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    await page.keyboard.press('Escape');
    return links.map((link) => link.slice(new URL(site.url).pathname.length));
  }

  test.each([
    ['share token between pods', 'choosing-a-store'],
    ['keycloak', 'servers#keycloak'],
    ['cognito', 'servers#amazon-cognito'],
    ['mock in tests', 'testing#with-mocks'],
    ['redis is down', 'packages/redis#questions'],
    ['rotate the secret', 'production#rotate-the-secret'],
    ['where did the tokens go', 'issuance-limits#where-did-the-150-go'],
    ['got', 'packages/got'],
    ['ky', 'packages/fetch#with-ky'],
    ['nestjs', 'packages/nestjs'],
    ['limit per hour', 'set-your-limit'],
    ['reserve', 'the-reserve'],
    ['75 of 150', 'the-reserve'],
    ['serverless', 'serverless'],
    ['noeviction', 'packages/redis'],
    ['forTesting', 'packages/nestjs#testing'],
    ['createTestClock', 'packages/testing#the-clock'],
    ['redisStore prefix', 'packages/redis'],
    ['vulnerability', 'project/security'],
    ['lifetimeMs', 'how-it-works#how-long'],
    ['logging', 'observability#logs'],
  ])('finds what answers: %s', async (words, answer) => {
    const results = await found(words);
    expect(results.slice(0, 4).filter((link) => link.startsWith(answer))).not.toEqual([]);
  });

  test('finds how to test code before how this code was tested', async () => {
    const links = await found('testing');
    const [first = 0, background = links.length] = ['testing#', 'reliability'].map((path) =>
      links.findIndex((link) => link.includes(path)),
    );
    expect(first).toBeGreaterThanOrEqual(0);
    expect(background === -1 || background > first).toBe(true);
  });
});

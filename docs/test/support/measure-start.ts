// Measures how soon the start page shows its first picture on a slow machine: `pnpm site:measure`. Build the site first.
import { serveSite, startBrowser } from './browser.ts';

const loads = 6;
const firstPaint = `new Promise((resolve) => {
  const found = (list) => list.getEntriesByName('first-contentful-paint').map(({ startTime }) => resolve(startTime));
  new PerformanceObserver(found).observe({ type: 'paint', buffered: true });
})`;

const site = await serveSite();
const browser = await startBrowser();
try {
  const paints: number[] = [];
  const busy: number[] = [];
  for (let load = 0; load < loads; load++) {
    paints.push((await measure(4)).paint);
    busy.push((await measure(1)).busy);
  }
  process.stdout.write(`Chromium ${browser.version()}, ${loads} loads each, in milliseconds
first picture, with the processor slowed down to a quarter: ${spread(paints)}
processor time of the main thread until the page is loaded, without scripts: ${spread(busy)}
`);
} finally {
  await browser.close();
  site.close();
}

/** Loads the start page in a new profile. `rate`: how many times slower the processor is; 1: without scripts, too. */
async function measure(rate: number): Promise<{ paint: number; busy: number }> {
  const context = await browser.newContext({ viewport: { width: 360, height: 640 }, javaScriptEnabled: rate > 1 });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.goto(site.url, { waitUntil: 'load' });
  const paint = rate > 1 ? await page.evaluate<number>(firstPaint) : 0;
  const { metrics } = await session.send('Performance.getMetrics');
  await context.close();
  return { paint, busy: 1_000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN) };
}

function spread(values: readonly number[]): string {
  return values
    .toSorted((a, b) => a - b)
    .map((value) => value.toFixed(0))
    .join(', ');
}

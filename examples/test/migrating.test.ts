import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { compilePage } from './support/compile.ts';
import { openShop, runRecipe } from './support/run-recipe.ts';

const page = readFileSync(new URL('../../docs/migrating.md', import.meta.url), 'utf8');

const program = (side: string) => `
import { listOrders } from './${side}.ts';

const succeeded = (results: PromiseSettledResult<unknown>[]) => results.filter(({ status }) => status === 'fulfilled').length;
console.log(succeeded(await Promise.allSettled(Array.from({ length: 10 }, () => listOrders()))));
await fetch(process.env.SERVICE_BASE_URL + '/api/v1/revocation', { method: 'POST' });
let later = 0;
for (let call = 1; call <= 10; call += 1) later += succeeded(await Promise.allSettled([listOrders()]));
console.log(later);
`;

const leftIn = 'an interceptor of your own';

/** The two sides of each diff, by the title of its section without "From". */
const diffs = [...page.matchAll(/^## From ([^\n]+)\n[^#]*?```diff\n(.*?)\n```/gms)].map(([, from = '', diff = '']) => {
  const side = (sign: '-' | '+') =>
    diff
      .split('\n')
      .filter((line) => line.startsWith(' ') || line.startsWith(sign))
      .map((line) => line.slice(1))
      .join('\n');
  const half = diff.replaceAll(/^[-+ ]/gm, '');
  return { from, before: side('-'), after: side('+'), ...(from === leftIn && { half }) };
});

/** The figures of the page: the first calls and the later calls that succeed, the tokens for the first calls and for all. */
const figures = new Map(
  [...page.matchAll(/^\| ([^|]+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$/gm)].map(([, name = '', ...numbers]) => [
    name,
    numbers.map(Number),
  ]),
);

const fileOf = (from: string, side: string) => `${from.replaceAll(' ', '-')}.${side}`;

let folder: string;

beforeAll(async () => {
  const versions = diffs.flatMap(({ from, before, after, half }) => [
    [fileOf(from, 'before'), before] as const,
    [fileOf(from, 'after'), after] as const,
    ...(half === undefined ? [] : [[fileOf(from, 'half'), half] as const]),
  ]);
  const sides = versions.map(([name, code]) => [`${name}.ts`, code] as const);
  const programs = versions.map(([name]) => [`${name}.program.ts`, program(name)] as const);
  folder = await compilePage(
    'migrating',
    new Map([...sides, ...programs]),
    programs.map(([file]) => file),
  );
}, 60_000);

test('the page has a diff and figures for each of the five', () => {
  expect(diffs.map(({ from }) => from)).toEqual([
    'an interceptor of your own',
    'axios-auth-refresh',
    'axios-oauth-client',
    'simple-oauth2',
    'a cache of your own',
  ]);
  expect([...figures.keys()]).toEqual([...diffs.map(({ from }) => from), 'Service Auth, after each diff']);
});

describe.each(diffs)('the diff from $from', ({ from }) => {
  test.each([
    ['before', from],
    ['after', 'Service Auth, after each diff'],
  ])('compiles, and costs %s it what the page says', async (side, row) => {
    const shop = await openShop();
    const { code, lines } = await runRecipe(join(folder, `${fileOf(from, side)}.program.mjs`), { shop });
    expect(code).toBe(0);
    const tokens = [shop.issuedBeforeRevocation, shop.service.counts.issued];
    expect([...lines.map(Number), ...tokens]).toEqual(figures.get(row));
  });
});

test('an interceptor that is left in costs as before, and causes one warning', async () => {
  const shop = await openShop();
  const { lines, complaint } = await runRecipe(join(folder, `${fileOf(leftIn, 'half')}.program.mjs`), { shop });
  expect([...lines.map(Number), shop.issuedBeforeRevocation, shop.service.counts.issued]).toEqual(figures.get(leftIn));
  const [, warning = 'no warning'] = /^\(node:4711\) (\[\w+\] ServiceAuthWarning: .*) …$/m.exec(page) ?? [];
  expect(complaint.split('ServiceAuthWarning')).toHaveLength(2);
  expect(complaint).toContain(warning.replace('https://api.example.com', shop.service.baseUrl));
});

import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { redirects } from '../.vitepress/redirects.ts';
import { dist, fileAt, readBase } from './support/dist.ts';

// `pnpm check site` builds it first.
const base = readBase();
const pages = new Map(
  globSync('**/*.html', { cwd: dist })
    .filter((file) => !(file.replace(/\.html$/, '') in redirects))
    .map((file) => [file, readFileSync(join(dist, file), 'utf8')]),
);
const styles = globSync('**/*.css', { cwd: dist }).map((file) => readFileSync(join(dist, file), 'utf8'));

const idsOf = new Map(
  [...pages].map(([file, html]) => [file, new Set([...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id))]),
);

/** Says where a link of a page or of its Markdown leads. Undefined: to another host. */
function targetOf(link: string, from: string): { file: string | undefined; id: string } | undefined {
  const here = new URL(base + from, 'http://site/');
  const { origin, pathname, hash } = new URL(link.replaceAll('&amp;', '&'), here);
  if (origin !== here.origin) return undefined;
  return { file: fileAt(pathname, base), id: decodeURIComponent(hash.slice(1)) };
}

test('the site has the pages of docs, packages and the reference', () => {
  expect(pages.size).toBeGreaterThan(60);
  for (const file of ['index.html', 'errors.html', 'packages/axios.html', 'reference/core-http.html']) {
    expect([...pages.keys()]).toContain(file);
  }
});

test('the search knows every page', () => {
  const [file = '', ...others] = globSync('assets/chunks/@localSearchIndex*.js', { cwd: dist });
  expect(others).toEqual([]);
  const index = readFileSync(join(dist, file), 'utf8');
  const unknown = [...pages.keys()]
    .filter((page) => page !== '404.html')
    .filter((page) => !index.includes(`"/${page.replace(/(?:(?<=\/|^)index)?\.html$/, '')}#`));
  expect(unknown).toEqual([]);
});

test('every link leads to a page or a file, and its anchor to an element', () => {
  const dead: string[] = [];
  for (const [file, html] of pages) {
    for (const [, href = ''] of html.matchAll(/<a\s[^>]*href="([^"]+)"/g)) {
      const target = targetOf(href, file);
      if (!target) continue;
      const ids = idsOf.get(target.file ?? '');
      if (target.file === undefined || (ids && target.id !== '' && !ids.has(target.id))) dead.push(`${file}: ${href}`);
    }
  }
  expect(dead).toEqual([]);
});

test('every former address of a page leads to the page that has its text now', () => {
  for (const [from, to] of Object.entries(redirects)) {
    const html = readFileSync(join(dist, `${from}.html`), 'utf8');
    const [, address = ''] = /http-equiv="refresh" content="0; url=([^"]+)"/.exec(html) ?? [];
    const target = targetOf(address, `${from}.html`);
    expect([...pages.keys()], `${from} leads to ${to}`).toContain(target?.file);
    if (target?.id) expect([...(idsOf.get(target.file ?? '') ?? [])], `${from} leads to ${to}`).toContain(target.id);
  }
});

test('every link of the Markdown leads to a page or a file, and its anchor to an element', () => {
  const dead: string[] = [];
  let checked = 0;
  for (const file of globSync('**/*.md', { cwd: dist })) {
    const text = readFileSync(join(dist, file), 'utf8').replace(/^(`{3,})[\s\S]*?^\1|`[^`\n]*`/gm, '');
    for (const [, target = ''] of text.matchAll(/\]\(([^)\s]+)\)/g)) {
      const found = targetOf(target, file);
      if (!found) continue;
      checked += 1;
      const ids = idsOf.get(found.file?.replace(/\.md$/, '.html') ?? '');
      if (found.file === undefined || (ids && found.id !== '' && !ids.has(found.id))) dead.push(`${file}: ${target}`);
    }
  }
  expect(checked).toBeGreaterThan(500);
  expect(dead).toEqual([]);
});

test('everything that a page loads is a file of the site', () => {
  const missing: string[] = [];
  for (const [file, html] of pages) {
    for (const [, address = ''] of html.matchAll(/<(?:script|img|link)\b[^>]*?\s(?:src|href)="(?!data:)([^"]+)"/g)) {
      if (targetOf(address, file)?.file === undefined) missing.push(`${file}: ${address}`);
    }
  }
  expect(missing).toEqual([]);
});

test('a page shows the tables that programs measured, and so does its Markdown', () => {
  for (const [page, row] of [
    ['http-clients', 'the port refuses the connection'],
    ['performance', 'one settled promise'],
  ]) {
    expect(pages.get(`${page}.html`)).toMatch(new RegExp(`<td data-label="[^"]*">${row}</td>`));
    expect(readFileSync(join(dist, `${page}.md`), 'utf8')).toContain(`| ${row} |`);
  }
});

test('no page loads anything from another host', () => {
  const foreign: string[] = [];
  for (const [file, html] of pages) {
    const loaded = /<(?:script|img|source|iframe|link)\b[^>]*?\s(?:src|srcset|href)="(?:https?:)?\/\/[^"]*"/g;
    for (const [found] of html.matchAll(loaded)) foreign.push(`${file}: ${found}`);
  }
  for (const css of styles) foreign.push(...(css.match(/(?:url\(|@import\s+)["']?(?:https?:)?\/\/[^)"']*/g) ?? []));
  expect(foreign).toEqual([]);
});

test('every page names the picture that other sites show beside a link', () => {
  expect(existsSync(join(dist, 'card.png'))).toBe(true);
  for (const html of pages.values()) expect(html).toMatch(/<meta property="og:image" content="http[^"]+\/card\.png">/);
});

test('every page has a description of its own, for search engines and previews of links', () => {
  const descriptions = new Map<string, string>();
  for (const [file, html] of pages) {
    if (file === '404.html') continue;
    const [, description = ''] = /<meta name="description" content="([^"]*)">/.exec(html) ?? [];
    expect(description.length, file).toBeGreaterThan(20);
    expect(descriptions.get(description), `${file} says the same`).toBeUndefined();
    descriptions.set(description, file);
    expect(html).toContain(`<meta property="og:description" content="${description}">`);
  }
});

/** The pages that a reader reaches from a page with so many clicks. */
function reached(from: string, clicks: number): ReadonlySet<string> {
  let found = new Set([from]);
  for (let click = 0; click < clicks; click++) {
    const links = [...found].flatMap((file) => {
      const hrefs = [...(pages.get(file) ?? '').matchAll(/<a\s[^>]*href="([^"]+)"/g)];
      return hrefs.map(([, href = '']) => targetOf(href, file)?.file);
    });
    found = new Set([...found, ...links.filter((file) => file !== undefined)]);
  }
  return found;
}

test.each([
  ['my pods each fetch a token', 'start/index.html', '4-share-the-token-between-processes'],
  ['how do I use it with Keycloak', 'servers.html', 'keycloak'],
  ['how do I test my code', 'testing.html', 'with-mocks'],
  ['what if Redis is down', 'packages/redis.html', 'questions'],
  ['how do I rotate the secret', 'production.html', 'rotate-the-secret'],
  ['where did the tokens go', 'issuance-limits.html', 'where-did-the-150-go'],
  ['does it work with ky', 'packages/fetch.html', 'with-ky-openapi-fetch-and-ofetch'],
  ['my limit is one per hour', 'set-your-limit.html', 'set-your-limit'],
  ['why are only 75 of 150 usable', 'the-reserve.html', 'the-reserve'],
  ['does it work with serverless functions', 'serverless.html', 'aws-lambda'],
])('two clicks lead from the start page and from README to an answer: %s', (_, file, id) => {
  expect([...(idsOf.get(file) ?? [])]).toContain(id);
  for (const first of ['index.html', 'project/overview.html']) expect([...reached(first, 2)]).toContain(file);
});

test('every error code has an anchor of its own', () => {
  const codes = [...(pages.get('errors.html') ?? '').matchAll(/<h3[^>]*><code>(ERR_\w+)<\/code>/g)].map(
    ([, code = '']) => code,
  );
  expect(codes.length).toBeGreaterThan(8);
  expect(codes.filter((code) => !idsOf.get('errors.html')?.has(code.toLowerCase()))).toEqual([]);
});

test('every page is there as Markdown too, and llms.txt and the sitemap list the pages', () => {
  const list = readFileSync(join(dist, 'llms.txt'), 'utf8');
  const sitemap = readFileSync(join(dist, 'sitemap.xml'), 'utf8');
  for (const file of pages.keys()) {
    if (file === '404.html') continue;
    const markdown = file.replace(/html$/, 'md');
    expect(existsSync(join(dist, markdown)), markdown).toBe(true);
    expect(list).toContain(`${base}${markdown})`);
    expect(sitemap).toContain(`${base}${file.replace(/(?:(?<=\/|^)index)?\.html$/, '')}</loc>`);
  }
});

test('core and the simulator take less than 60 kB in the page', () => {
  const [worker = '', ...others] = globSync('assets/worker-*.js', { cwd: dist });
  expect(others).toEqual([]);
  expect(gzipSync(readFileSync(join(dist, worker))).length).toBeLessThan(60_000);
});

test('every parameter in the reference has a name that a reader can write', () => {
  const nameless = [...pages].filter(([, html]) => html.includes('__namedParameters')).map(([file]) => file);
  expect(nameless).toEqual([]);
});

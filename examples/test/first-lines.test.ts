// The first lines that a reader copies: each tab of the page "Get started" and the first block of each client's page is compiled and run as it is.
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startTestService } from '@service-auth/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compilePage } from './support/compile.ts';

const run = promisify(execFile);
const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

const start = read('docs/start/index.md');
/** The part of the page about the client. The stores have a part of their own. */
const [, line = ''] = /^## 3\..*?\n(.*?)^## 4\./ms.exec(start) ?? [];
const tabs = [...line.matchAll(/^```ts \[([^\]]+)\]\n(.*?)^```$/gms)].map(
  ([, tab = '', code = '']) => [`tab ${tab}`, code] as const,
);
const pages = [
  'README.md',
  ...['axios', 'core', 'fetch', 'got', 'nestjs', 'undici'].map((name) => `packages/${name}/README.md`),
];
const blocks = pages.map((page) => [page, /^```ts\n(.*?)^```$/ms.exec(read(page))?.[1] ?? ''] as const);
const firstLines = [...tabs, ...blocks];

/** Starts the module that a block of Nest exports, and calls the API with its HttpService. */
const nestProgram = (module: string) => `
import 'reflect-metadata';
import { HttpService } from '@nestjs/axios';
import { NestFactory } from '@nestjs/core';
import { firstValueFrom } from 'rxjs';
import { AppModule } from './${module}';

const app = await NestFactory.createApplicationContext(AppModule, { logger: false });
await firstValueFrom(app.get(HttpService, { strict: false }).get('/api/v1/orders'));
await app.close();
`;

const nameOf = (name: string) => name.replace(/\W+/g, '-');
const isNest = (code: string) => code.includes('class AppModule');
const programOf = ([name, code]: readonly [string, string]) => `${nameOf(name)}${isNest(code) ? '.program' : ''}`;

let folder: string;

beforeAll(async () => {
  const sources = new Map<string, string>();
  for (const [name, code] of firstLines) {
    const here = code.replaceAll(/'https:\/\/api\.example\.com(\/[^']*)?'/g, '`$${process.env.SERVICE_BASE_URL}$1`');
    sources.set(`${nameOf(name)}.ts`, `${here}\nexport {};\n`);
    if (isNest(code)) sources.set(`${nameOf(name)}.program.ts`, nestProgram(`${nameOf(name)}.ts`));
  }
  folder = await compilePage(
    'first-lines',
    sources,
    firstLines.map((each) => `${programOf(each)}.ts`),
  );
}, 60_000);

test('there are tabs for seven clients', () => {
  expect(tabs.map(([name]) => name)).toEqual(
    ['axios', 'fetch', 'ky', 'got', 'undici', 'NestJS', 'another client'].map((name) => `tab ${name}`),
  );
});

const ownServers = [...start.matchAll(/^```sh \[([^\]]+)\]\n(SERVICE_.*?|#.*?)^```$/gms)].map(
  ([, tab = '', lines = '']) => [tab, lines] as const,
);
const servers = read('docs/servers.md');

test.each(ownServers)('the variables for %s set a limit, and are those of the page of servers', (tab, lines) => {
  const variables = lines.split('\n').filter((each) => each.startsWith('SERVICE_'));
  expect(variables.join('\n')).toMatch(/^SERVICE_AUTH_TOKEN_LIMIT=/m);
  const [, block = ''] = new RegExp(`^## (?:[\\w ]+ )?${tab}\n\n\`\`\`sh\n(.*?)^\`\`\`$`, 'ms').exec(servers) ?? [];
  if (tab === 'another provider') expect(block).toBe('');
  else expect(variables).toEqual(expect.arrayContaining(block.trim().split('\n')));
});

test.each(firstLines)('%s has at most eight lines of code', (_, code) => {
  expect(code.split('\n').filter((line) => line !== '').length).toBeLessThan(9);
});

test.each(firstLines)('%s calls the API with one token, and ends', { timeout: 30_000 }, async (name, code) => {
  const service = await startTestService();
  onTestFinished(() => service.close());
  const program = join(folder, `${programOf([name, code])}.mjs`);
  const { stderr } = await run(process.execPath, ['--conditions=@service-auth/source', program], {
    env: { ...process.env, ...service.env, XDG_CACHE_HOME: mkdtempSync(join(folder, 'cache-')) },
    timeout: 25_000,
  });
  expect(stderr).toBe('');
  expect(service.counts).toMatchObject({ issued: 1, rejected: 0, apiRequests: 1 });
  expect(service.apiRequests[0]).toMatchObject({ path: '/api/v1/orders', bearer: 'valid' });
});

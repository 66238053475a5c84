// The program of docs/production.md, with the lines of each store's page: it is compiled and run.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable } from '@service-auth/dynamodb';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { isNight } from '@service-auth/test-tools/night';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { freePort, type TestServer, until } from '@service-auth/test-tools/servers/server';
import { startTestService } from '@service-auth/testing';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { compilePage } from './support/compile.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** The application of the reader. */
const app = `
import type { RequestListener } from 'node:http';
import { attachServiceAuth } from '@service-auth/axios';
import type { ServiceAuth } from '@service-auth/core';
import axios from 'axios';
import express from 'express';

export function createApp(auth: ServiceAuth): RequestListener {
  const api = axios.create({ baseURL: process.env.SERVICE_BASE_URL });
  attachServiceAuth(api, auth);
  const app = express();
  app.get('/orders', async (_request, response) => {
    response.json((await api.get('/api/v1/orders')).data);
  });
  return app;
}
`;

const read = (page: string) => readFileSync(join(root, page), 'utf8');
const production = read('docs/production.md');
const [, program = ''] = /^```ts no-check[^\n]*\n(.*?)^```$/ms.exec(production) ?? [];
const afterAuth = program.slice(program.indexOf('const server ='));

/** The program with the lines of a store's page, and with what the table says of its end. */
function withStore(page: string): string {
  const [opening = ''] = [...read(page).matchAll(/^```ts[^\n]*\n(.*?)^```$/gms)].map(([, code = '']) => code);
  const auth = opening.indexOf('const auth =');
  const lines = opening.slice(0, opening.indexOf('\n', auth) + 1);
  const row = production.split('\n').find((line) => line.includes(`(../${page}) | `)) ?? '';
  const [, end = ''] = /\) \| (?:`([^`]+)`|nothing)/.exec(row) ?? [];
  return [
    "import { createServer } from 'node:http';",
    lines,
    "import { createApp } from './app.js';",
    afterAuth.replace(/client\.destroy\(\);.*/, end),
  ].join('\n');
}

const nameOf = (page: string) => page.replace(/\W+/g, '-');

type Variables = Record<string, string>;

async function started(start: () => Promise<TestServer>, variable: string) {
  const server = await start();
  onTestFinished(() => server.stop());
  return { server, variables: { [variable]: server.url } };
}

/** The store of a program: its server, if it has one, and the variables of its client. */
const stores: Readonly<Record<string, () => Promise<{ server?: TestServer; variables: Variables }>>> = {
  'docs/production.md': () => started(startRedis, 'REDIS_URL'),
  'packages/dynamodb/README.md': async () => {
    const { server } = await started(startDynalite, 'AWS_ENDPOINT_URL_DYNAMODB');
    const { region, credentials } = dynaliteClientSettings(server.url);
    const client = new DynamoDBClient(dynaliteClientSettings(server.url));
    await createTable(client);
    client.destroy();
    const { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY } = credentials;
    const AWS_ENDPOINT_URL_DYNAMODB = server.url;
    return {
      server,
      variables: { AWS_ENDPOINT_URL_DYNAMODB, AWS_REGION: region, AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY },
    };
  },
  'packages/file/README.md': async () => ({ variables: {} }),
  'packages/mysql/README.md': () => started(startMariadb, 'MYSQL_URL'),
  'packages/postgres/README.md': () => started(startPostgres, 'POSTGRES_URL'),
  'packages/redis/README.md': () => started(startRedis, 'REDIS_URL'),
  'packages/sqlite/README.md': async () => ({ variables: {} }),
};

/** The program of the page, and with each store of the table in it. */
const programs = Object.keys(stores).map((page) => ({
  page,
  code: page === 'docs/production.md' ? program : withStore(page),
}));

interface Replica {
  readonly url: string;
  readonly process: ChildProcess;
  readonly errors: Promise<string>;
  readonly ended: Promise<unknown[]>;
  get(): Promise<number>;
  listens(): Promise<boolean>;
}

/** Starts a program in a folder of the test, and waits until it listens. */
async function start(name: string, cwd: string, variables: Variables): Promise<Replica> {
  const port = await freePort();
  const child = spawn(process.execPath, ['--conditions=@service-auth/source', join(folder, `${name}.mjs`)], {
    cwd,
    env: { ...process.env, XDG_CACHE_HOME: cwd, ...variables, PORT: `${port}` },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = `http://127.0.0.1:${port}`;
  // No connection is kept, so that the end of the server waits for none.
  const ask = (path: string) => fetch(url + path, { headers: { connection: 'close' } });
  const listens = () =>
    ask('/').then(
      () => true,
      () => false,
    );
  const replica = {
    process: child,
    errors: text(child.stderr),
    ended: once(child, 'exit'),
    get: async () => (await ask('/orders')).status,
    url,
    listens,
  };
  await until(`${name} listens`, listens);
  return replica;
}

/** The program of a page, with its store and a service of its own. */
async function openProgram(page: string) {
  const cwd = temporaryFolder(join(tmpdir(), 'service-auth-shutdown-'));
  const { server, variables } = await (stores[page] as (typeof stores)[string])();
  const service = await startTestService();
  onTestFinished(() => service.close());
  return { server, service, start: () => start(nameOf(page), cwd, { ...service.env, ...variables }) };
}

let folder: string;

beforeAll(async () => {
  const sources = programs.map(({ page, code }) => [`${nameOf(page)}.ts`, code] as const);
  folder = await compilePage(
    'shutdown',
    new Map([['app.ts', app], ...sources]),
    sources.map(([file]) => file),
  );
}, 60_000);

test('the table has each store that a server can use, and no other page repeats the program', () => {
  const rows = [...production.matchAll(/\]\(\.\.\/(packages\/\w+\/README\.md)\) \| /g)].map(([, page = '']) => page);
  expect(['docs/production.md', ...rows.sort()]).toEqual(Object.keys(stores));
  const pages = globSync(['docs/*.md', 'packages/*/README.md'], { cwd: root });
  const ends = (page: string) =>
    [...read(page).matchAll(/^```ts.*?^```$/gms)].some(([code]) => code.includes("'SIGTERM'"));
  expect(pages.filter(ends)).toEqual(['docs/production.md']);
});

/** The replicas of a program besides the one whose store goes down. */
const others = isNight ? 4 : 2;

test.each(programs)(
  'the program of $page shares one token with its replicas, and each answers its open request after SIGTERM and ends with code 0, also while its store is down',
  { timeout: 60_000 },
  async ({ page }) => {
    const { server, service, start } = await openProgram(page);
    const all = await Promise.all(Array.from({ length: others + 1 }, start));
    const [survivor, ...replicas] = all as [Replica, Replica, ...Replica[]];
    const each = <Outcome>(outcome: Outcome) => replicas.map(() => outcome);
    expect(await Promise.all(all.map(({ get }) => get()))).toEqual(all.map(() => 200));
    expect(service.counts.issued).toBe(1);

    const [replica] = replicas;
    const paused = service.api.pauseNext();
    const last = replica.get();
    await paused.arrived;
    for (const { process: child } of replicas) child.kill('SIGTERM');
    await until('the server is closed', async () => !(await replica.listens()));
    paused.resume();
    expect(await last).toBe(200);
    expect(await Promise.all(replicas.map(({ ended }) => ended))).toEqual(each([0, null]));
    expect(await Promise.all(replicas.map(({ errors }) => errors))).toEqual(each(''));

    await server?.kill();
    survivor.process.kill('SIGTERM');
    expect(await survivor.ended).toEqual([0, null]);
  },
);

test('a client that asks all the time on one connection does not keep a program running', {
  timeout: 60_000,
}, async () => {
  const { start } = await openProgram('packages/file/README.md');
  const replica = await start();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  let isOver = false;
  const asking = (async () => {
    while (!isOver) {
      const answer = await once(get(`${replica.url}/orders`, { agent }), 'response').catch(() => undefined);
      if (!answer) return;
      await text(answer[0]);
    }
  })();
  onTestFinished(() => {
    isOver = true;
    agent.destroy();
  });
  replica.process.kill('SIGTERM');
  expect(await replica.ended).toEqual([0, null]);
  await asking;
});

test('all programs end in the same way', () => {
  const ends = programs.map(({ code }) => /process\.once\('SIGTERM'.*/s.exec(code)?.[0] ?? '');
  const own = /^ {4}(?!await auth\.close).*\n| *\/\/.*/gm;
  expect(new Set(ends.map((end) => end.replace(own, ''))).size).toBe(1);
});

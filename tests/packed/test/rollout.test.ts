import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { temporaryFolder } from '@service-auth/test-tools/end-with-this-process';
import { byDay } from '@service-auth/test-tools/night';
import { orSkip } from '@service-auth/test-tools/or-skip';
import { installPacked, linkInstalled } from '@service-auth/test-tools/packages/packed';
import { startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startMariadb } from '@service-auth/test-tools/servers/mariadb';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { run } from '@service-auth/test-tools/servers/tools';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Release, rollOut, type SharedStore } from '../rollout.ts';

const home = temporaryFolder(join(tmpdir(), 'service-auth-rollout-'));
const today: Release = { folder: join(home, 'today') };
/** A release that may follow: its rows have one more hint for people. */
const next: Release = { folder: join(home, 'next') };

const storesOfProgram = ['file', 'mysql', 'postgres', 'redis', 'sqlite'];

const hints = [
  [/overLimit,\s+until\s+\}/, "overLimit, until, region: 'north' }"],
  [/died: optional\(exactly\(true\)\),/, 'died: optional(exactly(true)), region: optional(text),'],
] as const;

beforeAll(async () => {
  for (const { folder } of [today, next]) {
    await installPacked(folder, [...storesOfProgram, 'cli', 'core', 'dynamodb', 'testing']);
    linkInstalled(folder, 'packages/mysql', ['mysql2']);
    linkInstalled(folder, 'packages/dynamodb', ['@aws-sdk/client-dynamodb']);
  }
  const dist = join(next.folder, 'node_modules/@service-auth/core/dist');
  for (const [passage, hint] of hints) {
    const files = globSync(join(dist, '**/*.js')).filter((file) => passage.test(readFileSync(file, 'utf8')));
    expect(files).toHaveLength(1);
    for (const file of files) writeFileSync(file, readFileSync(file, 'utf8').replace(passage, hint));
  }
}, 240_000);

async function openDynamoDb(): Promise<SharedStore & AsyncDisposable> {
  const server = await startDynalite();
  const env = {
    AWS_ENDPOINT_URL: server.url,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  };
  return { address: 'dynamodb:service-auth', env, [Symbol.asyncDispose]: () => server.stop() };
}

async function createDynamoDbTable({ env }: SharedStore): Promise<void> {
  const program = `import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
    import { createTable } from '@service-auth/dynamodb';
    await createTable(new DynamoDBClient({}));`;
  const argv = ['--input-type=module', '--eval', program];
  await run(process.execPath, argv, { cwd: today.folder, env: { ...process.env, ...env } });
}

type Open = () => Promise<SharedStore & AsyncDisposable>;
const folder = (name: string) => temporaryFolder(join(tmpdir(), `service-auth-rollout-${name}-`));
const local = (address: string): SharedStore & AsyncDisposable => ({ address, [Symbol.asyncDispose]: async () => {} });
const served =
  (start: () => Promise<{ url: string; stop(): Promise<void> }>): Open =>
  async () => {
    const server = await start();
    return { address: server.url, [Symbol.asyncDispose]: () => server.stop() };
  };

const stores: Readonly<Record<string, Open>> = {
  file: async () => local(`file:${folder('file')}`),
  sqlite: async () => local(`sqlite:${join(folder('sqlite'), 'tokens.db')}`),
  redis: served(startRedis),
  postgres: served(startPostgres),
  mysql: served(startMariadb),
  dynamodb: openDynamoDb,
};
/** A fleet of its own for each direction: a count of its own in one store. */
const directions = [
  ['an upgrade', today, next],
  ['a rollback', next, today],
] as const;

// By day the two that need no server.
for (const [name, open] of byDay(Object.entries(stores), ([name]) => name === 'file' || name === 'sqlite')) {
  for (const [direction, before, after] of directions) {
    const store = await orSkip(open);
    afterAll(() => store?.[Symbol.asyncDispose]());
    describe.runIf(store)(`${direction} over ${name}`, () => {
      test('costs no token, and both releases count the same', async () => {
        if (!store) return;
        if (name === 'dynamodb') await createDynamoDbTable(store);
        const records = await rollOut(before, after, store);
        const left =
          before === next
            ? { next: records.before, today: records.after }
            : { next: records.after, today: records.before };
        expect(left.next).toContain('"region":"north"');
        expect(left.today).not.toContain('region');
      });
    });
  }
}

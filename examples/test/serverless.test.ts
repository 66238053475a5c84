import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable as createDynamoDbTable } from '@service-auth/dynamodb';
import { createTable } from '@service-auth/postgres';
import { isNight } from '@service-auth/test-tools/night';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { freePort } from '@service-auth/test-tools/servers/server';
import { startUpstashFront } from '@service-auth/test-tools/servers/upstash';
import { startTestService } from '@service-auth/testing';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import type { Answered } from './support/call-function.ts';

type Variables = Record<string, string>;

async function dynamoDb(): Promise<Variables> {
  const server = await startDynalite();
  onTestFinished(() => server.stop());
  const { region, credentials } = dynaliteClientSettings(server.url);
  const client = new DynamoDBClient(dynaliteClientSettings(server.url));
  await createDynamoDbTable(client);
  client.destroy();
  return {
    AWS_ENDPOINT_URL_DYNAMODB: server.url,
    AWS_REGION: region,
    AWS_ACCESS_KEY_ID: credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
  };
}

async function redis(): Promise<Variables> {
  const server = await startRedis();
  onTestFinished(() => server.stop());
  return { REDIS_URL: server.url };
}

async function upstash(): Promise<Variables> {
  const { REDIS_URL = '' } = await redis();
  const front = await startUpstashFront(REDIS_URL);
  onTestFinished(() => front.close());
  return { UPSTASH_REDIS_REST_URL: front.url, UPSTASH_REDIS_REST_TOKEN: 'test' };
}

async function postgres(): Promise<Variables> {
  const server = await startPostgres();
  const pool = new Pool({ connectionString: server.url });
  await createTable(pool);
  await pool.end();
  onTestFinished(() => server.stop());
  return { NETLIFY_DATABASE_URL: server.url };
}

const program = fileURLToPath(new URL('support/call-function.ts', import.meta.url));

/** Starts an instance, and resolves when its module is loaded. */
async function start(file: string, env: NodeJS.ProcessEnv) {
  const child = fork(program, [fileURLToPath(new URL(`../serverless/${file}`, import.meta.url))], {
    execArgv: ['--conditions=@service-auth/source'],
    env: { ...process.env, ...env, PORT: `${await freePort()}` },
    // A library may warn that it is not on its platform.
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

/** Calls the function of an instance, which has `remainingMs` to answer. */
async function call(child: ChildProcess, remainingMs = 60_000): Promise<Answered> {
  child.send(remainingMs);
  const [answered] = await once(child, 'message');
  return answered as Answered;
}

const functions: Record<string, () => Promise<Variables>> = {
  'lambda.ts': dynamoDb,
  'vercel.ts': upstash,
  'netlify.ts': postgres,
  'deno-deploy.ts': upstash,
  'cloud-run.ts': redis,
  'azure-functions.ts': redis,
};

const coldStarts = isNight ? 5 : 2;

for (const [file, startStore] of Object.entries(functions)) {
  test(`${file}: ${coldStarts} cold starts at once cost one token, each is served, and users get 503 when there is no token, or when the API rejects all tokens`, {
    timeout: 120_000,
  }, async () => {
    const variables = await startStore();
    await using service = await startTestService();
    const env = { ...variables, ...service.env };
    const instances = await Promise.all(Array.from({ length: coldStarts }, () => start(file, env)));
    const answers = await Promise.all(instances.map((instance) => call(instance)));
    expect(answers.map(({ status }) => status)).toEqual(instances.map(() => 200));
    expect(service.counts).toMatchObject({ tokenRequests: 1, apiRequests: coldStarts, apiUnauthorized: 0 });
    const [first] = instances as [ChildProcess];
    const refused = await start(file, { ...env, SERVICE_AUTH_AUDIENCE: 'https://other.example/' });
    const log = text(refused.stdout as Readable);
    expect(await call(refused)).toEqual({ status: 503, retryAfter: expect.stringMatching(/^\d+$/) });
    refused.kill('SIGKILL');
    expect(await log).toContain('"type":"token_request_failed"');
    service.api.always({ status: 401 });
    // Nobody knows when the API accepts a token again.
    expect(await call(first)).toEqual({ status: 503, retryAfter: null });
    if (file !== 'cloud-run.ts') return;
    const ended = once(first, 'exit');
    first.disconnect();
    first.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
}

test('lambda.ts: a call that runs out of time answers 503, and logs the latest step of the client', {
  timeout: 120_000,
}, async () => {
  const variables = await dynamoDb();
  await using service = await startTestService();
  const child = await start('lambda.ts', { ...variables, ...service.env });
  const lines = text(child.stdout as Readable);
  expect(await call(child)).toMatchObject({ status: 200 });
  service.api.pauseNext();
  expect(await call(child, 1_500)).toEqual({ status: 503, retryAfter: '1' });
  child.kill('SIGKILL');
  const logged = (await lines)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  // The token was in memory, so the call waited for the API.
  expect(logged.at(-1)).toEqual({
    type: 'out_of_time',
    latest: expect.objectContaining({ type: 'acquisition_ended', outcome: 'issued' }),
  });
});

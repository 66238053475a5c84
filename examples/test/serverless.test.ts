import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable as createDynamoDbTable } from '@service-auth/dynamodb';
import { createTable } from '@service-auth/postgres';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startPostgres } from '@service-auth/test-tools/servers/postgres';
import { startRedis } from '@service-auth/test-tools/servers/redis';
import { freePort } from '@service-auth/test-tools/servers/server';
import { startUpstashFront } from '@service-auth/test-tools/servers/upstash';
import { startTestService } from '@service-auth/testing';
import { Pool } from 'pg';
import { expect, onTestFinished, test } from 'vitest';

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
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

const functions: Record<string, () => Promise<Variables>> = {
  'lambda.ts': dynamoDb,
  'vercel.ts': upstash,
  'netlify.ts': postgres,
  'deno-deploy.ts': upstash,
  'cloud-run.ts': redis,
  'azure-functions.ts': redis,
};

for (const [file, startStore] of Object.entries(functions)) {
  test(`${file}: five cold starts at once cost one token, and each is served`, { timeout: 120_000 }, async () => {
    const variables = await startStore();
    await using service = await startTestService();
    const instances = await Promise.all(Array.from({ length: 5 }, () => start(file, { ...variables, ...service.env })));
    const statuses = instances.map(async (child) => {
      child.send('call');
      const [status] = await once(child, 'message');
      return status;
    });
    expect(await Promise.all(statuses)).toEqual([200, 200, 200, 200, 200]);
    expect(service.counts).toMatchObject({ tokenRequests: 1, apiRequests: 5, apiUnauthorized: 0 });
    if (file !== 'cloud-run.ts') return;
    const [first] = instances;
    const ended = once(first as NonNullable<typeof first>, 'exit');
    first?.disconnect();
    first?.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  });
}

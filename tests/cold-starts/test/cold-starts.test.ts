import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createTable } from '@service-auth/dynamodb';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startTestService, type TestService } from '@service-auth/testing';
import { expect, onTestFinished, test } from 'vitest';
import { type Instances, type Outcome, startInstances } from '../src/instances.ts';

/** Instances that were started and not called, and the service that they ask. */
async function start(count: number, timeoutMs: number): Promise<{ service: TestService; instances: Instances }> {
  const server = await startDynalite();
  onTestFinished(() => server.stop());
  const dynamoDb = dynaliteClientSettings(server.url);
  const client = new DynamoDBClient(dynamoDb);
  await createTable(client);
  client.destroy();
  const service = await startTestService();
  onTestFinished(() => service.close());
  const { authUrl, audience, clientId, clientSecret } = service.options;
  const addresses = { authUrl: `${authUrl}`, audience, clientId, clientSecret: `${clientSecret}` };
  const instances = await startInstances(count, { ...addresses, dynamoDb, timeoutMs });
  onTestFinished(() => instances[Symbol.asyncDispose]());
  return { service, instances };
}

/** Calls an instance until it is served, as a platform does. Resolves with the token. */
async function served(instances: Instances, index: number, call: Promise<Outcome>): Promise<string> {
  let outcome = await call;
  // On a machine that is too busy a request takes too long, and its caller is told so.
  while (outcome.type === 'failed') outcome = await (instances.call([index])[0] as Promise<Outcome>);
  return outcome.tokenId;
}

const count = Number(process.env['COLD_STARTS'] ?? 60);

test(`${count} functions that start at once are all served by one token`, { timeout: 300_000 }, async () => {
  const { service, instances } = await start(count, 30_000);
  // The endpoint takes its time, as a real one does.
  service.tokenEndpoint.always(() => ({ delayMs: 300 }));
  const tokens = await Promise.all(instances.call().map((call, index) => served(instances, index, call)));
  expect(tokens).toHaveLength(count);
  expect(new Set(tokens).size).toBe(1);
  expect(service.counts).toMatchObject({ tokenRequests: 1, issued: 1 });
});

/** Stops the function that asks for the token, while its request waits for the answer. Resolves when all others were served. */
async function withoutSender(stop: 'freeze' | 'kill') {
  const { service, instances } = await start(10, 20_000);
  const request = service.tokenEndpoint.pauseNext();
  const sending = instances.sender();
  const calls = instances.call();
  for (const call of calls) call.catch(() => {});
  const sender = await sending;
  await request.arrived;
  instances[stop](sender);
  request.resume();
  const others = [...calls.keys()].filter((index) => index !== sender);
  const tokens = await Promise.all(others.map((index) => served(instances, index, calls[index] as Promise<Outcome>)));
  expect(new Set(tokens).size).toBe(1);
  expect(service.counts.tokenRequests).toBe(2);
  return { service, instances, sender, call: calls[sender] as Promise<Outcome>, token: tokens[0] };
}

test('a function that is killed or frozen while it asks costs one more token, and all others are served', {
  timeout: 180_000,
}, async () => {
  const [, frozen] = await Promise.all([withoutSender('kill'), withoutSender('freeze')]);
  const { service, instances, sender, call, token } = frozen;
  instances.thaw(sender);
  expect(await served(instances, sender, call)).toBe(token);
  expect(service.counts.tokenRequests).toBe(2);
});

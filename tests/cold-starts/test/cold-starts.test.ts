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

const failuresOf = (outcomes: readonly Outcome[]) => outcomes.filter(({ type }) => type === 'failed');
const tokensOf = (outcomes: readonly Outcome[]) =>
  new Set(outcomes.flatMap((outcome) => (outcome.type === 'answered' ? outcome.tokenId : [])));

test('200 functions that start at once are all served by one token', { timeout: 300_000 }, async () => {
  const { service, instances } = await start(200, 30_000);
  // The endpoint takes its time, as a real one does.
  service.tokenEndpoint.always(() => ({ delayMs: 300 }));
  const outcomes = await Promise.all(instances.call());
  expect(failuresOf(outcomes)).toEqual([]);
  expect(tokensOf(outcomes).size).toBe(1);
  expect(service.counts).toMatchObject({ tokenRequests: 1, issued: 1 });
});

/** Calls an instance until it is served, as a platform does. Resolves with the number of failures. */
async function served(instances: Instances, index: number, call: Promise<Outcome>): Promise<number> {
  for (let failures = 0; ; failures += 1) {
    const { type } = await (failures === 0 ? call : (instances.call([index])[0] as Promise<Outcome>));
    if (type === 'answered') return failures;
  }
}

/** Stops the function that asks for the token, while it waits for the answer. Returns what that cost, and when all others were served. */
async function withoutSender(stop: 'freeze' | 'kill') {
  const count = 10;
  const { service, instances } = await start(count, 5_000);
  service.tokenEndpoint.next({ delayMs: 1_000 });
  const sending = instances.sender();
  const calls = instances.call();
  for (const call of calls) call.catch(() => {});
  const sender = await sending;
  instances[stop](sender);
  const others = [...calls.keys()].filter((index) => index !== sender);
  const failures = await Promise.all(others.map((index) => served(instances, index, calls[index] as Promise<Outcome>)));
  return { service, instances, sender, call: calls[sender] as Promise<Outcome>, failures: Math.max(...failures) };
}

test('a function that is killed or frozen while it asks costs one more token, and all others are served', {
  timeout: 180_000,
}, async () => {
  const [killed, frozen] = await Promise.all([withoutSender('kill'), withoutSender('freeze')]);
  // On a machine that is too busy a request takes too long, and its caller is told so.
  expect(killed.service.counts.tokenRequests).toBeLessThanOrEqual(2 + killed.failures);
  const { service, instances, sender, call, failures } = frozen;
  instances.thaw(sender);
  const afterwards = await served(instances, sender, call);
  expect(service.counts.tokenRequests).toBeLessThanOrEqual(2 + failures + afterwards);
});

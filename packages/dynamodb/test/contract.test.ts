import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { movedByDate } from '@service-auth/test-support/store-time';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { storeContract } from '@service-auth/testing';
import { afterAll, describe, expect, test } from 'vitest';
import { createTable, dynamodbStore } from '../src/index.ts';

const server = await startDynalite();
const opened: DynamoDBClient[] = [];
afterAll(async () => {
  for (const client of opened) client.destroy();
  await server.stop();
});

function connect(): DynamoDBClient {
  const client = new DynamoDBClient(dynaliteClientSettings(server.url));
  opened.push(client);
  return client;
}

await createTable(connect());

describe('the contract of stores', () => {
  const another = async () => dynamodbStore(connect());
  const cases = storeContract(async () => ({ store: await another(), another, close: async () => {} }));
  for (const { name, run } of cases) test(name, run);
});

test('the clock of the store does not follow the Date of this process', async () => {
  expect(await movedByDate(dynamodbStore(connect()))).toBeLessThan(60_000);
});

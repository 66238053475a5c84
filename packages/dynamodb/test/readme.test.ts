import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { CreateTableCommand, type CreateTableCommandInput, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createServiceAuth } from '@service-auth/core';
import { dynaliteClientSettings, startDynalite } from '@service-auth/test-tools/servers/dynalite';
import { startTestService } from '@service-auth/testing';
import { expect, onTestFinished, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { createTable, dynamodbStore } from '../src/index.ts';
import { startFront } from './support/front.ts';

interface TerraformParser {
  parse(name: string, text: string): Promise<unknown>;
}

const require = createRequire(import.meta.url);
// Its own types would bring those of browsers into the whole repository.
const terraform = require('@cdktf/hcl2json') as TerraformParser;

const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

function blockOf(language: string): string {
  return new RegExp(`\`\`\`${language}\\n([^]*?)\`\`\``).exec(readme)?.[1] ?? '';
}

/** The input of CreateTable that the template of CloudFormation stands for: its properties have the same names. */
function ofCloudFormation(): CreateTableCommandInput {
  const { Resources } = parseYaml(blockOf('yaml'));
  expect(Resources.ServiceAuthTable.Type).toBe('AWS::DynamoDB::Table');
  return Resources.ServiceAuthTable.Properties;
}

interface TerraformTable {
  readonly name: string;
  readonly billing_mode: 'PAY_PER_REQUEST';
  readonly hash_key: string;
  readonly attribute: { readonly name: string; readonly type: 'S' }[];
}

/** The input of CreateTable that the configuration of Terraform stands for. */
async function ofTerraform(): Promise<CreateTableCommandInput> {
  const { resource } = (await terraform.parse('main.tf', blockOf('hcl'))) as {
    resource: { aws_dynamodb_table: { service_auth: [TerraformTable] } };
  };
  const [table] = resource.aws_dynamodb_table.service_auth;
  const { name, billing_mode, hash_key, attribute, ...others } = table;
  expect(others).toEqual({});
  return {
    TableName: name,
    BillingMode: billing_mode,
    AttributeDefinitions: attribute.map(({ name, type }) => ({ AttributeName: name, AttributeType: type })),
    KeySchema: [{ AttributeName: hash_key, KeyType: 'HASH' }],
  };
}

async function start(): Promise<{ client: DynamoDBClient; url: string }> {
  const server = await startDynalite();
  const client = new DynamoDBClient(dynaliteClientSettings(server.url));
  onTestFinished(async () => {
    client.destroy();
    await server.stop();
  });
  return { client, url: server.url };
}

test.each([
  ['CloudFormation', ofCloudFormation],
  ['Terraform', ofTerraform],
])('the table of %s is the one that the store uses by default', async (_, read) => {
  const { client } = await start();
  await client.send(new CreateTableCommand(await read()));
  // It finds the table, and waits until it can be used.
  await createTable(client);
  const store = dynamodbStore(client);
  expect(await store.swap('key', { version: '1', record: 'record' })).toMatchObject({ swapped: true });
  expect(await store.load('key')).toMatchObject({ version: '1', record: 'record' });
});

test('the policy allows the actions that the store asks for, and no other', async () => {
  const { Statement } = JSON.parse(blockOf('json')) as { Statement: [{ Action: string[]; Resource: string }] };
  const [{ Action, Resource }] = Statement;
  const direct = await start();
  await createTable(direct.client);
  const front = await startFront(direct.url);
  const client = new DynamoDBClient(dynaliteClientSettings(front.url));
  onTestFinished(() => client.destroy());
  await using service = await startTestService();
  for (let processes = 0; processes < 2; processes += 1) {
    await using auth = createServiceAuth({ ...service.options, store: dynamodbStore(client) });
    await auth.getToken();
    await auth.reset();
    await auth.getUsage();
  }
  await expect
    .poll(() => [...new Set(front.actions)].sort())
    .toEqual(Action.map((name) => name.replace('dynamodb:', '')).sort());
  expect(Action).toHaveLength(3);
  expect(Resource).toMatch(/:table\/service-auth$/);
});

import { GetItemCommand, type GetItemCommandOutput, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { Store } from '@service-auth/core';
import { adviceIfSilent, explainDynamoDb } from './advice.ts';
import { answerTimeOf } from './answer-time.ts';
import { type DynamoDbSender, nameOf, sent } from './calls.ts';
import { tableName, warningsOf } from './table.ts';

/** Options of {@link dynamodbStore}. */
export interface DynamoDbStoreOptions {
  /**
   * The name or ARN of the table. Its partition key is `key`, a string, and it has no sort key.
   * Default `service-auth`.
   */
  table?: string | undefined;
}

/** An item has 400 kB with the names of its attributes, its key and its version. */
const maxRecordBytes = 400_000;

/**
 * Keeps records in one table of DynamoDB, one item for each client of the service. `client` is a
 * client of the AWS SDK 3. Reads are consistent and writes conditional. `now` is the `Date` of the
 * answer, so it is up to a second behind. Both methods try again while DynamoDB throttles, and
 * reject if DynamoDB does not answer, or if the table is missing.
 * @throws TypeError if `client` has no `send()` or `table` is no valid name
 */
export function dynamodbStore(client: DynamoDbSender, options: DynamoDbStoreOptions = {}): Store {
  if (typeof client?.send !== 'function') {
    throw new TypeError('[service-auth/dynamodb] dynamodbStore(client) takes a DynamoDBClient of the AWS SDK 3.');
  }
  const TableName = tableName(options.table);
  let warnings: Promise<unknown> | string[] | undefined;

  return {
    durability: 'durable',
    name: `the DynamoDB table ${TableName}`,
    maxRecordBytes,
    adviceIfSilent,
    async load(key, { signal } = {}) {
      const command = new GetItemCommand({ TableName, Key: { key: { S: key } }, ConsistentRead: true });
      const now = answerTimeOf(command);
      const { Item } = await sent<GetItemCommandOutput>(client, command, signal).catch((error) =>
        explainDynamoDb(error, signal),
      );
      const [version, record] = [Item?.['version']?.S, Item?.['record']?.S];
      // Nobody waits for the warnings: the next load has them.
      warnings ??= warningsOf(client, TableName).then((found) => {
        warnings = found;
      });
      return { ...(Item && { version, record }), now: now(), warnings: Array.isArray(warnings) ? warnings : undefined };
    },
    async swap(key, { expected, version, record }, { signal } = {}) {
      // The condition also matches the new version, so a repeated change reports the same result as
      // the first one.
      const isExpected = expected === undefined ? 'attribute_not_exists(#version)' : '#version = :expected';
      const command = new PutItemCommand({
        TableName,
        Item: { key: { S: key }, version: { S: version }, record: { S: record } },
        ConditionExpression: `${isExpected} or #version = :next`,
        ExpressionAttributeNames: { '#version': 'version' },
        ExpressionAttributeValues: {
          ':next': { S: version },
          ...(expected !== undefined && { ':expected': { S: expected } }),
        },
      });
      const now = answerTimeOf(command);
      const swapped = await sent(client, command, signal).then(
        () => true,
        (error: unknown) =>
          nameOf(error) === 'ConditionalCheckFailedException' ? false : explainDynamoDb(error, signal),
      );
      return { swapped, now: now() };
    },
  };
}

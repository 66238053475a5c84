import {
  CreateTableCommand,
  DescribeTableCommand,
  type DescribeTableCommandOutput,
  type TableDescription,
  type TableStatus,
} from '@aws-sdk/client-dynamodb';
import { type DynamoDbSender, nameOf, sent } from './calls.ts';

/** The name of the table in the options, or the default. */
export function tableName(table: string = 'service-auth'): string {
  const isName = typeof table === 'string' && /^(arn:[\w-]+:dynamodb:[\w-]+:\d{12}:table\/)?[\w.-]{3,255}$/.test(table);
  if (isName) return table;
  throw new TypeError(
    '[service-auth/dynamodb] table must be a name of 3 to 255 letters, digits and _ . -, or the ARN of a table.',
  );
}

const pauseMs = 500;
/** Two minutes. A new table needs some seconds. */
const maxDescriptions = 240;

/**
 * Creates the table if it is missing, and waits until it can be used, two minutes at most: a
 * partition key `key`, a string, and billing by request. Several processes may call it at once.
 * Needs the actions `dynamodb:CreateTable` and `dynamodb:DescribeTable`.
 * @throws TypeError if `table` is no valid name
 * @throws Error if the table is not created in time, is being deleted or archived, or exists with
 * another key
 */
export async function createTable(client: DynamoDbSender, options: { table?: string | undefined } = {}): Promise<void> {
  const TableName = tableName(options.table);
  const command = new CreateTableCommand({
    TableName,
    BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
  });
  await sent(client, command, undefined).catch((error) => {
    if (nameOf(error) !== 'ResourceInUseException') throw error;
  });
  let status: TableStatus | undefined;
  for (let left = maxDescriptions; left > 0; left -= 1) {
    const table = await find(client, TableName);
    status = table?.TableStatus;
    if (status === 'ACTIVE' || status === 'UPDATING') return requireKey(TableName, table);
    if (status !== undefined && status !== 'CREATING') break;
    await new Promise((resolve) => setTimeout(resolve, pauseMs));
  }
  throw new Error(
    `[service-auth/dynamodb] The table ${TableName} cannot be used: its status is ${status ?? 'unknown'}. Look at it in the console, and call createTable() again.`,
  );
}

/** @throws Error if the table was created with another key */
function requireKey(name: string, { KeySchema = [], AttributeDefinitions = [] }: TableDescription = {}): void {
  const [{ AttributeName } = {}, ...others] = KeySchema;
  const isString = AttributeDefinitions.some((each) => each.AttributeName === 'key' && each.AttributeType === 'S');
  if (AttributeName === 'key' && isString && others.length === 0) return;
  throw new Error(
    `[service-auth/dynamodb] The table ${name} exists with another key. It must have the partition key 'key', a string, and no sort key. Name another table.`,
  );
}

/**
 * Undefined: DynamoDB does not find the table. Descriptions are eventually consistent, so this
 * happens also after the table was created.
 */
async function find(client: DynamoDbSender, name: string): Promise<TableDescription | undefined> {
  try {
    return (await describe(client, name)).Table;
  } catch (error) {
    if (nameOf(error) === 'ResourceNotFoundException') return undefined;
    throw error;
  }
}

function describe(
  client: DynamoDbSender,
  TableName: string,
  signal?: AbortSignal,
): Promise<DescribeTableCommandOutput> {
  return sent(client, new DescribeTableCommand({ TableName }), signal);
}

const inspectWithinMs = 2_000;

/**
 * Returns warnings about settings that endanger the record. A role may lack the right to describe
 * the table: then there is no warning.
 */
export async function warningsOf(client: DynamoDbSender, table: string): Promise<string[]> {
  const { Table } = await describe(client, table, AbortSignal.timeout(inspectWithinMs)).catch(() => ({
    Table: undefined,
  }));
  const { Replicas = [], MultiRegionConsistency } = Table ?? {};
  const isGlobal = Replicas.length > 0 && MultiRegionConsistency !== 'STRONG';
  const warning =
    'The table is a global table with eventual consistency: of two regions that write, the last one wins, so each of them issues the whole limit. Let one region write, and set issuanceLimit.reserve to half of the limit, or use strong consistency.';
  return isGlobal ? [warning] : [];
}

import type { Store } from '@service-auth/core';
import { AddressError, type OpenedStore, parametersOf } from './address.ts';
import { importFromHere, told } from './from-here.ts';

/**
 * `dynamodb:TABLE?region=`, also as `dynamodb://TABLE`. The table is a name or an ARN, by default
 * `service-auth`. Region and credentials are those of the AWS SDK. The store and the SDK are looked
 * for from the working directory. No command creates a table, which costs money.
 * @throws AddressError
 */
export async function openDynamoDbStore(address: string): Promise<OpenedStore> {
  const [place = '', query = ''] = address.slice('dynamodb:'.length).split('?', 2);
  const { region } = parametersOf(query, ['region']);
  const table = place.replace(/^\/\//, '') || 'service-auth';
  // Neither is a dependency, because npm would install the AWS SDK with this program.
  const { DynamoDBClient } = (await importFromHere('@aws-sdk/client-dynamodb')) as {
    DynamoDBClient: new (settings: { region?: string }) => object;
  };
  const { dynamodbStore } = (await importFromHere('@service-auth/dynamodb')) as {
    dynamodbStore(client: object, options: { table: string }): Store;
  };
  const client = await told('needs the package @aws-sdk/client-dynamodb, whose client cannot be created', () => {
    return new DynamoDBClient(region === undefined ? {} : { region });
  });
  const store = await told('needs the package @service-auth/dynamodb, whose store cannot be opened', () => {
    try {
      return dynamodbStore(client, { table });
    } catch (error) {
      if (/^\[service-auth\/dynamodb\] table /.test(Object(error).message)) return undefined;
      throw error;
    }
  });
  if (!store) throw new AddressError('must name a valid table: 3 to 255 letters, digits and _ . -, or its ARN');
  return { store, label: `dynamodb:${table}${region === undefined ? '' : ` (region ${region})`}` };
}

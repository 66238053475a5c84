export type { DynamoDbStoreOptions } from './dynamodb-store.ts';
export { dynamodbStore } from './dynamodb-store.ts';
export { createTable } from './table.ts';

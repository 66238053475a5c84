/**
 * Shares the token and the count in DynamoDB.
 *
 * @experimental It has run with dynalite, and not yet with DynamoDB.
 * @module
 */

export type { DynamoDbStoreOptions } from './dynamodb-store.ts';
export { dynamodbStore } from './dynamodb-store.ts';
export { createTable } from './table.ts';

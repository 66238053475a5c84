// AWS Lambda, with the record in DynamoDB: the handler is `lambda.handler`.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { dynamodbStore } from '@service-auth/dynamodb';
import { createAuthFetch } from '@service-auth/fetch';

// This runs once in each instance. A warm call finds the token in memory.
const auth = createServiceAuthFromEnv(process.env, {
  store: dynamodbStore(new DynamoDBClient()),
  instance: process.env['AWS_LAMBDA_LOG_STREAM_NAME']?.slice(-64),
  timeoutMs: 5_000,
});
const authFetch = createAuthFetch(auth);

interface Context {
  getRemainingTimeInMillis(): number;
}

export async function handler(_event: unknown, context: Context): Promise<{ statusCode: number; body: string }> {
  // The platform kills a function that takes too long. This ends the wait before that, with an error that can be answered.
  const signal = AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - 500));
  const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, { signal });
  return { statusCode: response.status, body: await response.text() };
}

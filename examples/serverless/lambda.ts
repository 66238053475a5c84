// AWS Lambda, with the record in DynamoDB: the handler is `lambda.handler`.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createServiceAuthFromEnv } from '@service-auth/core';
import { serviceUnavailable, tokenRejected } from '@service-auth/core/http';
import { dynamodbStore } from '@service-auth/dynamodb';
import { createAuthFetch } from '@service-auth/fetch';

// This runs once in each instance. A warm call finds the token in memory.
const auth = createServiceAuthFromEnv(process.env, {
  store: dynamodbStore(new DynamoDBClient()),
  instance: process.env['AWS_LAMBDA_LOG_STREAM_NAME']?.slice(-64),
  timeoutMs: 5_000, // longer than your token endpoint takes
  onEvent: (event) => console.log(JSON.stringify(event)),
});
const authFetch = createAuthFetch(auth);

// The latest step of the client. If a call runs out of time, this says what the call waited for.
let latest: object | undefined;
auth.subscribe(
  (event) => {
    latest = event;
  },
  { operations: true },
);

interface Context {
  getRemainingTimeInMillis(): number;
}

interface Answer {
  statusCode: number;
  headers?: Record<string, string>;
  body: string;
}

export async function handler(_event: unknown, context: Context): Promise<Answer> {
  // The platform kills a function that takes too long. This ends the wait before that, with an error that can be answered.
  const signal = AbortSignal.timeout(Math.max(0, context.getRemainingTimeInMillis() - 500));
  try {
    const response = await authFetch(`${process.env['SERVICE_BASE_URL']}/api/v1/orders`, { signal });
    if (response.status === 401) throw tokenRejected(); // The API rejects our token, not that of the user.
    return { statusCode: response.status, body: await response.text() };
  } catch (error) {
    if (signal.aborted) console.log(JSON.stringify({ type: 'out_of_time', latest }));
    const unavailable = serviceUnavailable(error);
    if (!unavailable && !signal.aborted) throw error;
    return {
      statusCode: 503,
      headers: unavailable?.headers ?? { 'retry-after': '1' },
      body: 'Please try again later.',
    };
  }
}

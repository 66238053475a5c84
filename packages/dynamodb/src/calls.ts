import { abortable } from '@service-auth/core/store';

/**
 * Sends commands to DynamoDB: a `DynamoDBClient`, a `DynamoDB`, or a `DynamoDBDocumentClient` of
 * the AWS SDK 3.
 */
export interface DynamoDbSender {
  send(command: never, options: never): Promise<unknown>;
}

/**
 * Errors of a request that was refused for now: DynamoDB has not executed it, or another request
 * for the item was under way.
 */
const busy = new Set([
  'ProvisionedThroughputExceededException',
  'ThrottlingException',
  'RequestLimitExceeded',
  'ReplicatedWriteConflictException',
  'TransactionConflictException',
  'InternalServerError',
  'ServiceUnavailable',
]);
const maxAttempts = 20;
const maxPauseMs = 400;

/**
 * Sends a command, and again while DynamoDB is busy, until `signal` aborts. The SDK tries three
 * times by itself, which is too little for a table that is throttled at a cold start; and it waits
 * for credentials, and between its attempts, without regard to the signal.
 */
export async function sent<Output>(
  client: DynamoDbSender,
  command: object,
  signal: AbortSignal | undefined,
): Promise<Output> {
  signal?.throwIfAborted();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return (await abortable(client.send(command as never, { abortSignal: signal } as never), signal)) as Output;
    } catch (error) {
      // The error of an aborted request is one of the SDK.
      signal?.throwIfAborted();
      if (attempt === maxAttempts || !busy.has(nameOf(error))) throw error;
      await pause(Math.random() * Math.min(maxPauseMs, 25 * 2 ** attempt), signal);
    }
  }
}

/** The name of an error of the SDK, which is the code of DynamoDB. */
export function nameOf(error: unknown): string {
  return String((error as { name?: unknown } | undefined)?.name);
}

async function pause(delayMs: number, signal: AbortSignal | undefined): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const over = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, delayMs);
  });
  await abortable(over, signal).finally(() => clearTimeout(timer));
}

// One instance of a function. Its module scope runs at the cold start, and its handler at each message.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createServiceAuth, isServiceAuthError } from '@service-auth/core';
import { dynamodbStore } from '@service-auth/dynamodb';
import type { dynaliteClientSettings } from '@service-auth/test-tools/servers/dynalite';

/** The options of an instance. */
export interface FunctionOptions {
  readonly authUrl: string;
  readonly dynamoDb: ReturnType<typeof dynaliteClientSettings>;
  readonly audience: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly timeoutMs: number;
}

/** The messages of an instance. */
export type FunctionMessage =
  /** Its module was loaded. */
  | { readonly type: 'loaded' }
  /** It sends a token request. */
  | { readonly type: 'sending' }
  | { readonly type: 'answered'; readonly tokenId: string; readonly ms: number }
  | { readonly type: 'failed'; readonly what: string; readonly ms: number };

const { dynamoDb, ...options } = JSON.parse(process.argv[2] ?? '') as FunctionOptions;
const say = (message: FunctionMessage) => process.send?.(message);
const auth = createServiceAuth({
  ...options,
  store: dynamodbStore(new DynamoDBClient(dynamoDb)),
});
auth.subscribe(
  (event) => {
    if (event.type === 'store_called' && event.operation === 'swap' && event.outcome === 'done')
      say({ type: 'sending' });
  },
  { operations: true },
);

async function handler(): Promise<void> {
  const from = performance.now();
  const ms = () => Math.round(performance.now() - from);
  try {
    const { id } = await auth.getToken();
    say({ type: 'answered', tokenId: id, ms: ms() });
  } catch (error) {
    const what = isServiceAuthError(error) ? `${error.code}: ${error.message}` : `${error}`;
    say({ type: 'failed', what, ms: ms() });
  }
}

process.on('message', handler);
process.on('disconnect', () => process.exit());
say({ type: 'loaded' });

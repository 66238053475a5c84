import { nameOf } from './calls.ts';

export const adviceIfSilent =
  'DynamoDB does not answer. A function in a VPC needs a gateway endpoint for DynamoDB, or a NAT gateway.';

const unreachable =
  'nothing answers at the address of the client. Check its region and endpoint: AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB and AWS_ENDPOINT_URL.';

const reset = 'the connection was reset. Check the proxy of the client, and whether the endpoint needs https.';

const noCredentials =
  'the client has no valid credentials. Give the function a role; elsewhere set AWS_PROFILE or run aws sso login.';

/** The advice by the name of an error, which is the code of DynamoDB, or by the code of Node. */
const advices: ReadonlyMap<unknown, string> = new Map<unknown, string>([
  [
    'ResourceNotFoundException',
    'the table is missing in this account and region; run createTable(client), or name another table.',
  ],
  ['AccessDeniedException', 'the role needs dynamodb:GetItem and dynamodb:PutItem on the table.'],
  ['ValidationException', "the table must have the partition key 'key', a string, and no sort key."],
  ['CredentialsProviderError', noCredentials],
  ['UnrecognizedClientException', noCredentials],
  ['ExpiredTokenException', noCredentials],
  ['TimeoutError', adviceIfSilent],
  ['ETIMEDOUT', adviceIfSilent],
  ['ECONNRESET', reset],
  ['EPIPE', reset],
  ['ECONNREFUSED', unreachable],
  ['ENOTFOUND', unreachable],
]);

/**
 * Throws the error with advice, if there is any. Core puts the name, the code and the advice into its own error, and nothing else. The reason of an
 * aborted `signal` stays as it is.
 */
export function explain(error: unknown, signal: AbortSignal | undefined): never {
  if (signal?.aborted) throw error;
  const { code, message } = Object(error) as { readonly code?: unknown; readonly message?: unknown };
  // The SDK gives this error no name of its own.
  if (message === 'Region is missing') {
    throw advised(
      'MissingRegion',
      undefined,
      'the client has no region; set AWS_REGION, or pass a region to the client.',
    );
  }
  const name = nameOf(error);
  // The SDK gives the name TimeoutError also to a connection that was reset, whose code says so.
  const advice = advices.get(code) ?? advices.get(name);
  throw advice === undefined ? error : advised(name, code, advice);
}

function advised(name: string, code: unknown, advice: string): Error {
  return Object.assign(new Error(`${name}: ${advice}`), { name, code, advice });
}

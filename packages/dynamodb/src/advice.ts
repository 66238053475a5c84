import { explain, type Reason } from '@service-auth/core/store';
import { nameOf } from './calls.ts';

export const adviceIfSilent =
  'DynamoDB does not answer. A function in a VPC needs a gateway endpoint for DynamoDB, or a NAT gateway.';

/**
 * The errors of DynamoDB alone, by their name, which is the code of DynamoDB, or by the code of
 * Node.
 */
const reasons: readonly Reason[] = [
  [
    'MissingTable',
    'the table is missing in this account and region; run createTable(client), or name another table.',
    'ResourceNotFoundException',
  ],
  ['MissingRights', 'the role needs dynamodb:GetItem and dynamodb:PutItem on the table.', 'AccessDeniedException'],
  ['OtherTable', "the table must have the partition key 'key', a string, and no sort key.", 'ValidationException'],
  [
    'MissingCredentials',
    'the client has no valid credentials. Give the function a role; elsewhere set AWS_PROFILE or run aws sso login.',
    'CredentialsProviderError UnrecognizedClientException ExpiredTokenException',
  ],
  [
    'LostConnection',
    'the connection was reset. Check the proxy of the client, and whether the endpoint needs https.',
    'ECONNRESET EPIPE',
  ],
  // The SDK gives the name TimeoutError also to a connection that was reset, whose code says so.
  ['SlowAnswer', adviceIfSilent, 'ETIMEDOUT TimeoutError'],
  [
    'Unreachable',
    'nothing answers at the address of the client. Check its region and endpoint: AWS_REGION, AWS_ENDPOINT_URL_DYNAMODB and AWS_ENDPOINT_URL.',
    'ECONNREFUSED ENOTFOUND',
  ],
  // The SDK gives this error no name of its own.
  [
    'MissingRegion',
    'the client has no region; set AWS_REGION, or pass a region to the client.',
    '',
    /Region is missing/,
  ],
];

/** Throws the error with a name and advice, if there is any. */
export function explainDynamoDb(error: unknown, signal: AbortSignal | undefined): never {
  const { code } = Object(error) as { readonly code?: unknown };
  const name = nameOf(error);
  explain(error, signal, reasons, code ?? (name === 'Error' ? undefined : name));
}

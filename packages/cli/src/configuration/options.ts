import { variables as variablesOfCore } from '@service-auth/core/record';
import type { Option, Options } from '../line/command.ts';

type Name =
  | 'auth-url'
  | 'token-endpoint'
  | 'issuer'
  | 'scope'
  | 'base-url'
  | 'audience'
  | 'client-id'
  | 'store'
  | 'token-limit'
  | 'reserve'
  | 'instance';

/** The options that stand for a variable of the environment. No secret has one: others can read arguments. */
export const variableOptions: Readonly<Record<Name, Option>> = {
  'auth-url': { value: 'URL', text: 'SERVICE_AUTH_URL: the host that issues tokens' },
  'token-endpoint': { value: 'URL', text: 'SERVICE_AUTH_TOKEN_ENDPOINT: in place of --auth-url, the whole address' },
  issuer: { value: 'URL', text: 'SERVICE_AUTH_ISSUER: the issuer, under which the fleet counts if it has one' },
  scope: { value: 'TEXT', text: 'SERVICE_AUTH_SCOPE: the scopes, separated by spaces' },
  'base-url': { value: 'URL', text: 'SERVICE_BASE_URL: the API' },
  audience: { value: 'TEXT', text: 'SERVICE_AUTH_AUDIENCE' },
  'client-id': { value: 'TEXT', text: 'SERVICE_AUTH_CLIENT_ID' },
  store: {
    value: 'ADDRESS',
    text: 'SERVICE_AUTH_STORE: file:DIRECTORY, redis://HOST, rediss://HOST, postgres://HOST/DATABASE, mysql://HOST/DATABASE, sqlite:FILE, dynamodb:TABLE, or the name of a package',
  },
  'token-limit': {
    value: 'LIMIT',
    text: 'SERVICE_AUTH_TOKEN_LIMIT: the tokens per 24 hours, or several limits such as 10/1h,50/24h; 300 requests if these count',
  },
  reserve: { value: 'NUMBER', text: 'SERVICE_AUTH_RESERVE: how many tokens to hold in reserve' },
  instance: { value: 'NAME', text: 'SERVICE_AUTH_INSTANCE: the name of this machine or job in the record' },
};

export const variables: Readonly<Record<Name, string>> = {
  'auth-url': variablesOfCore.authUrl,
  'token-endpoint': variablesOfCore.tokenEndpoint,
  issuer: variablesOfCore.issuer,
  scope: variablesOfCore.scope,
  'base-url': variablesOfCore.baseUrl,
  audience: variablesOfCore.audience,
  'client-id': variablesOfCore.clientId,
  store: variablesOfCore.store,
  'token-limit': variablesOfCore['issuanceLimit.tokens'],
  reserve: variablesOfCore['issuanceLimit.reserve'],
  instance: variablesOfCore.instance,
};

const envFile: Options = {
  'env-file': {
    value: 'FILE',
    multiple: true,
    text: 'Reads variables from a file, as node --env-file does. The environment wins over the file, and an option over both',
  },
};

/** The options of a command that only reads the record. */
export const readerOptions: Options = {
  'auth-url': variableOptions['auth-url'],
  'token-endpoint': variableOptions['token-endpoint'],
  issuer: variableOptions.issuer,
  'client-id': variableOptions['client-id'],
  store: variableOptions.store,
  'token-limit': variableOptions['token-limit'],
  reserve: variableOptions.reserve,
  ...envFile,
};

/** The options of a command that asks for tokens. */
export const configurationOptions: Options = {
  ...variableOptions,
  ...envFile,
};

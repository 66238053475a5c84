import { variables as variablesOfCore } from '@service-auth/core/record';
import type { Option, Options } from '../line/command.ts';

type Name = 'auth-url' | 'base-url' | 'audience' | 'client-id' | 'store' | 'token-limit' | 'reserve' | 'instance';

/** The options that stand for a variable of the environment. No secret has one: others can read arguments. */
export const variableOptions: Readonly<Record<Name, Option>> = {
  'auth-url': { value: 'URL', text: 'SERVICE_AUTH_URL: the host that issues tokens' },
  'base-url': { value: 'URL', text: 'SERVICE_BASE_URL: the API' },
  audience: { value: 'TEXT', text: 'SERVICE_AUTH_AUDIENCE' },
  'client-id': { value: 'TEXT', text: 'SERVICE_AUTH_CLIENT_ID' },
  store: {
    value: 'ADDRESS',
    text: 'SERVICE_AUTH_STORE: file:DIRECTORY, redis://HOST, rediss://HOST, postgres://HOST/DATABASE, mysql://HOST/DATABASE, sqlite:FILE, dynamodb:TABLE, or the name of a package',
  },
  'token-limit': {
    value: 'LIMIT',
    text: 'SERVICE_AUTH_TOKEN_LIMIT: the tokens per 24 hours, or several limits such as 10/1h,50/24h',
  },
  reserve: { value: 'NUMBER', text: 'SERVICE_AUTH_RESERVE: the tokens that nobody plans with' },
  instance: { value: 'NAME', text: 'SERVICE_AUTH_INSTANCE: the name of this machine or job in the record' },
};

export const variables: Readonly<Record<Name, string>> = {
  'auth-url': variablesOfCore.authUrl,
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

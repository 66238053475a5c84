import { variables as variablesOfCore } from '@service-auth/core/record';
import type { Option, Options } from '../line/command.ts';

/** Each option that stands for a variable: the option of core, and what its help adds. */
const table = {
  'auth-url': ['authUrl', 'URL', ': the host that issues tokens'],
  'token-endpoint': ['tokenEndpoint', 'URL', ': in place of --auth-url, the whole address'],
  issuer: ['issuer', 'URL', ': the issuer, under which the fleet counts if it has one'],
  scope: ['scope', 'TEXT', ': the scopes, separated by spaces'],
  scheme: ['scheme', 'WORD', ': what precedes the token in the header Authorization, in place of Bearer'],
  'token-types': [
    'recognizedTokenTypes',
    'LIST',
    ': further values of token_type that mean Bearer, separated by commas',
  ],
  lifetime: ['lifetimeMs', 'TIME', ': the longest lifetime of a token that is believed, such as 50m'],
  'base-url': ['baseUrl', 'URL', ': the API'],
  audience: ['audience', 'TEXT', ''],
  'client-id': ['clientId', 'TEXT', ''],
  store: [
    'store',
    'ADDRESS',
    ': file:DIRECTORY, redis://HOST, rediss://HOST, postgres://HOST/DATABASE, mysql://HOST/DATABASE, sqlite:FILE, dynamodb:TABLE, or the name of a package',
  ],
  'token-limit': [
    'issuanceLimit.tokens',
    'LIMIT',
    ': the tokens per 24 hours, or several limits such as 10/1h,50/24h; 300 requests if these count',
  ],
  reserve: ['issuanceLimit.reserve', 'NUMBER', ': how many tokens to hold in reserve'],
  instance: ['instance', 'NAME', ': the name of this machine or job in the record'],
} as const;

type Name = keyof typeof table;

export const variables: Readonly<Record<Name, string>> = each(([key]) => variablesOfCore[key]);

/** No secret has an option: others can read arguments. */
export const variableOptions: Readonly<Record<Name, Option>> = each(
  ([key, value, text]): Option => ({ value, text: `${variablesOfCore[key]}${text}` }),
);

function each<Value>(create: (row: (typeof table)[Name]) => Value): Readonly<Record<Name, Value>> {
  return Object.fromEntries(Object.entries(table).map(([name, row]) => [name, create(row)])) as Record<Name, Value>;
}

/** The options of a command that asks for tokens. */
export const configurationOptions: Options = {
  ...variableOptions,
  'env-file': {
    value: 'FILE',
    multiple: true,
    text: 'Reads variables from a file, as node --env-file does. The environment wins over the file, and an option over both',
  },
};

const ofReaders = ['auth-url', 'token-endpoint', 'issuer', 'client-id', 'store', 'token-limit', 'reserve', 'env-file'];

/** The options of a command that only reads the record. */
export const readerOptions: Options = Object.fromEntries(
  Object.entries(configurationOptions).filter(([name]) => ofReaders.includes(name)),
);

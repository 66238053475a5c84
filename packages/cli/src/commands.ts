import { configurationOptions, readerOptions } from './configuration/options.ts';
import type { Command } from './line/command.ts';

/** The options and the help of the whole program. */
export const everywhere: Command = {
  name: '',
  summary:
    'service-auth: one access token and one budget for all programs that share a store. The operator issues only so\nmany tokens a day; this program gets one, shows where the others went, and repairs.',
  details: `  SERVICE_AUTH_URL            the host that issues tokens (--auth-url)
  SERVICE_BASE_URL            the API (--base-url)
  SERVICE_AUTH_AUDIENCE, SERVICE_AUTH_CLIENT_ID
  SERVICE_AUTH_CLIENT_SECRET  or SERVICE_AUTH_CLIENT_SECRET_FILE, a file that contains it
  SERVICE_AUTH_STORE          file:DIRECTORY, redis://…, rediss://…, postgres://…; default: file:, in your cache directory`,
  options: {
    help: { short: 'h', text: 'Shows the help of the program or of a command' },
    version: { short: 'V', text: 'Shows the version' },
  },
  examples: [
    ['See where the tokens of the last 24 hours went', 'service-auth usage'],
    ['Call the API', 'service-auth token --format header | curl -H @- https://api.example.com/api/v1/orders'],
  ],
  load: () => Promise.reject(new Error('no command')),
};

export const commands: readonly Command[] = [
  {
    name: 'token',
    summary: 'Prints an access token, from the store or, if it has none, from the token endpoint',
    details:
      'Any number of processes that ask at the same time cost one token. Standard output has the token and nothing else. Exit codes: 4 if the credentials were rejected; 75 if the budget is spent or the endpoint answers 429: standard error then has a line of JSON with code and retryAt.',
    options: {
      format: { short: 'f', value: 'FORMAT', text: 'raw (default), header, env, json, or exec-credential for kubectl' },
      ...configurationOptions,
    },
    examples: [
      ['Call the API', 'service-auth token --format header | curl -H @- https://api.example.com/api/v1/orders'],
      ['Set SERVICE_AUTH_TOKEN in a shell script', 'eval "$(service-auth token --format env)"'],
    ],
    load: () => import('./commands/token.ts'),
  },
  {
    name: 'curl',
    summary: 'Runs curl with the token, for an address of the API',
    details:
      'PATH is appended to the base URL; a whole address must lie under it. curl gets the token through a pipe, so no list of processes shows it. The exit code is that of curl, or 2 if the address is not under the base URL.',
    operands: ['PATH'],
    rest: 'OPTIONS OF CURL',
    options: { ...configurationOptions },
    examples: [
      ['Read', 'service-auth curl /api/v1/orders'],
      ['Write', `service-auth curl /api/v1/orders -- --fail --json '{"item":1}'`],
    ],
    load: () => import('./commands/curl.ts'),
  },
  {
    name: 'record export',
    summary: 'Prints the record as it is stored, to keep or to move it',
    details: 'Tokens in it are encrypted. It needs no client secret.',
    options: { ...readerOptions },
    examples: [
      ['Keep a copy', 'service-auth record export > record.txt'],
      [
        'Move it to another store, while nothing uses either of them',
        'service-auth record export --store redis://old | service-auth record import - --store postgres://new/db',
      ],
    ],
    load: () => import('./commands/record-export.ts'),
  },
  {
    name: 'record import',
    summary: 'Writes an exported record into a store that has none',
    operands: ['FILE'],
    details:
      'FILE is - for standard input. If the store has a record already, the command changes nothing and ends with 1.',
    options: { ...readerOptions },
    examples: [
      ['Restore a copy', 'service-auth record import record.txt'],
      ['Into another store', 'service-auth record import record.txt --store postgres://db.internal/app'],
    ],
    load: () => import('./commands/record-import.ts'),
  },
  {
    name: 'record discard',
    summary: 'Replaces the record by an empty one',
    details:
      'For a record that is damaged, or of a client that is no longer used. The operator still counts the tokens of the last 24 hours. Processes that run put back what they remember within 30 seconds.',
    options: { yes: { text: 'Does not ask' }, ...readerOptions },
    examples: [
      ['Keep a copy first', 'service-auth record export > record.txt && service-auth record discard'],
      ['Without a question', 'service-auth record discard --yes'],
    ],
    load: () => import('./commands/record-discard.ts'),
  },
  {
    name: 'mock',
    summary: 'Runs the service on this machine, for trying and for tests',
    details:
      'Prints the variables to export once it listens, and a line on standard error for each request. Answers are statuses such as 503, or cut: the connection breaks after the token was issued. Each is for one request, in order; the last one stands if * follows it: 503,401*.',
    options: {
      port: { short: 'p', value: 'NUMBER', text: 'The port on 127.0.0.1. Default: a free one' },
      limit: { value: 'NUMBER', text: 'The tokens per 24 hours. Default 150' },
      'token-lifetime': { value: 'DURATION', text: 'How long a token lives, such as 90s. Default 24h' },
      'token-answers': { value: 'LIST', text: 'Answers of the token endpoint to the next requests: 503,429,cut' },
      'api-answers': { value: 'LIST', text: 'Answers of the API to the next requests: 401*' },
    },
    examples: [
      ['In one terminal', 'service-auth mock > mock.env'],
      ['In another one', 'service-auth token --env-file mock.env --store file:./try'],
    ],
    load: () => import('./commands/mock.ts'),
  },
];

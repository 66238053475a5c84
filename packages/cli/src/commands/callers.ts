import { configurationOptions } from '../configuration/options.ts';
import type { Command } from '../line/command.ts';

/** The commands that get a token, and the one that calls the API with it. */
export const callers: readonly Command[] = [
  {
    name: 'token',
    summary: 'Prints an access token, from the store or, if it has none, from the token endpoint',
    details:
      'Any number of processes that ask at the same time cost one token. Standard output has the token and nothing else. Exit codes: 4 if the credentials were rejected; 75 if the budget is spent or the endpoint answers 429: standard error then has a line of JSON with code and retryAt.',
    options: {
      format: { short: 'f', value: 'FORMAT', text: 'raw (default), header, env, json, or exec-credential for kubectl' },
      'min-life': {
        value: 'DURATION',
        text: 'Renews a token that lives for less than this, such as 10m. If none lives longer, prints it with a warning',
      },
      ...configurationOptions,
    },
    examples: [
      ['Call the API', 'service-auth token --format header | curl -H @- https://api.example.com/api/v1/orders'],
      ['Set SERVICE_AUTH_TOKEN in a shell script', 'eval "$(service-auth token --format env)"'],
    ],
    load: () => import('./token.ts'),
  },
  {
    name: 'curl',
    summary: 'Runs curl with the token, for an address of the API',
    details:
      'PATH is appended to the base URL; a whole address must lie under it. curl gets the token through a pipe, so no list of processes shows it. The exit code is that of curl, or 2 if the address is not under the base URL or an option could send the token elsewhere.',
    operands: ['PATH'],
    rest: 'OPTIONS OF CURL',
    options: { ...configurationOptions },
    examples: [
      ['Read', 'service-auth curl /api/v1/orders'],
      ['Write', `service-auth curl /api/v1/orders -- --fail --json '{"item":1}'`],
    ],
    load: () => import('./curl.ts'),
  },
];

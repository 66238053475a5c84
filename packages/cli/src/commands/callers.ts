import { configurationOptions } from '../configuration/options.ts';
import type { Command } from '../line/command.ts';

/** The command that gets a token. */
export const callers: readonly Command[] = [
  {
    name: 'token',
    summary: 'Prints an access token, from the store or, if it has none, from the token endpoint',
    details:
      'Any number of processes that ask at the same time cost one token. Standard output has the token and nothing else. Exit codes: 4 if the credentials were rejected; 75 if the budget is spent or the endpoint limits the rate of requests: standard error then has a line of JSON with code and retryAt.',
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
];

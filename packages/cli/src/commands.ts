import { configurationOptions, readerOptions, variableOptions } from './configuration/options.ts';
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
      'min-life': {
        value: 'DURATION',
        text: 'Renews a token that lives for less than this, such as 10m. If that is refused, prints it with a warning',
      },
      ...configurationOptions,
    },
    examples: [
      ['Call the API', 'service-auth token --format header | curl -H @- https://api.example.com/api/v1/orders'],
      ['Set SERVICE_AUTH_TOKEN in a shell script', 'eval "$(service-auth token --format env)"'],
    ],
    load: () => import('./commands/token.ts'),
  },
  {
    name: 'usage',
    summary: 'Shows where the tokens went: budget, forecast, who spent what and why',
    details: 'It reads the store and needs no client secret. Without a terminal it prints plain text, 80 columns wide.',
    options: {
      json: { text: 'Prints JSON; instants are ISO 8601. docs/usage.schema.json describes it' },
      watch: { text: 'Shows it again every 2 seconds, until Ctrl-C' },
      ...readerOptions,
    },
    examples: [
      ['Look', 'service-auth usage --store redis://cache.internal'],
      ['Which instances spent most?', "service-auth usage --json | jq -r '.issuances[].instance' | sort | uniq -c"],
    ],
    load: () => import('./commands/usage.ts'),
  },
  {
    name: 'explain',
    summary: 'Says in sentences why the tokens were spent, and what to do',
    details: 'It needs no client secret. If the record does not show a cause that it knows, it says so.',
    options: { audience: variableOptions.audience, ...readerOptions },
    examples: [
      ['Why is the budget spent?', 'service-auth explain'],
      ['In the store of another cluster', 'service-auth explain --store postgres://db.other/app'],
    ],
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'check',
    summary: 'Prints one line for monitoring and ends with 0, 1, 2 or 3, as a plug-in of Nagios does',
    details:
      'OK, WARNING, CRITICAL or UNKNOWN, with performance data. It is CRITICAL whenever a caller without a token is refused, and UNKNOWN if the store cannot be read or the configuration is wrong. It never spends a token and needs no client secret.',
    options: {
      warn: { short: 'w', value: 'PERCENT', text: 'WARNING from this share of the usable tokens on. Default 80%' },
      crit: { short: 'c', value: 'PERCENT', text: 'CRITICAL from this share on. Default 95%' },
      ...readerOptions,
    },
    examples: [
      ['With the default thresholds', 'service-auth check'],
      ['In a definition of Nagios', 'service-auth check --warn 70% --crit 90% --env-file /etc/service-auth.env'],
    ],
    load: () => import('./commands/check.ts'),
  },
  {
    name: 'doctor',
    summary: 'Goes through configuration, store, token endpoint and API, and says what is wrong and what to do',
    details:
      'Each line is ok, warning or failure; the exit code is 1 if one is a failure. It sends no credentials and spends no token, except with --issue. It works without the client secret.',
    options: {
      json: { text: 'Prints JSON' },
      issue: { text: 'Gets a token, too. It costs one if the store has none' },
      ...configurationOptions,
    },
    examples: [
      ['Why does this pod get no token?', 'service-auth doctor'],
      ['Are the credentials right?', 'service-auth doctor --issue'],
    ],
    load: () => import('./commands/doctor.ts'),
  },
  {
    name: 'reset',
    summary: 'Ends the token of an audience for the whole fleet: it leaked, or the API must not see it again',
    details:
      'Within 30 seconds nobody uses the token any more; the next one costs a token of the limit. The reason is kept in the record. The exit code is 1 if there was nothing to reset.',
    options: {
      reason: { value: 'TEXT', text: 'Why: usage shows it to others' },
      yes: { text: 'Does not ask' },
      ...configurationOptions,
    },
    examples: [
      ['After a leak', "service-auth reset --audience https://api.example.com/ --reason 'in the log of api-7f9c'"],
      ['In a script', 'service-auth reset --audience https://api.example.com/ --yes'],
    ],
    load: () => import('./commands/reset.ts'),
  },
  {
    name: 'retry',
    summary: 'Ends the holds after a failure whose cause is mended, so that the next request is sent at once',
    details:
      'It sends no request itself and never goes beyond the limit. It has an effect once in 1, 2, 4 ... 60 minutes.',
    options: { yes: { text: 'Does not ask' }, ...configurationOptions },
    examples: [
      ['The token endpoint works again', 'service-auth retry'],
      ['In a script', 'service-auth retry --yes'],
    ],
    load: () => import('./commands/retry.ts'),
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
        'service-auth record export --store redis://old | service-auth record import - --complete --store postgres://new/db',
      ],
    ],
    load: () => import('./commands/record-export.ts'),
  },
  {
    name: 'record import',
    summary: 'Writes an exported record into a store that has none',
    operands: ['FILE'],
    details:
      'FILE is - for standard input. If the store has a record already that is not empty, the command changes nothing and ends with 1. What was issued after the copy was made is not in it, so for about a day only a part of the limit is allowed, unless --complete says that nothing was.',
    options: {
      complete: { text: 'Nothing was issued since FILE was written: no program was running' },
      ...readerOptions,
    },
    examples: [
      ['Restore a copy', 'service-auth record import record.txt'],
      [
        'Into another store, while no program runs',
        'service-auth record import record.txt --complete --store postgres://db.internal/app',
      ],
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
    name: 'serve',
    summary: 'Runs a token endpoint on this machine, which hands out the token of the fleet',
    details:
      'A program in any language that can get a token by OAuth shares the token and the limit: change the address of its token endpoint to the one that this command prints, with /oauth/token. Client id and client secret stay the same. SERVICE_AUTH_AUDIENCE may list several audiences, separated by spaces. Requests with another path and the header Service-Auth: true are forwarded to the API with the token. SIGTERM ends it, SIGHUP reads the file of the client secret again.',
    options: {
      port: { short: 'p', value: 'NUMBER', text: 'The port on 127.0.0.1. Default: a free one' },
      socket: { value: 'PATH', text: 'A unix socket, which only this user can connect to' },
      listen: { value: 'ADDR:PORT', text: 'An address that other machines reach. It needs --key-file' },
      'key-file': { value: 'FILE', text: 'A key that callers of --listen present in place of the client secret' },
      observe: { value: 'ADDR:PORT', text: 'Shows /metrics, /startup, /liveness and /readiness at another address' },
      grace: { value: 'DURATION', text: 'How long open requests may take after SIGTERM. Default 20s' },
      log: { value: 'FORMAT', text: 'json or text: writes a line for each request to standard error' },
      ...configurationOptions,
    },
    endsBySignal: true,
    examples: [
      ['For programs of this machine', 'service-auth serve --port 4180'],
      ['In a pod', 'service-auth serve --port 4180 --observe 0.0.0.0:9180 --log json'],
    ],
    load: () => import('./serve/serve.ts'),
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

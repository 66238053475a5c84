import { configurationOptions, readerOptions, variableOptions } from './configuration/options.ts';
import type { Command, Option } from './line/command.ts';
import { usageSchema } from './report/usage-json.ts';

const yes: Option = { text: 'Does not ask' };
const port: Option = { short: 'p', value: 'NUMBER', text: 'The port on 127.0.0.1. Default: a free one' };

/** The options and the help of the whole program. */
export const everywhere: Command = {
  name: '',
  summary:
    'service-auth: one access token and one budget for all programs that share a store. The provider issues only so\nmany tokens a day; this program gets one, shows where the others went, and repairs.',
  details: `  SERVICE_AUTH_URL            the host that issues tokens (--auth-url)
  SERVICE_BASE_URL            the API (--base-url)
  SERVICE_AUTH_AUDIENCE, SERVICE_AUTH_CLIENT_ID
  SERVICE_AUTH_CLIENT_SECRET  or SERVICE_AUTH_CLIENT_SECRET_FILE, a file that contains it
  SERVICE_AUTH_STORE          file:DIRECTORY, redis://…, rediss://…, postgres://…, mysql://…, sqlite:FILE or dynamodb:TABLE;
                              default: file:, in your cache directory`,
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

/** All commands, in the order of the help. */
export const commands: readonly Command[] = [
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
    load: () => import('./commands/token.ts'),
  },

  // They only read.
  {
    name: 'usage',
    summary: 'Shows where the tokens went: budget, forecast, who spent what and why',
    details: `It reads the store and needs no client secret. Without a terminal it prints plain text, 80 columns wide. ${usageSchema} describes the JSON. It needs SERVICE_AUTH_URL and SERVICE_AUTH_CLIENT_ID, or --auth-url and --client-id.`,
    options: {
      json: { text: 'Prints JSON; instants are ISO 8601' },
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
    details:
      'It needs the store, SERVICE_AUTH_URL and SERVICE_AUTH_CLIENT_ID, but no client secret. If the record does not show a cause that it knows, it says so.',
    options: { audience: variableOptions.audience, ...readerOptions },
    examples: [
      ['Why is the budget spent?', 'service-auth explain'],
      [
        'In the store of another cluster',
        'service-auth explain --auth-url https://auth.example.com --client-id orders --store postgres://db.other/app',
      ],
    ],
    load: () => import('./commands/explain.ts'),
  },
  {
    name: 'check',
    summary: 'Prints one line for monitoring and ends with 0, 1, 2 or 3, as a plug-in of Nagios does',
    details:
      'OK, WARNING, CRITICAL or UNKNOWN, with performance data. It is CRITICAL whenever a caller without a token is refused, at least WARNING while something that explain knows goes on, such as a 401 storm, or if the store has no record of the client, and UNKNOWN if the store cannot be read or the configuration is wrong. An audience that has asked for a token, has none and has to wait counts, too. It never spends a token and needs no client secret.',
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
      'Each line is ok, warning or failure; the exit code is 1 if one is a failure. It sends no credentials and spends no token, except with --issue. It does not change the record: in the store it writes only under a key of its own, which it removes. It works without the client secret.',
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

  // They change or move the record.
  {
    name: 'reset',
    summary: 'Ends the token of an audience for the whole fleet: it leaked, or the API must not see it again',
    details:
      'Within 30 seconds no process uses the token any more; the next one costs a token of the limit. The reason is kept in the record. The exit code is 1 if there was nothing to reset.',
    options: {
      reason: { value: 'TEXT', text: 'Why: usage shows it to others' },
      yes,
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
    summary: 'Ends the holds after a failure whose cause is fixed, so that the next request is sent at once',
    details:
      'It sends no request itself and never goes beyond the limit. It has an effect once in 1, 2, 4 ... 60 minutes.',
    options: { yes, ...configurationOptions },
    examples: [
      ['The token endpoint works again', 'service-auth retry'],
      ['In a script', 'service-auth retry --yes'],
    ],
    load: () => import('./commands/retry.ts'),
  },
  {
    name: 'record spent',
    summary: 'Says how many tokens a record has not seen, so that it is not treated as a new one',
    operands: ['N'],
    details:
      'A record that is new, was restored or was lost allows only a part of the limit at first, because it does not know what was issued before; usage says how much, and until when. N: at most so many tokens of this client id were issued in the last window that are not in the record, such as by programs that had another store; 0 if there were none. They count for a whole window from now on, and the rest of the limit can be issued at once. N contains what was said before, and cannot take that back. Ask the provider if you are not sure: if there were more, the limit can be exceeded by the difference. usage and explain show who said it, when and why. The exit code is 1 if the record knows more already.',
    options: {
      reason: { value: 'TEXT', text: 'How you know: usage and explain show it to others' },
      instance: variableOptions.instance,
      ...readerOptions,
    },
    examples: [
      ['The first day: no program asked for tokens before', "service-auth record spent 0 --reason 'new client id'"],
      ['After the store was lost', "service-auth record spent 40 --reason 'counted by the provider at 14:00'"],
    ],
    load: () => import('./commands/record-spent.ts'),
  },
  {
    name: 'record export',
    summary: 'Prints the record as it is stored, to read, keep or move it',
    details: 'Tokens in it are encrypted. It needs no client secret.',
    options: {
      json: { text: 'Prints only its JSON, which record import does not take; instants are epoch milliseconds' },
      ...readerOptions,
    },
    examples: [
      ['What failed, and how often in a row?', "service-auth record export --json | jq '.lost, .states'"],
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
      'FILE is - for standard input. If the store has a record already that is not empty, the command changes nothing and ends with 1. What was issued after the copy was made is not in it, so at first only a part of the limit is allowed, unless --complete says that nothing was. A record does not name its client: if the client secret is set, --complete refuses one that this secret has not used.',
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
      'For a record that is damaged, or of a client that is no longer used. The provider still counts the tokens of the last 24 hours. Processes that run put back what they remember within 30 seconds.',
    options: { yes, ...readerOptions },
    examples: [
      ['Keep a copy first', 'service-auth record export > record.txt && service-auth record discard'],
      ['Without a question', 'service-auth record discard --yes'],
    ],
    load: () => import('./commands/record-discard.ts'),
  },

  // They run until a signal ends them.
  {
    name: 'serve',
    summary: 'Runs a token endpoint on this machine, which hands out the token of the fleet',
    details:
      'A program in any language that can get a token by OAuth shares the token and the limit: change the address of its token endpoint to the one that this command prints, with /oauth/token. Client id and client secret stay the same. SERVICE_AUTH_AUDIENCE may list several audiences, separated by spaces. Requests with another path and the header Service-Auth: true are forwarded to the API with the token; on a port they need the key, too. SIGTERM ends it, SIGHUP reads the file of the client secret again.',
    options: {
      port,
      socket: { value: 'PATH', text: 'A unix socket, which only this user can connect to. It needs no key' },
      listen: { value: 'ADDR:PORT', text: 'An address that other machines reach. It needs --key-file' },
      'key-file': {
        value: 'FILE',
        text: 'The key that callers of a port present where no client secret is asked for. At --listen it replaces the client secret, too',
      },
      'no-key': { text: 'Opens the port on 127.0.0.1 to every user of this machine, without a key' },
      observe: { value: 'ADDR:PORT', text: 'Shows /metrics, /startup, /liveness and /readiness at another address' },
      grace: { value: 'DURATION', text: 'How long open requests may take after SIGTERM. Default 20s' },
      log: { value: 'FORMAT', text: 'json or text: writes a line for each request to standard error' },
      ...configurationOptions,
    },
    endsBySignal: true,
    examples: [
      ['For programs of this user', 'service-auth serve --socket /run/service-auth/auth.sock'],
      ['For programs that have the client secret', 'service-auth serve --port 4180'],
    ],
    load: () => import('./serve/serve.ts'),
  },
  {
    name: 'mock',
    summary: 'Runs the service on this machine, for trying and for tests',
    details: 'Prints the variables to export once it listens.',
    options: { port },
    examples: [
      ['In one terminal', 'service-auth mock > mock.env'],
      ['In another one', 'service-auth token --env-file mock.env --store file:./try'],
    ],
    load: () => import('./commands/mock.ts'),
  },
];

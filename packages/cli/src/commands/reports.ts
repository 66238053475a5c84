import { configurationOptions, readerOptions, variableOptions } from '../configuration/options.ts';
import type { Command } from '../line/command.ts';
import { usageSchema } from '../report/usage-json.ts';

/** The commands that only read. */
export const reports: readonly Command[] = [
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
    load: () => import('./usage.ts'),
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
    load: () => import('./explain.ts'),
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
    load: () => import('./check.ts'),
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
    load: () => import('./doctor.ts'),
  },
];

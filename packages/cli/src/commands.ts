import { callers } from './commands/callers.ts';
import { repairs } from './commands/repairs.ts';
import { reports } from './commands/reports.ts';
import { servers } from './commands/servers.ts';
import type { Command } from './line/command.ts';

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
export const commands: readonly Command[] = [...callers, ...reports, ...repairs, ...servers];

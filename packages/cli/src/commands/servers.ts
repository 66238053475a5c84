import { configurationOptions } from '../configuration/options.ts';
import type { Command, Option } from '../line/command.ts';

const port: Option = { short: 'p', value: 'NUMBER', text: 'The port on 127.0.0.1. Default: a free one' };

/** The commands that run until a signal ends them. */
export const servers: readonly Command[] = [
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
    load: () => import('../serve/serve.ts'),
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
    load: () => import('./mock.ts'),
  },
];

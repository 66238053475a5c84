import type { ServiceAuthOptions } from '@service-auth/core';

/** A server as its provider describes it. Each is a part of docs/servers.md, and a test. */
export interface ServerShape {
  readonly name: string;
  /** A block of variables to copy. */
  readonly variables: Readonly<Record<string, string>>;
  /** Further options in code, as written on the page and as given in the test. */
  readonly options?: { readonly code: string; readonly value: Partial<ServiceAuthOptions> };
  /** What its assertion says, for a server that takes no secret. */
  readonly assertion?: Readonly<Record<'alg' | 'kid' | 'typ' | 'aud', string>>;
  /** What is special about it, in Markdown. */
  readonly special: string;
  /** What it answers to a good request. */
  readonly answer: Readonly<Record<string, unknown>>;
  /** The lifetime of that token. */
  readonly lifetimeSeconds: number;
  readonly refusals: readonly ServerRefusal[];
  readonly source: string;
}

/** What a server answers to a request that it refuses. */
interface ServerRefusal {
  readonly status: number;
  readonly body: string;
  readonly means: string;
  /** What core says about it: whom the refusal is about, or the code of the error. */
  readonly about: 'client' | 'request' | 'ERR_RATE_LIMITED' | 'ERR_TOKEN_ENDPOINT';
}

export const json = (error: string, description: string, more: object = {}): string =>
  JSON.stringify({ error, error_description: description, ...more });

const secret = { SERVICE_AUTH_CLIENT_ID: 'your-client', SERVICE_AUTH_CLIENT_SECRET: 'your-secret' };
export const basic: ServerShape['variables'] = { ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_basic' };
export const post: ServerShape['variables'] = { ...secret, SERVICE_AUTH_CLIENT_AUTHENTICATION: 'client_secret_post' };

/** The part of docs/servers.md about one server. */
export function sectionOf({ name, variables, options, special, refusals, source }: ServerShape): string {
  const lines = Object.entries(variables).map(([variable, value]) => `${variable}='${value}'`);
  const rows = refusals.map(({ status, body, means, about }) => {
    const { error, __type: type = error } = JSON.parse(body || '{}') as { error?: string; __type?: string };
    const said = about.startsWith('ERR_') ? `\`${about}\`` : `about the ${about}`;
    return `| ${status}${type === undefined ? '' : ` \`${type}\``} | ${means} | ${said} |`;
  });
  return [
    `## ${name}`,
    ['```sh', ...lines, '```'].join('\n'),
    ...(options ? [`In code: \`createServiceAuthFromEnv(process.env, ${options.code})\`.`] : []),
    special,
    ...(rows.length > 0
      ? [['| it answers | that means | core says |', '| --- | --- | --- |', ...rows].join('\n')]
      : []),
    `Source: ${source}.`,
  ].join('\n\n');
}

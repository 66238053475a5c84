import { resolve } from 'node:path';
import { serveVariables } from '@service-auth/core/record';
import { contentOf, type Environment } from '../configuration/environment.ts';
import { type Context, textOf } from '../line/command.ts';
import { day, durationMs } from '../line/units.ts';
import type { LogFormat } from './log.ts';
import type { Entrance } from './request-head.ts';

export type Place =
  | { readonly entrance: Entrance; readonly host: string; readonly port: number; readonly path?: never }
  | { readonly entrance: Entrance; readonly path: string };

export interface ServeSettings {
  readonly places: readonly Place[];
  readonly keyFile: string | undefined;
  readonly graceMs: number;
  readonly log: LogFormat | undefined;
}

const defaultGraceMs = 20_000;
const shortestKey = 32;

/** Reads the options of `serve`. Adds what is wrong with them to `problems`. */
export function readSettings({ flags }: Pick<Context, 'flags'>, problems: string[]): ServeSettings {
  const [port, socket, listen, observe] = ['port', 'socket', 'listen', 'observe'].map((name) => textOf(flags, name));
  const keyFile = textOf(flags, 'key-file');
  const log = textOf(flags, 'log');
  const grace = textOf(flags, 'grace');
  const graceMs = grace === undefined ? defaultGraceMs : durationMs(grace);
  const isOpen = flags['no-key'] === true;
  const places: Place[] = [];
  const number = port === undefined ? 0 : portOf(port);
  if (number === undefined) problems.push('--port must be a number from 0 to 65535; 0 is a free one');
  else if (port !== undefined || (socket === undefined && listen === undefined))
    places.push({ entrance: isOpen ? 'open' : 'port', host: '127.0.0.1', port: number });
  if (isOpen && places.length === 0) problems.push('--no-key has a meaning only with --port');
  if (socket !== undefined) places.push({ entrance: 'open', path: resolve(socket) });
  if (listen !== undefined) addPlace('network', listen, places, problems);
  if (observe !== undefined) addPlace('observe', observe, places, problems);
  if (listen !== undefined && keyFile === undefined)
    problems.push('--listen needs --key-file: a file with a key of 32 characters or more that callers must present');
  if (keyFile !== undefined && !places.some(({ entrance }) => entrance === 'port' || entrance === 'network'))
    problems.push('--key-file has a meaning only with --port without --no-key, or with --listen');
  if (graceMs === undefined || graceMs > day)
    problems.push('--grace must be a duration such as 20s or 1m, and 24h at most');
  if (log !== undefined && log !== 'json' && log !== 'text') problems.push('--log must be json or text');
  return { places, keyFile, graceMs: graceMs ?? 0, log: log === 'json' || log === 'text' ? log : undefined };
}

/** Reads by which statuses the API rejects a token. Adds what is wrong to `problems`. */
export function readRejectedStatuses(env: Environment, problems: string[]): readonly number[] {
  const name = serveVariables.rejectedStatuses;
  const statuses = (env[name] || '401').split(',').map((text) => text.trim());
  if (!statuses.every((status) => /^[45]\d\d$/.test(status)))
    problems.push(`${name} must be a list of statuses from 400 to 599, such as 401,403`);
  return statuses.map(Number);
}

function addPlace(entrance: 'network' | 'observe', text: string, places: Place[], problems: string[]): void {
  const { host, port } = /^(?<host>\[[\da-f:.]+\]|[\w.-]+):(?<port>\d+)$/i.exec(text)?.groups ?? {};
  const number = portOf(port ?? '');
  const option = entrance === 'network' ? '--listen' : '--observe';
  if (host === undefined || number === undefined)
    problems.push(`${option} must be ADDR:PORT, such as 0.0.0.0:9180 or [::]:9180`);
  else places.push({ entrance, host: host.replace(/^\[|\]$/g, ''), port: number });
}

export function portOf(text: string): number | undefined {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? Number(text) : undefined;
}

/** Reads the key of `--key-file`. Adds what is wrong with it to `problems`. */
export async function readKey(file: string | undefined, problems: string[]): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const key = (await contentOf(file, '--key-file', problems))?.trim();
  if (key !== undefined && (key.length < shortestKey || /[^\x21-\x7e]/.test(key)))
    problems.push(
      `--key-file must have a key of ${shortestKey} characters or more, without spaces; try: openssl rand -hex 32`,
    );
  return key;
}

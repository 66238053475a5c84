import type { Entrance } from './request-head.ts';

export type DoorName =
  | 'token-endpoint'
  | 'revoke'
  | 'metadata'
  | 'rejected'
  | 'token'
  | 'usage'
  | 'metrics'
  | 'startup'
  | 'liveness'
  | 'readiness';

export interface Door {
  readonly name: DoorName;
  readonly path: string;
  readonly method: 'GET' | 'POST';
  /** The request needs the header `Service-Auth: true` and, on a port, the key. */
  readonly marked: boolean;
  /** It checks the secret itself, or says nothing secret: `--listen` asks for no key. */
  readonly checksSecret: boolean;
  /** The door is open on the address of `--observe`, too. */
  readonly observable: boolean;
}

const usual = { marked: false, checksSecret: false, observable: false };
const probe = { ...usual, method: 'GET', observable: true } as const;

const doors: readonly Door[] = [
  { ...usual, name: 'token-endpoint', path: '/oauth/token', method: 'POST', checksSecret: true },
  { ...usual, name: 'revoke', path: '/oauth/revoke', method: 'POST', checksSecret: true },
  { ...usual, name: 'metadata', path: '/.well-known/oauth-authorization-server', method: 'GET', checksSecret: true },
  { ...usual, name: 'rejected', path: '/rejected', method: 'POST', marked: true },
  { ...usual, name: 'token', path: '/token', method: 'GET', marked: true },
  { ...usual, name: 'usage', path: '/usage', method: 'GET', marked: true },
  { ...probe, name: 'metrics', path: '/metrics' },
  { ...probe, name: 'startup', path: '/startup' },
  { ...probe, name: 'liveness', path: '/liveness' },
  { ...probe, name: 'readiness', path: '/readiness' },
];

/** Finds the door of a request target. Undefined: it has none here. */
export function doorOf(target: string, entrance: Entrance): Door | undefined {
  const [path] = target.split('?', 1);
  return doors.find((door) => door.path === path && (entrance !== 'observe' || door.observable));
}

export function queryOf(target: string): URLSearchParams {
  const start = target.indexOf('?');
  return new URLSearchParams(start === -1 ? '' : target.slice(start + 1));
}

import { expect, test } from 'vitest';
import { refusalOf } from '../../src/serve/guards.ts';
import { logLine } from '../../src/serve/log.ts';
import type { Entrance } from '../../src/serve/request-head.ts';
import { doorOf } from '../../src/serve/routes.ts';
import { readRejectedStatuses, readSettings } from '../../src/serve/settings.ts';

const key = 'k'.repeat(32);

function statusOf(target: string, headers: readonly string[], entrance: Entrance = 'open'): number | undefined {
  const head = { method: 'GET', target, rawHeaders: headers };
  return refusalOf(head, doorOf(target, entrance), entrance, key)?.status;
}

const local = ['Host', '127.0.0.1:4180'];
const marked = [...local, 'Service-Auth', 'true'];

test.for(['localhost', 'LOCALHOST:80', '127.0.0.1:4180', '127.8.9.1', '[::1]:4180'])('the Host %s is local', (host) => {
  expect(statusOf('/oauth/token', ['Host', host])).toBeUndefined();
});

test.for(['api.example', 'localhost.example', '127.0.0.1.example', '127.0.0.1@example', '0.0.0.0', '[::2]', ''])(
  'the Host "%s" is refused',
  (host) => {
    expect(statusOf('/oauth/token', ['Host', host])).toBe(403);
  },
);

test('no Host and two of them are refused', () => {
  expect(statusOf('/oauth/token', [])).toBe(400);
  expect(statusOf('/oauth/token', [...local, 'host', '127.0.0.1:4180'])).toBe(400);
});

test('any Origin is refused everywhere, even null and one of loopback', () => {
  for (const origin of ['null', 'http://127.0.0.1:4180', 'https://page.example']) {
    for (const path of ['/oauth/token', '/oauth/revoke', '/metrics', '/token']) {
      expect(statusOf(path, [...marked, 'Origin', origin])).toBe(403);
    }
    expect(statusOf('/metrics', [...local, 'Origin', origin], 'observe')).toBe(403);
  }
});

test('a target that is no path is refused', () => {
  for (const target of ['http://127.0.0.1/oauth/token', '*', 'example.com:443'])
    expect(statusOf(target, marked)).toBe(400);
});

test('all but the token endpoint, its metadata, metrics and probes want the header Service-Auth', () => {
  const open = ['/oauth/token', '/oauth/revoke', '/.well-known/oauth-authorization-server', '/metrics', '/startup'];
  for (const path of [...open, '/liveness', '/readiness']) expect(statusOf(path, local)).toBeUndefined();
  for (const path of ['/token', '/token?audience=x', '/usage', '/rejected', '/api/v1/x', '/oauth/token/']) {
    expect(statusOf(path, local)).toBe(412);
    expect(statusOf(path, [...local, 'Service-Auth', 'yes'])).toBe(412);
    expect(statusOf(path, [...marked, 'Service-Auth', 'true'])).toBe(412);
    expect(statusOf(path, marked)).toBeUndefined();
  }
});

test('the address of --observe has metrics and probes alone, under any Host', () => {
  for (const path of ['/metrics', '/startup', '/liveness', '/readiness']) {
    expect(doorOf(path, 'observe')?.path).toBe(path);
    expect(statusOf(path, ['Host', '10.0.0.7:9180'], 'observe')).toBeUndefined();
  }
  for (const path of ['/oauth/token', '/token', '/usage', '/rejected', '/x'])
    expect(doorOf(path, 'observe')).toBeUndefined();
});

test('over the network a request needs the key, whatever the Host; the token endpoint asks for it itself', () => {
  const headers = ['Host', 'auth.internal', 'Service-Auth', 'true'];
  for (const path of ['/token', '/usage', '/metrics', '/readiness', '/x']) {
    expect(statusOf(path, headers, 'network')).toBe(403);
    expect(statusOf(path, [...headers, 'Service-Auth-Key', `${key}x`], 'network')).toBe(403);
    expect(statusOf(path, [...headers, 'Service-Auth-Key', key, 'Service-Auth-Key', key], 'network')).toBe(403);
    expect(statusOf(path, [...headers, 'Service-Auth-Key', key], 'network')).toBeUndefined();
  }
  expect(statusOf('/oauth/token', headers, 'network')).toBeUndefined();
});

test('on a port of loopback whatever asks for no client secret wants the key, and without a key file nobody has it', () => {
  for (const path of ['/token', '/token?audience=x', '/usage', '/rejected', '/api/v1/x', '/oauth/token/']) {
    expect(statusOf(path, [...local, 'Service-Auth-Key', key], 'port')).toBe(412);
    expect(statusOf(path, marked, 'port')).toBe(403);
    expect(statusOf(path, [...marked, 'Service-Auth-Key', ''], 'port')).toBe(403);
    expect(statusOf(path, [...marked, 'Service-Auth-Key', `${key}x`], 'port')).toBe(403);
    expect(statusOf(path, [...marked, 'Service-Auth-Key', key], 'port')).toBeUndefined();
    const head = { method: 'GET', target: path, rawHeaders: [...marked, 'Service-Auth-Key', key] };
    expect(refusalOf(head, doorOf(path, 'port'), 'port', undefined)?.status).toBe(403);
    expect(statusOf(path, ['Host', 'auth.internal', 'Service-Auth', 'true', 'Service-Auth-Key', key], 'port')).toBe(
      403,
    );
  }
  const open = ['/oauth/token', '/oauth/revoke', '/.well-known/oauth-authorization-server', '/metrics', '/readiness'];
  for (const path of open) expect(statusOf(path, local, 'port')).toBeUndefined();
});

test('--no-key opens the port of loopback, and nothing else', () => {
  const problems: string[] = [];
  const placesOf = (flags: Record<string, string | true>) => readSettings({ flags }, problems).places;
  expect(placesOf({ 'no-key': true })).toEqual([{ entrance: 'open', host: '127.0.0.1', port: 0 }]);
  const listening = { 'no-key': true, port: '4180', listen: '0.0.0.0:80', 'key-file': '/key' } as const;
  expect(placesOf(listening).map(({ entrance }) => entrance)).toEqual(['open', 'network']);
  expect(problems).toEqual([]);
  for (const flags of [{ socket: '/x' }, { listen: '0.0.0.0:80', 'key-file': '/key' }]) {
    placesOf({ 'no-key': true, ...flags });
    expect(problems.splice(0)).toEqual(['--no-key has a meaning only with --port']);
  }
  for (const flags of [{ socket: '/x' }, { 'no-key': true as const }]) {
    placesOf({ 'key-file': '/key', ...flags });
    expect(problems.splice(0)).toEqual([expect.stringContaining('--key-file has a meaning only')]);
  }
});

test('without options it listens on a free port of loopback', () => {
  const problems: string[] = [];
  expect(readSettings({ flags: {} }, problems)).toMatchObject({
    places: [{ entrance: 'port', host: '127.0.0.1', port: 0 }],
    graceMs: 20_000,
  });
  expect(readSettings({ flags: { socket: '/run/x.sock', observe: '[::]:9180' } }, problems).places).toEqual([
    { entrance: 'open', path: '/run/x.sock' },
    { entrance: 'observe', host: '::', port: 9180 },
  ]);
  expect(problems).toEqual([]);
});

test('all wrong options are told together', () => {
  const problems: string[] = [];
  readSettings({ flags: { port: '70000', listen: '8080', grace: '600h', log: 'xml', observe: ':9180' } }, problems);
  expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
    '--port',
    '--listen',
    '--observe',
    '--listen',
    '--grace',
    '--log',
  ]);
});

test.each([
  [undefined, [401]],
  ['', [401]],
  ['403', [403]],
  ['401, 403,599', [401, 403, 599]],
])('SERVICE_AUTH_REJECTED_STATUSES=%s means %j', (given, expected) => {
  const problems: string[] = [];
  expect(readRejectedStatuses({ SERVICE_AUTH_REJECTED_STATUSES: given }, problems)).toEqual(expected);
  expect(problems).toEqual([]);
});

test.each(['200', '399', '600', '401,', '401 403', '4xx', 'none', ' '])(
  'SERVICE_AUTH_REJECTED_STATUSES=%s is a mistake in the configuration',
  (given) => {
    const problems: string[] = [];
    readRejectedStatuses({ SERVICE_AUTH_REJECTED_STATUSES: given }, problems);
    expect(problems).toEqual([
      'SERVICE_AUTH_REJECTED_STATUSES must be a list of statuses from 400 to 599, such as 401,403',
    ]);
  },
);

test('a line of the log cannot be ended or forged by a value', () => {
  const fields = { path: '/a b\n2026 warning x=y', status: 200, none: undefined };
  const at = Date.UTC(2026, 0, 1);
  expect(logLine('text', at, 'info', 'request', fields)).toBe(
    '2026-01-01T00:00:00.000Z info request path="/a b\\n2026 warning x=y" status=200',
  );
  expect(JSON.parse(logLine('json', at, 'info', 'request', fields))).toEqual({
    time: '2026-01-01T00:00:00.000Z',
    level: 'info',
    message: 'request',
    path: '/a b\n2026 warning x=y',
    status: 200,
  });
});

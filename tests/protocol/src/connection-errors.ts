import type { TransportResponse } from '@service-auth/core';
import { publish } from './globals.ts';
import type { Random } from './random.ts';

type Form = () => unknown;

/** A token request as undici and `node:http` report it. */
const reported = (path = '/oauth/token') => ({ method: 'POST', path });
const error = (fields: object, message = 'x'): Error => Object.assign(new Error(message), fields);
const refused = { code: 'ECONNREFUSED', syscall: 'connect' };
const unreachable = { code: 'EHOSTUNREACH', syscall: 'connect' };
const handshake = 'Client network socket disconnected before secure TLS connection was established';

/** Errors of connections that were never made, as clients give them. */
const before: readonly Form[] = [
  () => error(refused),
  () => new TypeError('fetch failed', { cause: error({ code: 'ENOTFOUND', syscall: 'getaddrinfo' }) }),
  () => Object.assign(new AggregateError([error(refused), error(unreachable)], 'x'), { code: 'ECONNREFUSED' }),
  () => error({ code: 'ECONNRESET' }, handshake),
  () => error({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
  // The error alone would not tell: undici reports that it ended a request of which nothing was sent.
  () => {
    const cause = error({ code: 'ECONNRESET', syscall: 'read' });
    publish('undici:request:error', { request: reported(), error: cause });
    return new TypeError('fetch failed', { cause });
  },
];

/** Errors of connections by which the request was sent, most of them with codes that connection attempts have, too. */
const after: readonly Form[] = [
  () => error({ code: 'ECONNRESET', syscall: 'read' }),
  () => new TypeError('fetch failed', { cause: error({ code: 'EHOSTUNREACH', syscall: 'read' }) }),
  () => error({ code: 'ECONNREFUSED', syscall: 'write' }),
  () => error({ code: 'ENETUNREACH' }),
  () => new TypeError('fetch failed', { cause: error({ code: 'UND_ERR_SOCKET' }, 'other side closed') }),
  () => error({ code: 'ERR_SSL_WRONG_VERSION_NUMBER' }),
  () => new AggregateError([error(refused), error({ code: 'EHOSTUNREACH', syscall: 'read' })], 'x'),
  () => undefined,
];

/** An error that tells that nothing was sent. */
export const neverConnected = (random: Random): unknown => random.pick(before)();

/** The error of a transport that sent a request, lost its answer, and did not reach the endpoint the second time. */
export function sentAgain(random: Random): unknown {
  // Something may have changed the path. Then the failure of the second request is reported with that path, too.
  const isElsewhere = random.chance(0.3);
  const request = reported(isElsewhere ? '/gateway/token' : undefined);
  if (random.chance(0.5)) publish('undici:client:sendHeaders', { request });
  else publish('undici:request:bodySent', { request });
  publish('undici:request:error', { request, error: random.pick(after)() });
  if (!isElsewhere) return neverConnected(random);
  const failure = error(refused);
  publish('undici:request:error', { request: reported('/gateway/token'), error: failure });
  return failure;
}

/** The error of a transport that throws an answer. */
export function thrownAnswer(random: Random, { status, headers }: TransportResponse): unknown {
  const by = random.pick(['undici:request:headers', 'http.client.response.finish']);
  publish(by, { request: reported(), response: { statusCode: status } });
  return random.pick([
    () => new TypeError('fetch failed', { cause: error({ statusCode: status, headers }) }),
    () => error({ response: { status, headers } }),
    () => error({ response: { statusCode: status, headers } }),
  ])();
}

/** An error that does not tell that nothing was sent. */
export const brokenConnection = (random: Random): unknown => random.pick(after)();

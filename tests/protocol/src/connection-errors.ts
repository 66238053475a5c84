import type { TransportResponse } from '@service-auth/core';
import type { Random } from './random.ts';

type Form = () => unknown;

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

/** The error of a transport that throws an answer. */
export function thrownAnswer(random: Random, { status, headers }: TransportResponse): unknown {
  return random.pick([
    () => new TypeError('fetch failed', { cause: error({ statusCode: status, headers }) }),
    () => error({ response: { status, headers } }),
    () => error({ response: { statusCode: status, headers } }),
  ])();
}

/** An error that does not tell that nothing was sent. */
export const brokenConnection = (random: Random): unknown => random.pick(after)();

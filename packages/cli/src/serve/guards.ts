import { createHash, timingSafeEqual } from 'node:crypto';
import { type Answer, invalidRequest, refusal } from './answer.ts';
import { isCoded } from './forwarding.ts';
import { type Entrance, type RequestHead, valuesOf } from './request-head.ts';
import type { Door } from './routes.ts';

const loopback = /^(localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])(:\d{1,5})?$/i;

/**
 * Judges a request by its head. A browser that was lured to a name that leads to this machine sends
 * that name as `Host` (DNS rebinding), and a page of a foreign origin sends `Origin`. A header of
 * our own cannot be sent by a page without being asked for first, nor by a program that is made to
 * fetch an address (SSRF).
 */
export function refusalOf(
  head: RequestHead,
  door: Door | undefined,
  entrance: Entrance,
  key: string | undefined,
): Answer | undefined {
  const hosts = valuesOf(head, 'host');
  if (hosts.length !== 1) return invalidRequest('The request needs one Host header.');
  if (!head.target.startsWith('/')) {
    return invalidRequest('The request target must be a path. This server is no proxy for other hosts.');
  }
  if (isCoded(head.rawHeaders)) {
    // RFC 9112 section 6.1. Servers that disagree about the end of a body take a part of it for the
    // next request.
    return refusal(501, 'invalid_request', 'The only transfer coding is chunked.');
  }
  if (valuesOf(head, 'origin').length > 0)
    return refusal(403, 'access_denied', 'Requests with an Origin header, as browsers send them, are refused.');
  if (entrance === 'observe') return undefined;
  if (entrance !== 'network' && !loopback.test(hosts[0] ?? '')) {
    return refusal(403, 'access_denied', 'The Host must be localhost or a loopback address.');
  }
  // A path without a door wants the header, too.
  const { marked = true, checksSecret = false } = door ?? {};
  if (marked && valuesOf(head, 'service-auth').join() !== 'true') {
    return refusal(412, 'invalid_request', 'The request needs the header Service-Auth: true.');
  }
  const wantsKey = entrance === 'network' ? !checksSecret : entrance === 'port' && marked;
  if (!wantsKey || isKey(valuesOf(head, 'service-auth-key'), key)) return undefined;
  const what =
    key === undefined
      ? 'This port gives the token to holders of the client secret alone, at /oauth/token. Start the server with --key-file or --socket.'
      : 'The request needs the header Service-Auth-Key with the content of the key file.';
  return refusal(403, 'access_denied', what);
}

function isKey(given: readonly string[], key: string | undefined): boolean {
  return key !== undefined && given.length === 1 && isSame(given[0] ?? '', key);
}

/** Compares two secrets. The time it takes does not depend on how much of them is equal. */
export function isSame(given: string, expected: string): boolean {
  return timingSafeEqual(digest(given), digest(expected));
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

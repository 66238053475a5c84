import { type Answer, invalidRequest, refusal } from './answer.ts';
import { type RequestHead, valuesOf } from './request-head.ts';

/** RFC 9110 section 7.6.1, and the older names. These headers are for one connection. */
const hopByHop = 'connection keep-alive proxy-connection te trailer transfer-encoding upgrade http2-settings';
const notForwarded = new Set(`${hopByHop} host expect proxy-authorization service-auth service-auth-key`.split(' '));
const notReturned = new Set(`${hopByHop} proxy-authenticate proxy-authentication-info`.split(' '));

const via = ['Via', '1.1 service-auth'] as const;

export function forwardingRefusal(head: RequestHead): Answer | undefined {
  if (valuesOf(head, 'authorization').length > 0) {
    return invalidRequest('Send no Authorization: the server adds its own, and two would be ambiguous.');
  }
  if (valuesOf(head, 'upgrade').some((protocols) => !isIgnorable(protocols))) {
    return refusal(501, 'invalid_request', 'Upgrades such as WebSocket are not forwarded.');
  }
  // The answer to TRACE repeats the request, and the token with it (RFC 9110 section 9.3.8).
  if (head.method === 'TRACE') return refusal(501, 'invalid_request', 'TRACE is not forwarded.');
  return undefined;
}

/** Java's client offers HTTP/2 each time. A server may ignore it (RFC 9110 section 7.8). */
function isIgnorable(protocols: string): boolean {
  return protocols.split(',').every((protocol) => protocol.trim().toLowerCase() === 'h2c');
}

/**
 * Returns the path and the query to send for a request target: that of the base URL and the target
 * together, with dots resolved. Undefined: it would leave the base URL, or servers read it in
 * different ways.
 */
export function pathOf(target: string, baseUrl: string, covers: (url: string) => boolean): string | undefined {
  if (!/^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/.test(target)) return undefined;
  const { href, pathname, search } = new URL(baseUrl.replace(/\/+$/, '') + target);
  return covers(href) ? pathname + search : undefined;
}

export function hasBody(head: RequestHead): boolean {
  return (
    valuesOf(head, 'transfer-encoding').length > 0 ||
    valuesOf(head, 'content-length').some((length) => Number(length) > 0)
  );
}

/** Returns the headers of a forwarded request, names and values in turn, without `Host`. */
export function forwardedHeaders(rawHeaders: readonly string[], authorization: string): string[] {
  return [...without(notForwarded, rawHeaders), ...via, 'Authorization', authorization];
}

/** Returns the headers of an answer. Without content it has no length (RFC 9110 section 8.6). */
export function returnedHeaders(rawHeaders: readonly string[], status: number): string[] {
  const names = status === 204 ? new Set([...notReturned, 'content-length']) : notReturned;
  return [...without(names, rawHeaders), ...via];
}

/** True if the body has a transfer coding, such as gzip, that stays (RFC 9112 section 7). */
export function isCoded(rawHeaders: readonly string[]): boolean {
  const codings = valuesOf({ rawHeaders }, 'transfer-encoding').join().trim().toLowerCase();
  return codings !== '' && codings !== 'chunked';
}

/** Leaves out these names and those that `Connection` lists (RFC 9110 section 7.6.1). */
function without(names: ReadonlySet<string>, rawHeaders: readonly string[]): string[] {
  const listed = valuesOf({ rawHeaders }, 'connection').flatMap((names) => names.toLowerCase().split(/[\s,]+/));
  return rawHeaders.filter((_, index) => {
    const name = (rawHeaders[index - (index % 2)] ?? '').toLowerCase();
    return !names.has(name) && !listed.includes(name);
  });
}

/** Returns a path for the log. Parts that could be ids or secrets are left out. */
export function loggablePath(target: string): string {
  const [path = ''] = target.split('?', 1);
  const parts = path.split('/').slice(0, 12);
  return parts.map((part) => (/^([a-z_-]{0,32}|v\d{1,3})$/i.test(part) ? part : '*')).join('/');
}

import type { TransportResponse } from '../contract/transport.ts';
import { ownProperty } from '../platform/untrusted.ts';

// Evidence in the error of a transport about its request. A failed token request costs no token
// only if its error says that no connection came to be.

// An error says that no connection came to be if one of these fields matches.
const neverConnectedFields = {
  // Node: the name was not found, or the connection was refused. With `read` or `write` the same
  // codes come from an established connection.
  syscall: /^(connect|getaddrinfo|query[A-Z]\w*)$/,
  // Node and Bun: the certificate was refused, or the proxy refused CONNECT. undici: the connection
  // took too long, or the proxy has no valid TLS. Bun: there was no connection. Errors of OpenSSL
  // (ERR_SSL_*, EPROTO) are missing, because an established connection can have them too.
  code: /^(CERT_\w+|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_\w+|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_PROXY_TUNNEL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_TLS|ConnectionRefused|FailedToOpenSocket)$/,
  // Node: the peer ended the TLS handshake. undici: the proxy refused CONNECT. Bun: there was no
  // connection. Deno: there was no connection or no permission. undici and Deno: fetch does not use
  // this port.
  message:
    /^(Client network socket disconnected before secure TLS connection was established$|Proxy response \(\d+\) !== 200 when HTTP Tunneling$|E[A-Z]+: (Unable to connect\. Is the computer|Was there a typo in the url or port\?)|.*\): client error \(Connect\): |Requires net access to |(bad port|Fetch failed: Requests to port \d+ are blocked)$)/,
};

const maxDepth = 8;

/**
 * Returns whether an error, or its cause, says that no connection came to be, so that nothing was
 * sent.
 */
export function neverConnected(error: unknown, depth = 0): boolean {
  if (depth === maxDepth || error !== Object(error)) return false;
  // If several addresses were tried, each of them must have failed.
  const errors = ownProperty(error, 'errors');
  if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => neverConnected(each, depth + 1));
  // The name of a failed call on a connection, such as `read`, decides, because the cause may be
  // about another connection.
  return saysSo(error) || (!ownProperty(error, 'syscall') && neverConnected(ownProperty(error, 'cause'), depth + 1));
}

function saysSo(error: unknown): boolean {
  return Object.entries(neverConnectedFields).some(([name, pattern]) => {
    const value = ownProperty(error, name) ?? ownProperty(classOf(error), name);
    return typeof value === 'string' && pattern.test(value);
  });
}

/**
 * Returns the prototype of the error's class, where Bun has some codes. A property of
 * `Object.prototype` says nothing.
 */
function classOf(error: unknown): unknown {
  try {
    const prototype: unknown = Object.getPrototypeOf(error);
    return prototype === Object.prototype ? undefined : prototype;
  } catch {
    return undefined;
  }
}

type Thrown = { response?: Thrown; cause?: unknown; status?: unknown; statusCode?: unknown } & Partial<
  Pick<TransportResponse, 'headers'>
>;

/**
 * Returns the answer that an error carries: as its `response` (axios, got, ky), or in its own
 * `statusCode` (undici). The answer is without its body.
 */
export function answerIn(error: unknown, depth = 0): TransportResponse | undefined {
  if (depth === maxDepth || !error) return undefined;
  try {
    const { response, statusCode, headers, cause } = error as Thrown;
    const status = response?.status ?? response?.statusCode ?? statusCode;
    // A 2xx answer may have a token, so it is not complete without its body.
    return typeof status === 'number' && status >= 300
      ? { status, headers: (response ?? { headers }).headers ?? {}, body: '' }
      : answerIn(cause, depth + 1);
  } catch {
    return undefined;
  }
}

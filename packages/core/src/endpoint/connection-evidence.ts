import type { TransportResponse } from '../contract/transport.ts';
import { builtinModule } from '../platform/builtin-module.ts';
import { ownProperty } from '../platform/untrusted.ts';

// A failed token request costs no token only if there is evidence that no byte of it was sent: the connection was never established, and the runtime
// reports no request of the same exchange that was sent.

// An error is evidence if one of its fields matches.
const evidence = {
  // Node: the name was not found, or the connection was refused. With `read` or `write` the same codes come from an established connection.
  syscall: /^(connect|getaddrinfo|query[A-Z]\w*)$/,
  // Node and Bun: the certificate was refused, or the proxy refused CONNECT. undici: the connection took too long, or the proxy has no valid TLS.
  // Bun: there was no connection. Errors of OpenSSL (ERR_SSL_*, EPROTO) are missing, because an established connection can have them too.
  code: /^(CERT_\w+|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_\w+|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_PROXY_TUNNEL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_TLS|ConnectionRefused|FailedToOpenSocket)$/,
  // Node: the peer ended the TLS handshake. Bun: there was no connection. Deno: there was no connection or no permission. undici and Deno: fetch does not
  // use this port.
  message:
    /^(Client network socket disconnected before secure TLS connection was established$|E[A-Z]+: (Unable to connect\. Is the computer|Was there a typo in the url or port\?)|.*\): client error \(Connect\): |Requires net access to |(bad port|Fetch failed: Requests to port \d+ are blocked)$)/,
};

const maxDepth = 8;

/** The runtime's reports on the requests of one exchange. Node reports those of its fetch, of undici and of `node:http`. */
export interface ExchangeWatch {
  /** So many tokens may have been issued by requests whose outcome the transport does not show, because it sent another one. 2: an answer was 421, after which fetch sends again. */
  hidden: 0 | 1 | 2;
  /** Returns whether `error` or its cause is evidence that no byte of its request was sent. */
  neverConnected(error: unknown): boolean;
  /** Returns the answer that the transport threw as an error, as the cause of one (undici), or as its `response` (axios, got, ky). */
  answerIn(error: unknown): TransportResponse | undefined;
  /** Ends the watch. Call it when the exchange is over. */
  end(): void;
}

type Request = Partial<Record<'method' | 'origin' | 'path', unknown>>;
type Answer = { readonly statusCode: number };
type DiagnosticsChannels = Record<
  'subscribe' | 'unsubscribe',
  (name: string, listener: (report: unknown) => void) => void
>;
type Thrown = TransportResponse & { statusCode?: number; response?: unknown; cause?: unknown };

/** Watches the requests of this process. If the runtime reports nothing, the errors are the only evidence. */
export function watchExchange(url: string): ExchangeWatch {
  const sent = new WeakSet<object>();
  /** Whether errors are evidence, as far as the runtime reports it. That of a request to another address is none: whoever changed the address may have sent the request to ours before. */
  const reported = new WeakMap<object, boolean>();
  const answers = new Map<object, number>();
  const watch: ExchangeWatch = { hidden: 0, neverConnected, answerIn, end: () => listen('unsubscribe') };

  const onSent = (request: Request) => sent.add(request);
  const onAnswer = (request: Request, _: object, { statusCode: status }: Answer) => {
    answers.set(request, status);
    if (status >= 500 || status === 408 || status === 425) watch.hidden ||= 1;
    if (status === 421 && `${request.origin}${request.path}` === url) watch.hidden = 2;
  };
  const reports = Object.entries({
    'undici:client:sendHeaders': onSent,
    // undici 6 does not report the headers of HTTP/2.
    'undici:request:bodySent': onSent,
    'undici:request:headers': onAnswer,
    'undici:request:error': (request: Request, error: object) => {
      // Some errors do not say that they came during the handshake: a reset, a TLS alert, a proxy that refused CONNECT.
      if (!sent.has(request)) reported.set(error, true);
      else if (!answers.has(request)) watch.hidden ||= 1;
    },
    'http.client.response.finish': onAnswer,
    'http.client.request.error': (request: Request, error: object) => {
      if (!answers.has(request) && !neverConnected(error)) watch.hidden ||= 1;
    },
  }).map(([name, listener]) => [name, listenerOf(listener)] as const);
  listen('subscribe');

  function listenerOf(listener: (request: Request, error: object, answer: Answer) => void) {
    return (report: unknown) => {
      const [request, error, answer] = ['request', 'error', 'response'].map((name) =>
        Object(ownProperty(report, name)),
      );
      // An interceptor or a proxy may have changed the origin of the request.
      if (request.method === 'POST' && url.endsWith(`${request.path}`)) listener(request, error, answer);
      // One error may be that of all requests that wait for a connection.
      else if (!reported.has(error)) reported.set(error, false);
    };
  }

  function listen(change: 'subscribe' | 'unsubscribe'): void {
    try {
      const channels = builtinModule('node:diagnostics_channel') as DiagnosticsChannels | undefined;
      for (const [name, listener] of reports) channels?.[change](name, listener);
    } catch {
      // This runtime has no such reports.
    }
  }

  function neverConnected(error: unknown, depth = 0): boolean {
    if (depth === maxDepth || error !== Object(error)) return false;
    const known = reported.get(error as object);
    if (known !== undefined) return known;
    // If several addresses were tried, each of them must have failed.
    const errors = ownProperty(error, 'errors');
    if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => neverConnected(each, depth + 1));
    // A call that failed on a connection, such as `read`, decides: its cause may be about another connection.
    return saysSo(error) || (!ownProperty(error, 'syscall') && neverConnected(ownProperty(error, 'cause'), depth + 1));
  }

  function answerIn(error: unknown, depth = 0): TransportResponse | undefined {
    if (depth === maxDepth || !error) return undefined;
    try {
      const { status: code, statusCode: status = code, headers, response, cause } = error as Thrown;
      return status >= 300 && headers && [...answers.values()].includes(status)
        ? { status, headers, body: '' }
        : (answerIn(response, depth + 1) ?? answerIn(cause, depth + 1));
    } catch {
      return undefined;
    }
  }

  return watch;
}

function saysSo(error: unknown): boolean {
  return Object.entries(evidence).some(([name, pattern]) => {
    const value = ownProperty(error, name) ?? ownProperty(classOf(error), name);
    return typeof value === 'string' && pattern.test(value);
  });
}

/** Returns the prototype of the error's class, where Bun has some codes. A property of `Object.prototype` is no evidence. */
function classOf(error: unknown): unknown {
  try {
    const prototype: unknown = Object.getPrototypeOf(error);
    return prototype === Object.prototype ? undefined : prototype;
  } catch {
    return undefined;
  }
}

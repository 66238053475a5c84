import { own } from './untrusted.ts';

// A failed token request costs no token only if there is evidence that no byte of it was sent: the connection was never established.

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

/** Collects what undici, which is also the fetch of Node, reports about connections during a token request. */
export interface ConnectionWatch {
  /** Returns whether `error` or its cause is evidence that no byte of the request was sent. */
  neverConnected(error: unknown): boolean;
  /** Returns whether an answer was 421. In that case fetch sends the request again and shows only the second answer. */
  misdirected(): boolean;
  /** Ends the watch. Call it when the request is over. */
  end(): void;
}

/** Watches the connections of this process. If the runtime reports nothing, the errors are the only evidence. */
export function watchConnections(url: string): ConnectionWatch {
  const connectErrors = new WeakSet<object>();
  let misdirected = false;

  // Some errors do not say that they came during the handshake: a reset, a TLS alert, a proxy that refused CONNECT.
  const stopConnectErrors = subscribe('undici:client:connectError', (message) => {
    const error = own(message, 'error');
    if (error === Object(error)) connectErrors.add(error as object);
  });
  const stopAnswers = subscribe('undici:request:headers', (message) => {
    const request = own(message, 'request');
    if (own(own(message, 'response'), 'statusCode') !== 421 || own(request, 'method') !== 'POST') return;
    misdirected ||= `${own(request, 'origin')}${own(request, 'path')}` === url;
  });

  function neverConnected(error: unknown, depth = 0): boolean {
    if (depth === maxDepth || error !== Object(error)) return false;
    if (connectErrors.has(error as object)) return true;
    // If several addresses were tried, each of them must have failed.
    const errors = own(error, 'errors');
    if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => neverConnected(each, depth + 1));
    // A call that failed on a connection, such as `read`, decides: its cause may be about another connection.
    return saysSo(error) || (!own(error, 'syscall') && neverConnected(own(error, 'cause'), depth + 1));
  }

  return {
    neverConnected,
    misdirected: () => misdirected,
    end() {
      stopConnectErrors();
      stopAnswers();
    },
  };
}

function saysSo(error: unknown): boolean {
  return Object.entries(evidence).some(([name, pattern]) => {
    const value = own(error, name) ?? own(classOf(error), name);
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

type Listener = (message: unknown) => void;
interface Channel {
  subscribe(listener: Listener): void;
  unsubscribe(listener: Listener): void;
}
interface NodeGlobals {
  process?: { getBuiltinModule?(name: string): { channel(name: string): Channel } | undefined };
}

/** Subscribes to a diagnostics channel, if this runtime has them. Returns a function that ends the subscription. */
function subscribe(name: string, listener: Listener): () => void {
  try {
    const channel = (globalThis as NodeGlobals).process?.getBuiltinModule?.('node:diagnostics_channel')?.channel(name);
    channel?.subscribe(listener);
    return () => channel?.unsubscribe(listener);
  } catch {
    return () => {};
  }
}

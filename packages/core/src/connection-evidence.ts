import { own } from './foreign.ts';

// A token request is given back only on evidence that no byte of it was sent. Each kind of evidence tells of a connection that was never made.

/** Errors that say so themselves: by one of these fields. */
const evidence = {
  // Node: the name was not found, the connection was refused. The same codes from `read` or `write` come from an established connection.
  syscall: /^(connect|getaddrinfo|query[A-Z]\w*)$/,
  // Node and Bun: the certificate was refused, which ends the handshake; the proxy refused CONNECT. undici: no connection in time, or none to the proxy.
  // Bun: no connection. Errors of OpenSSL (ERR_SSL_*, EPROTO) are missing here, because an established connection has them, too.
  code: /^(CERT_\w+|\w*SELF_SIGNED_CERT\w*|UNABLE_TO_\w+|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_EXCEEDED|HOSTNAME_MISMATCH|ERR_TLS_CERT_ALTNAME_\w+|ERR_TLS_HANDSHAKE_TIMEOUT|ERR_PROXY_TUNNEL|UND_ERR_CONNECT_TIMEOUT|UND_ERR_PRX_TLS|ConnectionRefused|FailedToOpenSocket)$/,
  // Node: the peer ended the TLS handshake. Bun: no connection. Deno: no connection, no permission. undici and Deno: a port that fetch refuses to use.
  message:
    /^(Client network socket disconnected before secure TLS connection was established$|E[A-Z]+: (Unable to connect\. Is the computer|Was there a typo in the url or port\?)|.*\): client error \(Connect\): |Requires net access to |(bad port|Fetch failed: Requests to port \d+ are blocked)$)/,
};

const maxDepth = 8;

/** What undici, which is also the fetch of Node, reports about its connections while a token request is under way. */
export interface ConnectionWatch {
  /** Whether `error`, or its cause, is evidence that no byte of the request was sent. */
  neverConnected(error: unknown): boolean;
  /** Whether an answer was 421. A fetch then sends the request again and shows the second answer only. */
  misdirected(): boolean;
  /** Must be called when the request is over. */
  end(): void;
}

/** Watches the connections of this process. Where the runtime reports nothing, the errors themselves are the only evidence. */
export function watchConnections(url: string): ConnectionWatch {
  const connectErrors = new WeakSet<object>();
  let misdirected = false;

  // A TLS handshake that was reset, an alert, a proxy that refused CONNECT: the error itself does not tell when it happened.
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
    // Several addresses were tried: each one must have failed.
    const errors = own(error, 'errors');
    if (Array.isArray(errors) && errors.length > 0) return errors.every((each) => neverConnected(each, depth + 1));
    return saysSo(error) || neverConnected(own(error, 'cause'), depth + 1);
  }

  return {
    neverConnected: (error) => neverConnected(error),
    misdirected: () => misdirected,
    end() {
      stopConnectErrors();
      stopAnswers();
    },
  };
}

function saysSo(error: unknown): boolean {
  return Object.entries(evidence).some(([name, pattern]) => {
    const value = own(error, name) ?? inherited(error, name);
    return typeof value === 'string' && pattern.test(value);
  });
}

/** Bun has the `code` of some errors in their class. What was put on `Object.prototype` is no evidence. */
function inherited(error: unknown, name: string): unknown {
  try {
    const prototype: unknown = Object.getPrototypeOf(error);
    return prototype === Object.prototype ? undefined : own(prototype, name);
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

/** Subscribes to a diagnostics channel, if this runtime has them. Returns what ends the subscription. */
function subscribe(name: string, listener: Listener): () => void {
  try {
    const channel = (globalThis as NodeGlobals).process?.getBuiltinModule?.('node:diagnostics_channel')?.channel(name);
    channel?.subscribe(listener);
    return () => channel?.unsubscribe(listener);
  } catch {
    return () => {};
  }
}

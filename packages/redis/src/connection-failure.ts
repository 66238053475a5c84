interface Emitter {
  on?(event: string | symbol, listener: (argument: unknown) => void): unknown;
}

interface Globals {
  readonly process?: { getBuiltinModule?(name: 'node:events'): { readonly errorMonitor: symbol } | undefined };
}

/** Why a client has no connection. Undefined: it has one, or its library does not tell. */
export interface ConnectionFailure {
  error?: unknown;
}

/**
 * Watches the errors of a client that connects again and again. The listeners of the application
 * still get each of them.
 */
export function watchConnection(client: object): ConnectionFailure {
  const failure: ConnectionFailure = {};
  const events = (globalThis as Globals).process?.getBuiltinModule?.('node:events');
  if (!events) return failure;
  const emitter = client as Emitter;
  emitter.on?.(events.errorMonitor, (error) => {
    failure.error = error;
  });
  emitter.on?.('ready', () => {
    failure.error = undefined;
  });
  return failure;
}

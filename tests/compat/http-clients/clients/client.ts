import type { ConnectHttpClient } from '@service-auth/testing';

/** A version of an HTTP client, to run the contract with. */
export interface Client {
  readonly name: string;
  /** The name of the package under `node_modules`, whose `engines` say which Node it needs. Default: the client is part of Node. */
  readonly dependency?: string;
  /** Loads the client only now, because it may need a newer Node. */
  load(): Promise<ConnectHttpClient>;
}

/** False if it is an older version, which is installed under a name of its own: `got-15`. */
export function isNewest({ dependency = '' }: Client): boolean {
  return !dependency.includes('-');
}

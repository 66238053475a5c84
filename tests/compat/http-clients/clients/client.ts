import type { ConnectHttpClient } from '@service-auth/testing';

/** A version of an HTTP client, to run the contract with. */
export interface Client {
  readonly name: string;
  /** What is installed under `node_modules`, and says which Node it needs. Default: part of Node. */
  readonly dependency?: string;
  /** Loads the client only now, because it may need a newer Node. */
  load(): Promise<ConnectHttpClient>;
}

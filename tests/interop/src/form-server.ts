import type { ServiceAuthOptions } from '@service-auth/core';

/** An authorization server of another project that wants forms, on loopback. */
export interface FormServer {
  /** The options of a client for each kind of authentication that it has, by the kind. */
  readonly clients: Readonly<Record<string, ServiceAuthOptions>>;
  /** The number of token requests that it got. */
  readonly tokenRequests: number;
  /** Its own judgement of a token: whether it issued it, and for what. */
  find(token: string): Promise<{ readonly clientId: string; readonly scope: string } | undefined>;
  close(): Promise<void>;
}

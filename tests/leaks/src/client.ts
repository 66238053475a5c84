import type { ServiceAuth } from '@service-auth/core';

/** The limits of a caller's wait. Empty: no limit. */
export interface Deadline {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** Something that sends requests with the token. */
export interface Client {
  readonly auth: ServiceAuth;
  /** True if its errors contain the sent request and its headers in a hidden property. */
  readonly hidesRequest?: true;
  /** A GET. Resolves with the status, and what a user may log of the answer. */
  get(url: string, deadline: Deadline): Promise<[status: number, ...shown: unknown[]]>;
  /** Shows everything else that can be printed of the client. Runs only while no server is silent. */
  visit?(): Promise<unknown>;
  close?(): Promise<unknown>;
}

import type { ServiceAuth } from '@service-auth/core';

/** How long a caller waits, if not for ever. */
export interface Deadline {
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
}

/** Something that sends requests with the token. */
export interface Client {
  readonly auth: ServiceAuth;
  /** Whether its errors have the request that was sent, with its headers, where only those find it who look for it. */
  readonly hidesRequest?: true;
  /** A GET. Resolves with the status, and what a user may log of the answer. */
  get(url: string, deadline: Deadline): Promise<[status: number, ...shown: unknown[]]>;
  /** What the documentation says to log in place of an error. */
  sanitize?(error: unknown): unknown;
  /** What else there is to see of it while nothing is silent. */
  visit?(): Promise<unknown>;
  close?(): Promise<unknown>;
}

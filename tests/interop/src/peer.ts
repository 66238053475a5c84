/** An OAuth server that nobody here wrote, running on loopback. */
export interface Peer {
  /** For `createServiceAuth`. */
  readonly options: { authUrl: string; audience: string; clientId: string; clientSecret: string };
  /** Where it publishes the keys that verify its tokens. */
  readonly jwksUri: string;
  /** How long its tokens live, as it says. */
  readonly lifetimeMs: number;
  /** Counted by the server. */
  readonly tokenRequests: number;
  close(): Promise<void>;
}

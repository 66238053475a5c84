/** An OAuth server of another project, on loopback. */
export interface Peer {
  /** For `createServiceAuth`. */
  readonly options: { authUrl: string; audience: string; clientId: string; clientSecret: string };
  /** The URL of the keys that verify its tokens. */
  readonly jwksUri: string;
  /** The lifetime that it declares for its tokens. */
  readonly lifetimeMs: number;
  /** Counted by the server. */
  readonly tokenRequests: number;
  close(): Promise<void>;
}

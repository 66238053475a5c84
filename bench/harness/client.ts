/** The credentials of a client, where it gets tokens, and what it uses them for. */
export interface Client {
  readonly tokenUrl: string;
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
}

/** The credentials of a client, where it gets tokens, and what it uses them for. */
export interface Client {
  readonly tokenUrl: string;
  readonly apiUrl: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly audience: string;
}

/** A client of servers at an origin. By default nothing listens there, for those whose transport sends nothing. */
export function clientAt(origin = 'http://127.0.0.1:9'): Client {
  return {
    tokenUrl: `${origin}/oauth/token`,
    apiUrl: `${origin}/api/v1/orders`,
    clientId: 'client',
    clientSecret: 'secret',
    audience: 'api',
  };
}

/** The variables that make it the client of the program `service-auth`. */
export function environmentOf({ tokenUrl, apiUrl, clientId, clientSecret, audience }: Client): NodeJS.ProcessEnv {
  return {
    ...process.env,
    SERVICE_AUTH_URL: new URL(tokenUrl).origin,
    SERVICE_BASE_URL: new URL(apiUrl).origin,
    SERVICE_AUTH_CLIENT_ID: clientId,
    SERVICE_AUTH_CLIENT_SECRET: clientSecret,
    SERVICE_AUTH_AUDIENCE: audience,
  };
}

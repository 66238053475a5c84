import { randomUUID } from 'node:crypto';

/** A client that the service knows. */
export interface TestClient {
  readonly clientId: string;
  /** One secret, or several that are valid at the same time, as during the rotation of a secret. */
  readonly clientSecret: string | readonly string[];
  /** The audiences for which it may ask for tokens: at least one. */
  readonly audiences: readonly string[];
}

/** The data with which a client asks for tokens. */
export interface TestCredentials {
  readonly audience: string;
  readonly clientId: string;
  readonly clientSecret: string;
}

/** The clients of a service, by id. */
export interface ClientRegistry {
  /** The credentials of the first client: its first secret and its first audience. */
  readonly credentials: TestCredentials;
  find(clientId: string): TestClient | undefined;
  setSecret(clientId: string, clientSecret: string | readonly string[]): void;
}

/**
 * Returns a client with an id of its own: clients of one process share their memory, and a later
 * service may listen on the same port.
 */
function createDefaultClient(): TestClient {
  return {
    clientId: `test-client-${randomUUID()}`,
    clientSecret: 'test-client-secret-of-no-value',
    audiences: ['https://api.example/'],
  };
}

/** Creates the registry. It calls `onSecret` with every secret that is or becomes valid. */
export function createClientRegistry(
  clients: readonly TestClient[] = [],
  onSecret: (clientSecret: string) => void,
): ClientRegistry {
  const [first = createDefaultClient(), ...others] = clients;
  const byId = new Map<string, TestClient>();

  function keep(client: TestClient): void {
    byId.set(client.clientId, client);
    for (const secret of secretsOf(client)) onSecret(secret);
  }

  for (const client of [first, ...others]) keep(client);
  return {
    credentials: credentialsOf(first),
    find: (clientId) => byId.get(clientId),
    setSecret(clientId, clientSecret) {
      const client = byId.get(clientId);
      if (!client) throw new Error(`There is no client ${clientId}.`);
      keep({ ...client, clientSecret });
    },
  };
}

/** The valid secrets of a client. */
export function secretsOf({ clientSecret }: TestClient): string[] {
  return [clientSecret].flat();
}

function credentialsOf(client: TestClient): TestCredentials {
  const { clientId, audiences } = client;
  const [audience] = audiences;
  const [clientSecret] = secretsOf(client);
  if (audience === undefined || clientSecret === undefined) {
    throw new TypeError(`Client ${clientId} needs an audience and a secret.`);
  }
  return { audience, clientId, clientSecret };
}

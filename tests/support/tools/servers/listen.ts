import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** The address of an HTTP server. `close` ends its connections, too. */
export interface Listening {
  readonly port: number;
  readonly url: string;
  close(): Promise<void>;
}

/** Has an HTTP server of this process listen on a free port of loopback. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<Listening> {
  await once(server.listen(0, host), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { secretCanary, tokenCanary } from '@service-auth/test-tools/canaries';
import { behaviours, good } from './behaviours.ts';

/** A token endpoint and an API for each behaviour, and `/elsewhere`. */
export interface Service {
  readonly origin: string;
  /** Breaks off the requests that got no answer. */
  release(): void;
  close(): void;
}

/** `kept`: told of each request that gets no answer. */
export async function startService(kept: (behaviour: string) => void): Promise<Service> {
  let tokens = 0;
  const waiting = new Set<ServerResponse>();
  const server = createServer(async (request, response) => {
    const [, name = '', part] = request.url?.split('/') ?? [];
    const behaviour = behaviours[name];
    const body = await text(request);
    if (!behaviour) return void response.end();
    const [asked, usual] = part === 'api' ? [behaviour.api, good.api] : [behaviour.token, good.token];
    const answer = asked === undefined ? usual : asked;
    if (!answer) {
      waiting.add(response);
      return kept(name);
    }
    tokens += 1;
    const issued = { access_token: `${tokenCanary}.${tokens}`, token_type: 'Bearer', expires_in: 3_600 };
    answer(response, { body, secret: secretCanary, issued: JSON.stringify(issued) });
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    release() {
      for (const response of waiting) response.destroy();
      waiting.clear();
    },
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

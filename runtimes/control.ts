import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { createSigningKey, startTestService, type TestService } from '@service-auth/testing';
import type { Questions } from './suite/service.ts';

/** Runs test services for cases that run elsewhere. */
export async function startControl(): Promise<{ url: string; close(): Promise<void> }> {
  const services: TestService[] = [];
  const signingKey = createSigningKey();

  async function answer(id: number | undefined, name: keyof Questions, argv: unknown[]) {
    if (name === 'start') {
      const service = await startTestService({ signingKey, ...(argv[0] as object) });
      const { authUrl, baseUrl, credentials } = service;
      return { id: services.push(service) - 1, result: { authUrl, baseUrl, ...credentials } };
    }
    const service = services[id ?? -1];
    if (!service) throw new Error(`there is no service ${id}`);
    const questions: Omit<Questions, 'start'> = {
      counts: () => service.counts,
      next: (...answers) => service.tokenEndpoint.next(...answers),
      always: (always) => service.tokenEndpoint.always(always),
      revoke: (token) => service.revoke(token),
      findSecrets: (searched) => service.findSecrets(searched),
      close: () => service.close(),
    };
    return { id, result: await (questions[name] as (...argv: unknown[]) => unknown)(...argv) };
  }

  const server = createServer(async (request, response) => {
    try {
      const { id, name, argv } = JSON.parse(await text(request));
      response.end(JSON.stringify(await answer(id, name, argv)));
    } catch (error) {
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      await Promise.all(services.map((service) => service.close()));
      server.close();
      server.closeAllConnections();
    },
  };
}

// A worker: each case in a request of its own, and what only workers have, where I/O ends with the request that began it.

// @ts-expect-error: a module of workerd, whose types are not ours to bring.
import { waitUntil } from 'cloudflare:workers';
import { createServiceAuth, memoryStore, type ServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { runCases, shiftedClock } from './cases.ts';
import { createContractClient } from './contract-client.ts';
import type { RemoteOptions } from './service.ts';

// At the level of the module, as applications have it: there is no randomness yet, and clocks stand still.
const unreachable: RemoteOptions = {
  authUrl: 'http://127.0.0.1:1',
  baseUrl: 'http://127.0.0.1:1',
  audience: 'an audience',
  clientId: 'a client',
  clientSecret: 'a secret',
};
const early = createServiceAuth(unreachable);

const clock = shiftedClock();
let shared: ServiceAuth | undefined;
const contractClient = createContractClient(waitUntil, printed);

export default {
  async fetch(request: Request): Promise<Response> {
    if (new URL(request.url).pathname === '/contract') return contractClient(request);
    const body = (await request.json()) as {
      control: string;
      options: RemoteOptions;
      alive: boolean;
      ms: number;
      asRequest: boolean;
    };
    switch (new URL(request.url).pathname) {
      case '/cases':
        return Response.json(await runCases({ control: body.control, print: printed, tellsUnsent: false, waitUntil }));
      case '/early': {
        const { used } = await early.getUsage();
        return Response.json({ used, covers: early.covers('http://127.0.0.1:1/a') });
      }
      case '/create': {
        const options: ServiceAuthOptions = { ...body.options, clock, store: memoryStore({ clock }) };
        shared = createServiceAuth(body.alive ? { ...options, waitUntil } : options);
        return Response.json({});
      }
      case '/leave':
        // Asks, and is answered before the token is there.
        shared?.getToken().catch(() => {});
        return Response.json({});
      case '/shift':
        clock.shift(body.ms);
        return Response.json({});
      case '/fetch': {
        if (!shared) throw new Error('there is no client');
        const url = `${body.options.baseUrl}/api/v1/`;
        const authFetch = createAuthFetch(shared);
        const response = await (body.asRequest
          ? authFetch(new Request(url, { method: 'POST', body: 'text' }))
          : authFetch(url, { method: 'POST', body: 'text' }));
        return Response.json({ status: response.status, text: await response.text() });
      }
      case '/usage': {
        const { used, pending } = (await shared?.getUsage()) ?? {};
        return Response.json({ used, pending });
      }
      default:
        return Response.json({ id: (await shared?.getToken())?.id });
    }
  },
};

function printed(value: unknown): string {
  return Object.entries(value as object).join() + String(value);
}

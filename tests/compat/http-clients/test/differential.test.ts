import type { ServiceAuthOptions } from '@service-auth/core';
import type { HttpClientSubject, TestService } from '@service-auth/testing';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { axiosClients } from '../clients/axios.ts';
import { fetchClients } from '../clients/fetch.ts';
import { gotClients } from '../clients/got.ts';
import { undiciClients } from '../clients/undici.ts';
import { clientsOfThisRun } from './contract-of.ts';
import { anyCase, bodyOf, type Case, Servers } from './random-requests.ts';

// More of them: CASES=5000 and another SEED.
const numRuns = Number(process.env['CASES'] ?? 50);
const seed = Number(process.env['SEED'] ?? 20_260_101);

/** Returns the outcome of a request for its caller, without what differs from run to run. */
async function outcomeOf(subject: HttpClientSubject, servers: Servers, sent: Case, optOut: boolean): Promise<unknown> {
  servers.next(sent.exchange);
  const request = {
    method: sent.method,
    url: `${servers.urlOf('the API')}/api/v1/orders?${sent.query}`,
    headers: sent.headers,
    body: bodyOf(sent),
    signal: undefined,
    timeoutMs: undefined,
    optOut,
    streamed: false,
  };
  const outcome = await subject.request(request).then(
    ({ status, text }) => ({ status, text }),
    (error: Error & { code?: unknown; cause?: { code?: unknown } }) => [error.name, error.code, error.cause?.code],
  );
  return { outcome, received: servers.next(undefined) };
}

function optionsFor(baseUrl: string): ServiceAuthOptions {
  const body = JSON.stringify({ access_token: 'a-token', token_type: 'Bearer', expires_in: 86_400 });
  return {
    authUrl: 'https://auth.example.com',
    baseUrl,
    audience: 'orders',
    clientId: 'client',
    clientSecret: 'secret',
    transport: async () => ({ status: 200, headers: { 'content-type': 'application/json' }, body }),
  };
}

const clients = clientsOfThisRun([...axiosClients, ...fetchClients, ...gotClients, ...undiciClients])
  // These do not follow redirects as the standard of fetch says, and we do: undici 6.18 loses the body, node-fetch changes headers.
  .filter(({ name }) => name !== 'the fetch of undici 6.18' && !name.startsWith('node-fetch'));

describe.each(clients)('with $name', ({ load }) => {
  test('a request that carries the token differs in nothing else from one that does not', {
    timeout: 120_000,
  }, async () => {
    await using servers = await Servers.start();
    const connect = await load();
    const options = optionsFor(`${servers.urlOf('the API')}/api/v1/`);
    // The harness needs nothing else of the service.
    const service = { baseUrl: options.baseUrl } as unknown as TestService;
    const subject = await connect({ service, options });
    try {
      const sameOutcome = fc.asyncProperty(anyCase, async (sent) => {
        const without = await outcomeOf(subject, servers, sent, true);
        expect(await outcomeOf(subject, servers, sent, false)).toEqual(without);
      });
      await fc.assert(sameOutcome, { numRuns, seed });
    } finally {
      await subject.close();
    }
  });
});

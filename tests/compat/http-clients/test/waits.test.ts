// A request waits for a token, while its HTTP client or its caller has a time-out: real sockets and processes.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ServiceAuth, ServiceAuthEvent, ServiceAuthOptions, Store } from '@service-auth/core';
import { serviceUnavailable } from '@service-auth/core/http';
import { fileStore } from '@service-auth/file';
import type { TestService } from '@service-auth/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startService } from '../../../support/fixtures/service.ts';
import { listen } from '../../../support/tools/servers/listen.ts';
import { axiosClients } from '../clients/axios.ts';
import type { Client } from '../clients/client.ts';
import { fetchClients } from '../clients/fetch.ts';
import { gotClients } from '../clients/got.ts';
import { undiciClients } from '../clients/undici.ts';
import { clientsOfThisRun } from './contract-of.ts';

const asker = fileURLToPath(new URL('../asker.ts', import.meta.url));
const timeoutMs = 300;

interface Begun {
  readonly options?: Partial<ServiceAuthOptions>;
  /** Resolves when an attempt of `auth` has come to the wait. */
  reached(auth: ServiceAuth): Promise<void>;
  /** Ends the wait, so that the client can close at once. */
  end(): void | Promise<void>;
}

/** What a client waits for, and how to bring it about. */
interface Situation {
  readonly waitsFor: string;
  readonly says: string;
  readonly process?: string;
  begin(service: TestService): Promise<Begun>;
}

/** Resolves after the first read of the store, when the attempt has decided what to do. */
function firstRead(auth: ServiceAuth): Promise<void> {
  return new Promise((resolve) => {
    auth.subscribe(({ type }) => type === 'store_called' && setImmediate(resolve), { operations: true });
  });
}

const situations: Record<string, Situation> = {
  'a token endpoint that does not answer': {
    waitsFor: 'token_endpoint',
    says: 'the token endpoint has not answered for',
    async begin(service) {
      const paused = service.tokenEndpoint.pauseNext();
      return { reached: () => paused.arrived, end: () => paused.resume() };
    },
  },
  'a process that was killed while it asked': {
    waitsFor: 'process',
    process: 'replica-1',
    says: 'another process, replica-1, has been asking since 20',
    async begin(service) {
      const directory = await mkdtemp(join(tmpdir(), 'service-auth-waits-'));
      onTestFinished(() => rm(directory, { recursive: true }));
      const paused = service.tokenEndpoint.pauseNext();
      const { authUrl, baseUrl, audience, clientId, clientSecret } = service.options;
      const options = JSON.stringify({ authUrl, baseUrl, audience, clientId, clientSecret });
      const child = fork(asker, [directory, options], { execArgv: ['--conditions=@service-auth/source'] });
      await paused.arrived;
      child.kill('SIGKILL');
      await once(child, 'exit');
      paused.resume();
      const store = fileStore(directory);
      return { options: { store, instance: 'replica-2' }, reached: firstRead, end: () => {} };
    },
  },
  'a store that does not answer': {
    waitsFor: 'store',
    says: 'the store has not answered for',
    async begin() {
      const server = createServer(() => {});
      const { url, close } = await listen(server);
      const asked = once(server, 'request');
      const ask = async (signal?: AbortSignal) => (await fetch(url, { signal: signal ?? null })).json() as never;
      const store: Store = {
        durability: 'durable',
        load: (_key, options) => ask(options?.signal),
        swap: (_key, _change, options) => ask(options?.signal),
      };
      return { options: { store }, reached: async () => void (await asked), end: close };
    },
  },
};

async function connect(client: Client, situation: Situation) {
  const service = await startService();
  const events: ServiceAuthEvent[] = [];
  const begun = await situation.begin(service);
  const onEvent = (event: ServiceAuthEvent) => void events.push(event);
  const connectTo = await client.load();
  const options = { ...service.options, ...begun.options, onEvent };
  const { auth, request, close } = await connectTo({ service, options });
  onTestFinished(() => close());
  onTestFinished(() => begun.end());
  const reached = begun.reached(auth);
  auth.getToken().catch(() => {});
  await reached;
  const url = `${service.baseUrl}/api/v1/`;
  const failure = (timeoutMs?: number, signal?: AbortSignal): Promise<Error & { code?: string }> =>
    request({
      method: 'GET',
      url,
      headers: {},
      body: undefined,
      optOut: false,
      streamed: false,
      timeoutMs,
      signal,
    }).then(
      () => expect.fail('The request was expected to fail.'),
      (error) => error,
    );
  return { service, events, failure };
}

describe.each(Object.entries(situations))('waiting for %s', (_, situation) => {
  const { waitsFor, says, process } = situation;
  const told = { code: 'ERR_TOKEN_PENDING', waitsFor, process };

  test.each([...clientsOfThisRun(axiosClients).slice(0, 1), ...clientsOfThisRun(gotClients)])(
    'the time-out of $name says so in its cause',
    async (client) => {
      const { service, events, failure } = await connect(client, situation);
      const error = await failure(timeoutMs);
      expect(['ECONNABORTED', 'ETIMEDOUT']).toContain(error.code);
      expect(error.message).toContain(`${timeoutMs}ms`);
      expect(error.cause).toMatchObject({ ...told, message: expect.stringContaining(says) });
      expect(serviceUnavailable(error)?.status).toBe(503);
      expect(events).toMatchObject([{ type: 'token_unavailable', ...told }]);
      expect(service.counts.apiRequests).toBe(0);
    },
  );

  test.each([...clientsOfThisRun(fetchClients).slice(0, 1), ...clientsOfThisRun(undiciClients).slice(0, 1)])(
    'the signal of a caller of $name gives its reason, and an event says so',
    async (client) => {
      const { service, events, failure } = await connect(client, situation);
      expect(await failure(undefined, AbortSignal.timeout(timeoutMs))).toMatchObject({ name: 'TimeoutError' });
      expect(events).toMatchObject([{ type: 'token_unavailable', ...told }]);
      expect(service.counts.apiRequests).toBe(0);
    },
  );
});

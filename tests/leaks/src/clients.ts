import { Agent as HttpAgent } from 'node:http';
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuth, type ServiceAuth, type ServiceAuthOptions } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import { serviceAuth } from '@service-auth/got';
import { serviceAuthInterceptor } from '@service-auth/undici';
import axios, { type AxiosRequestConfig } from 'axios';
import got from 'got';
import { Agent, interceptors, request, fetch as undiciFetch } from 'undici';
import type { Client, Deadline } from './client.ts';
import { connectNest } from './nest-client.ts';

/** `mayWait`: whether its start may wait for a token. */
export type Connect = (options: ServiceAuthOptions, mayWait: boolean) => Client | Promise<Client>;

function ending({ signal, timeoutMs }: Deadline): { signal?: AbortSignal } {
  const end = timeoutMs ? AbortSignal.timeout(timeoutMs) : signal;
  return end ? { signal: end } : {};
}

/** A client that needs no more than a `ServiceAuth`. */
const over =
  (connect: (auth: ServiceAuth) => Omit<Client, 'auth'>): Connect =>
  (options) => {
    const auth = createServiceAuth(options);
    return { auth, ...connect(auth) };
  };

const byHand = over((auth) => {
  async function get(url: string, deadline: Deadline, again = true): ReturnType<Client['get']> {
    const end = ending(deadline);
    const token = await auth.getToken(end);
    const response = await fetch(url, { ...end, headers: { authorization: token.authorization } });
    if (response.status !== 401) return [response.status, response, token, await response.text()];
    await auth.invalidate(token);
    return again ? get(url, deadline, false) : [401, response];
  }
  return { get };
});

const withFetch = over((auth) => ({
  async get(url, deadline) {
    const response = await createAuthFetch(auth)(url, ending(deadline));
    return [response.status, response, response.headers, await response.text()];
  },
}));

const withAxios = (defaults: AxiosRequestConfig) =>
  over((auth) => {
    const instance = axios.create(defaults);
    attachServiceAuth(instance, auth);
    return {
      hidesRequest: true,
      async get(url, { signal, timeoutMs: timeout }) {
        const response = await instance.get(url, { ...(signal && { signal }), ...(timeout && { timeout }) });
        const data = defaults.responseType === 'stream' ? await response.data.toArray() : response.data;
        return [response.status, data, response.headers, response.config];
      },
    };
  });

const withGot = (streamed: boolean, agent?: { readonly http: HttpAgent }) =>
  over((auth) => {
    // Its retries, without their pauses.
    const calculateDelay = ({ computedValue }: { computedValue: number }) => Math.min(computedValue, 1);
    const api = got.extend(serviceAuth(auth), {
      retry: { limit: streamed ? 0 : 1, calculateDelay },
      ...(agent && { agent }),
    });
    return {
      hidesRequest: true,
      async get(url, { signal, timeoutMs }) {
        const deadline = { ...(signal && { signal }), ...(timeoutMs && { timeout: { request: timeoutMs } }) };
        if (!streamed) {
          const { statusCode, headers, body, retryCount } = await api.get(url, deadline);
          return [statusCode, headers, body, retryCount];
        }
        const stream = api.stream.get(url, deadline);
        const chunks = await stream.toArray();
        return [stream.response?.statusCode ?? 0, chunks];
      },
    };
  });

const withUndici = over((auth) => {
  const agent = new Agent();
  const dispatcher = agent.compose(
    serviceAuthInterceptor(auth),
    interceptors.redirect({ maxRedirections: 5 }),
    interceptors.responseError(),
  );
  return {
    async get(url, { signal, timeoutMs: headersTimeout }) {
      const deadline = { ...(signal && { signal }), ...(headersTimeout && { headersTimeout }) };
      const response = await request(url, { dispatcher, ...deadline });
      return [response.statusCode, response, await response.body.text()];
    },
    close: () => agent.destroy(),
  };
});

const withUndiciFetch = over((auth) => {
  const agent = new Agent();
  const dispatcher = agent.compose(serviceAuthInterceptor(auth));
  return {
    async get(url, deadline) {
      const response = await undiciFetch(url, { dispatcher, ...ending(deadline) });
      return [response.status, response, await response.text()];
    },
    close: () => agent.destroy(),
  };
});

/** An agent with one socket: of several requests at a time, all but the first wait in its queue, which the errors of the first may contain. */
const createQueue = (): HttpAgent => new HttpAgent({ keepAlive: true, maxSockets: 1 });

/** Two more requests wait in the queue of an agent while each request ends. */
function withQueue({ get, ...client }: Client, agent: HttpAgent): Client {
  return {
    ...client,
    async get(url, deadline) {
      const first = get(url, deadline);
      for (let count = 0; count < 2; count += 1) get(url, deadline).catch(() => {});
      const [status, body, headers] = await first;
      // The configuration has the agent, and whoever prints the hidden properties of an agent sees the queue.
      return [status, body, headers];
    },
    close: async () => agent.destroy(),
  };
}

const queuedAxios: Connect = async (...given) => {
  const httpAgent = createQueue();
  return withQueue(await withAxios({ httpAgent })(...given), httpAgent);
};

const queuedGot: Connect = async (...given) => {
  const http = createQueue();
  return withQueue(await withGot(false, { http })(...given), http);
};

/** Every way of sending requests that there is a package for. */
export const clients: Readonly<Record<string, Connect>> = {
  core: byHand,
  fetch: withFetch,
  axios: withAxios({}),
  'axios, fetch adapter': withAxios({ adapter: 'fetch' }),
  'axios, streams': withAxios({ responseType: 'stream' }),
  'axios, one socket': queuedAxios,
  got: withGot(false),
  'got, one socket': queuedGot,
  'got, streams': withGot(true),
  undici: withUndici,
  'undici, fetch': withUndiciFetch,
  nestjs: (options, mayWait) => connectNest(options, mayWait, false),
  'nestjs, JSON': (options, mayWait) => connectNest(options, mayWait, true),
};

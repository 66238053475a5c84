import { Readable } from 'node:stream';
import { createServiceAuth, fetchTransport } from '@service-auth/core';
import { createAuthFetch } from '@service-auth/fetch';
import type { ConnectHttpClient, HttpClientBody, HttpClientRequest } from '@service-auth/testing';
import type { Client } from './client.ts';

type FormDataClass = new () => { set(name: string, value: string | Blob): void };

/** undici knows no form but its own. */
function bodyOf(body: HttpClientBody, OwnFormData: FormDataClass): NonNullable<RequestInit['body']> {
  if (body.kind === 'json') return JSON.stringify(body.value);
  if (body.kind !== 'formData' || body.value instanceof OwnFormData) return body.value;
  const form = new OwnFormData();
  for (const [name, value] of body.value) form.set(name, value);
  return form as FormData;
}

function initOf(
  { method, headers, body, signal, timeoutMs }: Omit<HttpClientRequest, 'url' | 'optOut'>,
  OwnFormData: FormDataClass,
): RequestInit {
  return {
    method,
    headers: { ...headers },
    signal: signal ?? (timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs)),
    ...(body && { body: bodyOf(body, OwnFormData) }),
    ...(body?.kind === 'stream' && { duplex: 'half' }),
  };
}

/** Wraps the input in a Request, as ky and openapi-fetch do. */
const givenRequests: ConnectHttpClient = ({ options, isRejected }) => {
  const auth = createServiceAuth(options);
  const bufferingFetch = createAuthFetch(auth, { bufferRequests: true, isRejected });
  const authFetch = createAuthFetch(auth, { isRejected });
  return {
    auth,
    async request({ url, optOut, ...request }) {
      // A stream in a buffered Request is sent again, which is what buffering is for.
      const given = request.body?.kind === 'stream' ? authFetch : bufferingFetch;
      const response = await (optOut ? fetch : given)(new Request(url, initOf(request, FormData)));
      return { status: response.status, text: await response.text() };
    },
    close: () => auth.close(),
  };
};

const connectTo =
  (fetch: typeof globalThis.fetch, OwnFormData: FormDataClass): ConnectHttpClient =>
  ({ options, isRejected }) => {
    const auth = createServiceAuth(options);
    const authFetch = createAuthFetch(auth, { fetch, isRejected });
    return {
      auth,
      async request({ url, optOut, ...request }) {
        const response = await (optOut ? fetch : authFetch)(url, initOf(request, OwnFormData));
        return { status: response.status, text: await response.text() };
      },
      close: () => auth.close(),
    };
  };

const ofUndici = (name: string, dependency: string, load: () => Promise<unknown>): Client => ({
  name,
  dependency,
  async load() {
    const { fetch, FormData } = (await load()) as typeof globalThis;
    return connectTo(fetch, FormData);
  },
});

/** node-fetch knows the streams of Node and a form of its own only. */
async function forNodeFetch(request: HttpClientRequest): Promise<HttpClientRequest> {
  const { body, headers } = request;
  if (body?.kind === 'stream')
    return { ...request, body: { ...body, value: Readable.fromWeb(body.value as never) as never } };
  if (body?.kind !== 'formData' && body?.kind !== 'blob') return request;
  const encoded = new Response(body.value);
  const type = encoded.headers.get('content-type') ?? '';
  const value = new Uint8Array(await encoded.arrayBuffer());
  return { ...request, headers: { ...headers, 'content-type': type }, body: { kind: 'bytes', value } };
}

/** It sends the token requests, too. */
const ofNodeFetch = (name: string, dependency: string, load: () => Promise<unknown>): Client => ({
  name,
  dependency,
  async load() {
    const { default: send } = (await load()) as { default: typeof fetch };
    const connect = connectTo(send, FormData);
    const transport = fetchTransport({ fetch: send });
    return async ({ options, ...context }) => {
      const subject = await connect({ ...context, options: { ...options, transport } });
      return { ...subject, request: async (request) => subject.request(await forNodeFetch(request)) };
    };
  },
});

export const fetchClients: readonly Client[] = [
  { name: 'the fetch of Node', load: async () => connectTo(fetch, FormData) },
  { name: 'the fetch of Node, given Requests', load: async () => givenRequests },
  // @ts-expect-error: node-fetch 2 has no declarations.
  ofNodeFetch('node-fetch 2', 'node-fetch-2', () => import('node-fetch-2')),
  ofNodeFetch('node-fetch 3', 'node-fetch', () => import('node-fetch')),
  ofUndici('the fetch of undici 6.18', 'undici-oldest', () => import('undici-oldest')),
  ofUndici('the fetch of undici 8', 'undici', () => import('undici')),
];

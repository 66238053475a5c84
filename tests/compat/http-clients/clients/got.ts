import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createServiceAuth } from '@service-auth/core';
import { serviceAuth } from '@service-auth/got';
import type { ConnectHttpClient, HttpClientBody, HttpClientResponse } from '@service-auth/testing';
import type { Got, OptionsInit, RequestError, Response } from 'got';
import type { Client } from './client.ts';

async function contentOf(body: HttpClientBody | undefined): Promise<Pick<OptionsInit, 'body' | 'json'>> {
  if (!body) return {};
  switch (body.kind) {
    case 'json':
      return { json: body.value };
    case 'urlSearchParams':
      return { body: String(body.value) };
    case 'bytes':
      return { body: Buffer.from(body.value) };
    case 'blob':
      // got takes no Blob.
      return { body: Buffer.from(await body.value.arrayBuffer()) };
    case 'stream':
      return { body: Readable.fromWeb(body.value as never) };
    default:
      return { body: body.value as string };
  }
}

/** got ends a stream whose status is an error, and emits no response. */
async function receiveStream(got: Got, url: string): Promise<HttpClientResponse> {
  const stream = got.stream(url);
  try {
    return { status: 200, text: await text(stream) };
  } catch (error) {
    const { response } = error as RequestError;
    if (!response) throw error;
    return { status: response.statusCode, text: String(response.body) };
  }
}

const connectTo =
  (got: Got): ConnectHttpClient =>
  ({ options, isRejected }) => {
    const auth = createServiceAuth(options);
    const authenticated = got.extend(
      serviceAuth(auth, { isRejected: isRejected && (({ statusCode: status }) => isRejected({ status })) }),
    );
    const api = authenticated.extend({ throwHttpErrors: false, retry: { limit: 0 } });
    return {
      auth,
      async request({ method, url, headers, body, signal, timeoutMs, optOut, streamed }) {
        if (streamed) return receiveStream(authenticated, url);
        const response: Response<string> = await api(url, {
          method,
          responseType: 'text',
          resolveBodyOnly: false,
          headers: { ...headers },
          ...(await contentOf(body)),
          ...(signal && { signal }),
          ...(timeoutMs !== undefined && { timeout: { request: timeoutMs } }),
          ...(optOut && { context: { serviceAuth: false } }),
        });
        return { status: response.statusCode, text: response.body };
      },
      close: () => auth.close(),
    };
  };

const client = (name: string, dependency: string, load: () => Promise<unknown>): Client => ({
  name,
  dependency,
  load: async () => connectTo(((await load()) as typeof import('got')).default),
});

export const gotClients: readonly Client[] = [
  client('got 14.5', 'got-oldest', () => import('got-oldest')),
  client('got 15', 'got-15', () => import('got-15')),
  client('got 16', 'got', () => import('got')),
];

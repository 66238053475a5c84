import { createRequire } from 'node:module';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { attachServiceAuth } from '@service-auth/axios';
import { createServiceAuth } from '@service-auth/core';
import type { ConnectHttpClient, HttpClientBody, HttpClientRequest } from '@service-auth/testing';
import type { AxiosRequestConfig, AxiosStatic } from 'axios';
import type { Client } from './client.ts';

/** As axios's own `postForm` does: its fetch adapter takes a form for URL-encoded otherwise. */
function headersOf({ headers, body }: HttpClientRequest): Record<string, string> {
  return body?.kind === 'formData' ? { ...headers, 'content-type': 'multipart/form-data' } : { ...headers };
}

function dataOf(body: HttpClientBody | undefined, adapter: unknown): unknown {
  // The http adapter knows the streams of Node only.
  return body?.kind === 'stream' && adapter !== 'fetch' ? Readable.fromWeb(body.value as never) : body?.value;
}

const connectTo =
  (axios: AxiosStatic, defaults: AxiosRequestConfig = {}): ConnectHttpClient =>
  ({ options, isRejected }) => {
    const auth = createServiceAuth(options);
    const instance = axios.create({ ...defaults, responseType: 'text', transformResponse: [] });
    attachServiceAuth(instance, auth, { isRejected });
    return {
      auth,
      async request(request) {
        const { method, url, body, signal, timeoutMs, optOut, streamed } = request;
        const response = await instance
          .request({
            method,
            url,
            headers: headersOf(request),
            data: dataOf(body, defaults.adapter),
            ...(signal && { signal }),
            ...(timeoutMs !== undefined && { timeout: timeoutMs }),
            ...(optOut && { serviceAuth: false }),
            ...(streamed && { responseType: 'stream' }),
          })
          .catch((error) => error.response ?? Promise.reject(error));
        return { status: response.status, text: streamed ? await text(response.data) : response.data };
      },
      close: () => auth.close(),
    };
  };

const require = createRequire(import.meta.url);
const newest = async () => (await import('axios')).default;
const oldest = async () => (await import('axios-oldest')).default as unknown as AxiosStatic;

export const axiosClients: readonly Client[] = [
  { name: 'axios 1.17', dependency: 'axios-oldest', load: async () => connectTo(await oldest()) },
  { name: 'axios 1.17 as CommonJS', dependency: 'axios-oldest', load: async () => connectTo(require('axios-oldest')) },
  { name: 'axios 1.21', dependency: 'axios', load: async () => connectTo(await newest()) },
  { name: 'axios 1.21 as CommonJS', dependency: 'axios', load: async () => connectTo(require('axios')) },
  {
    name: 'the fetch adapter of axios 1.21',
    dependency: 'axios',
    load: async () => connectTo(await newest(), { adapter: 'fetch' }),
  },
  {
    name: 'axios 1.21, every status accepted',
    dependency: 'axios',
    load: async () => connectTo(await newest(), { validateStatus: null }),
  },
];

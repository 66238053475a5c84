import { Readable } from 'node:stream';
import { createServiceAuth } from '@service-auth/core';
import {
  type ConnectHttpClient,
  type HttpClientBody,
  type HttpClientRequest,
  httpClientContract,
} from '@service-auth/testing';
import type { AxiosRequestConfig, AxiosStatic } from 'axios';
import { describe, test } from 'vitest';
import { attachServiceAuth } from '../src/index.ts';
import { copies } from './copies.ts';

/** As axios's own `postForm` does: its fetch adapter takes a form for URL-encoded otherwise. */
function headersOf({ headers, body }: HttpClientRequest): Record<string, string> {
  return body?.kind === 'formData' ? { ...headers, 'content-type': 'multipart/form-data' } : { ...headers };
}

function dataOf(body: HttpClientBody | undefined, adapter: unknown): unknown {
  // The http adapter knows the streams of Node only.
  return body?.kind === 'stream' && adapter !== 'fetch' ? Readable.fromWeb(body.value as never) : body?.value;
}

function connectTo(axios: AxiosStatic, defaults: AxiosRequestConfig): ConnectHttpClient {
  return ({ options }) => {
    const auth = createServiceAuth(options);
    const instance = axios.create({ ...defaults, responseType: 'text', transformResponse: [] });
    attachServiceAuth(instance, auth);
    return {
      auth,
      async request(request) {
        const { method, url, body, signal, timeoutMs, optOut } = request;
        const response = await instance
          .request({
            method,
            url,
            headers: headersOf(request),
            data: dataOf(body, defaults.adapter),
            ...(signal && { signal }),
            ...(timeoutMs !== undefined && { timeout: timeoutMs }),
            ...(optOut && { serviceAuth: false }),
          })
          .catch((error) => error.response ?? Promise.reject(error));
        return { status: response.status, text: response.data };
      },
      close: () => auth.close(),
    };
  };
}

const clients: [name: string, axios: AxiosStatic | undefined, defaults: AxiosRequestConfig][] = [
  ...Object.entries(copies).map(([name, axios]): [string, AxiosStatic, AxiosRequestConfig] => [name, axios, {}]),
  ['the fetch adapter', copies['axios 1.21 as ESM'], { adapter: 'fetch' }],
  ['every status accepted', copies['axios 1.21 as ESM'], { validateStatus: null }],
];

for (const [name, axios, defaults] of clients) {
  describe(`the contract of HTTP clients, with ${name}`, () => {
    for (const { name, run } of httpClientContract(connectTo(axios as AxiosStatic, defaults))) test(name, run);
  });
}

import { Readable } from 'node:stream';
import { createServiceAuth } from '@service-auth/core';
import { type ConnectHttpClient, type HttpClientBody, httpClientContract } from '@service-auth/testing';
import type { Got, OptionsInit, Response } from 'got';
import { describe, test } from 'vitest';
import { serviceAuth } from '../src/index.ts';
import { copies } from './copies.ts';

function contentOf(body: HttpClientBody | undefined): Pick<OptionsInit, 'body' | 'json'> {
  if (!body) return {};
  switch (body.kind) {
    case 'json':
      return { json: body.value };
    case 'urlSearchParams':
      return { body: String(body.value) };
    case 'bytes':
      return { body: Buffer.from(body.value) };
    case 'stream':
      return { body: Readable.fromWeb(body.value as never) };
    default:
      return { body: body.value as string };
  }
}

const connectTo =
  (got: Got): ConnectHttpClient =>
  ({ options }) => {
    const auth = createServiceAuth(options);
    const api = got.extend(serviceAuth(auth), { throwHttpErrors: false, retry: { limit: 0 } });
    return {
      auth,
      async request({ method, url, headers, body, signal, timeoutMs, optOut }) {
        const response: Response<string> = await api(url, {
          method,
          responseType: 'text',
          resolveBodyOnly: false,
          headers: { ...headers },
          ...contentOf(body),
          ...(signal && { signal }),
          ...(timeoutMs !== undefined && { timeout: { request: timeoutMs } }),
          ...(optOut && { context: { serviceAuth: false } }),
        });
        return { status: response.statusCode, text: response.body };
      },
      close: () => auth.close(),
    };
  };

for (const [name, got] of Object.entries(copies)) {
  describe(`the contract of HTTP clients, with ${name}`, () => {
    const bodies = ['string', 'json', 'bytes', 'formData', 'urlSearchParams', 'stream'] as const;
    for (const { name, run } of httpClientContract(connectTo(got), { bodies })) test(name, run);
  });
}

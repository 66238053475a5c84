import { createServiceAuth } from '@service-auth/core';
import {
  type ConnectHttpClient,
  type HttpClientBody,
  type HttpClientRequest,
  httpClientContract,
} from '@service-auth/testing';
import type { Dispatcher } from 'undici';
import { describe, test } from 'vitest';
import { serviceAuthInterceptor } from '../src/index.ts';
import { copies } from './copies.ts';

type Undici = (typeof copies)[string];

function bodyOf(undici: Undici, body: HttpClientBody | undefined): unknown {
  if (body?.kind === 'json') return JSON.stringify(body.value);
  if (body?.kind === 'urlSearchParams') return String(body.value);
  if (body?.kind !== 'formData') return body?.value ?? null;
  const form = new undici.FormData();
  for (const [name, value] of body.value) form.set(name, value);
  return form;
}

/** undici drops user name and password of an address: an application that wants them sent writes the header. */
function headersOf({ url, headers }: HttpClientRequest): Record<string, string> {
  const { username = '', password = '' } = URL.canParse(url) ? new URL(url) : {};
  return username ? { ...headers, authorization: `Basic ${btoa(`${username}:${password}`)}` } : { ...headers };
}

const connectTo =
  (undici: Undici): ConnectHttpClient =>
  ({ options }) => {
    const auth = createServiceAuth(options);
    const agent = new undici.Agent();
    const follow = undici.interceptors.redirect({ maxRedirections: 20 });
    const plain = agent.compose(follow);
    const authenticated = agent.compose(serviceAuthInterceptor(auth), follow);
    return {
      auth,
      async request(request) {
        const { method, url, body, signal, timeoutMs, optOut } = request;
        const response = await undici.request(url, {
          dispatcher: optOut ? plain : authenticated,
          method,
          headers: headersOf(request),
          body: bodyOf(undici, body) as Dispatcher.DispatchOptions['body'] & {},
          signal: signal ?? (timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs)),
        });
        return { status: response.statusCode, text: await response.body.text() };
      },
      async close() {
        await auth.close();
        await agent.destroy();
      },
    };
  };

for (const [name, undici] of Object.entries(copies)) {
  describe(`the contract of HTTP clients, with ${name}`, () => {
    for (const { name, run } of httpClientContract(connectTo(undici))) test(name, run);
  });
}

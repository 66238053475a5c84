import { createServiceAuth } from '@service-auth/core';
import type { ConnectHttpClient, HttpClientBody, HttpClientRequest } from '@service-auth/testing';
import { serviceAuthInterceptor } from '@service-auth/undici';
import type { Dispatcher } from 'undici';
import type { Client } from './client.ts';

type Undici = typeof import('undici');

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
  (undici: Undici, isListedFirst: boolean): ConnectHttpClient =>
  ({ options, isRejected }) => {
    const auth = createServiceAuth(options);
    const agent = new undici.Agent();
    const ours = serviceAuthInterceptor(auth, {
      isRejected: isRejected && (({ statusCode: status }) => isRejected({ status })),
    });
    const follow = undici.interceptors.redirect({ maxRedirections: 20 });
    const plain = agent.compose(follow);
    const authenticated = isListedFirst ? agent.compose(ours, follow) : agent.compose(follow, ours);
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

const client = (name: string, dependency: string, load: () => Promise<unknown>, isListedFirst = true): Client => ({
  name,
  dependency,
  load: async () => connectTo((await load()) as Undici, isListedFirst),
});

export const undiciClients: readonly Client[] = [
  client('undici 6.18', 'undici-oldest', () => import('undici-oldest')),
  client('undici 6.29', 'undici-6', () => import('undici-6')),
  client('undici 7.0', 'undici-7-oldest', () => import('undici-7-oldest')),
  client('undici 7.30', 'undici-7', () => import('undici-7')),
  client('undici 8.0', 'undici-8-oldest', () => import('undici-8-oldest')),
  client('undici 8.12', 'undici', () => import('undici')),
  client('undici 8.12, listed after redirect()', 'undici', () => import('undici'), false),
];

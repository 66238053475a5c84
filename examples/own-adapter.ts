// An adapter of your own, for a client that there is none for, and the contract that proves it.
//
//   npx --yes pnpm@12 example examples/own-adapter.ts
import { test } from 'node:test';
import { createServiceAuth, type TokenSource } from '@service-auth/core';
import { isReplayable, sendWithToken } from '@service-auth/core/http';
import { type HttpClientRequest, httpClientContract } from '@service-auth/testing';

/** Stands for your client. It follows no redirects, so that the token goes nowhere by itself. */
const yourClient = (url: string, init: RequestInit) => fetch(url, { ...init, redirect: 'manual' });

/** The adapter. */
function withAuth(auth: TokenSource): typeof yourClient {
  return async (url, init) => {
    const headers = new Headers(init.headers);
    if (!auth.covers(url) || headers.has('authorization')) return yourClient(url, init);
    return sendWithToken(auth, {
      waitForToken: () => auth.getToken({ signal: init.signal ?? undefined }),
      send({ authorization }) {
        headers.set('authorization', authorization);
        return yourClient(url, { ...init, headers });
      },
      isRejected: ({ status }) => status === 401,
      canResend: () => isReplayable(init.body),
      discard: (response) => response.body?.cancel(),
    });
  };
}

/** What the contract asks for, in the words of your client. */
function initOf({ method, headers, body, signal, timeoutMs }: HttpClientRequest): RequestInit {
  return {
    method,
    headers: { ...headers },
    body: body?.kind === 'json' ? JSON.stringify(body.value) : (body?.value ?? null),
    signal: signal ?? (timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs)),
    ...(body?.kind === 'stream' && { duplex: 'half' }),
  };
}

const contract = httpClientContract(
  ({ options }) => {
    const auth = createServiceAuth(options);
    const authenticated = withAuth(auth);
    return {
      auth,
      async request(request) {
        const response = await (request.optOut ? yourClient : authenticated)(request.url, initOf(request));
        return { status: response.status, text: await response.text() };
      },
      close: () => auth.close(),
    };
  },
  { followsRedirects: false },
);
for (const { name, run } of contract) await test(name, run);

// An adapter for a client without a published one, and the contract that proves it.
//
//   npx --yes pnpm@12 example examples/own-adapter.ts
import { test } from 'node:test';
import { createServiceAuth, type TokenSource } from '@service-auth/core';
import { hasAuthorization, isReplayable, redirectTo, sendWithToken } from '@service-auth/core/http';
import { type HttpClientRequest, httpClientContract } from '@service-auth/testing';

/** Stands for your client. It follows no redirects, so that the token goes nowhere by itself. */
const yourClient = (url: string, init: RequestInit): Promise<Response> => fetch(url, { ...init, redirect: 'manual' });

/** The adapter. */
function withAuth(auth: TokenSource): typeof yourClient {
  return async (url, init) => {
    const headers = new Headers(init.headers);
    if (!auth.covers(url) || hasAuthorization([...headers], auth)) return yourClient(url, init);
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

/** Translates a request of the contract into the options of your client. */
function initOf({ method, headers, body, signal, timeoutMs }: HttpClientRequest): RequestInit {
  return {
    method,
    headers: { ...headers },
    body: body?.kind === 'json' ? JSON.stringify(body.value) : (body?.value ?? null),
    signal: signal ?? (timeoutMs === undefined ? null : AbortSignal.timeout(timeoutMs)),
    ...(body?.kind === 'stream' && { duplex: 'half' }),
  };
}

/** Follows redirects with a client that follows none, as an application would. The adapter judges each request of the way anew. */
async function follow(send: typeof yourClient, from: string, init: RequestInit, followed = 0): Promise<Response> {
  const response = await send(from, init);
  const { status, headers } = response;
  const answer = { status, location: headers.get('location'), method: init.method ?? 'GET' };
  const redirect = redirectTo({ ...answer, from, followed, canResend: isReplayable(init.body) });
  if (!redirect) return response;
  await response.body?.cancel();
  const { url, becomesGet, dropHeaders } = redirect;
  const kept = new Headers(init.headers);
  for (const name of dropHeaders) kept.delete(name);
  const next = { ...init, headers: kept, ...(becomesGet && { method: 'GET', body: null }) };
  return follow(send, url.href, next, followed + 1);
}

const contract = httpClientContract(({ options }) => {
  const auth = createServiceAuth(options);
  const authenticated = withAuth(auth);
  return {
    auth,
    async request(request) {
      const response = await follow(request.optOut ? yourClient : authenticated, request.url, initOf(request));
      return { status: response.status, text: await response.text() };
    },
    close: () => auth.close(),
  };
});
for (const { name, run } of contract) await test(name, run);

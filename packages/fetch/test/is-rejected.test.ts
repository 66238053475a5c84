import { createAuth, startService } from '@service-auth/test-support/service';
import * as undici from 'undici';
import { expect, expectTypeOf, test } from 'vitest';
import { type AuthFetchOptions, createAuthFetch } from '../src/index.ts';

const expired = { status: 200, body: '{"error":"token_expired"}' };

/** A fetch with a rule. */
async function connect(isRejected: AuthFetchOptions['isRejected']) {
  const service = await startService();
  const auth = createAuth(service);
  const rejections = () => auth.events.filter(({ type }) => type === 'token_rejected').length;
  return { service, rejections, url: `${service.baseUrl}/api/v1/`, authFetch: createAuthFetch(auth, { isRejected }) };
}

test('a rule can read the body of a 200 that says that the token expired, and the caller can read its own', async () => {
  const { service, rejections, url, authFetch } = await connect(async (response) => {
    const { error } = (await response.json()) as { error?: string };
    return error === 'token_expired';
  });
  service.api.next(expired);
  expect(await (await authFetch(url)).json()).toMatchObject({ bearer: 'valid' });
  expect(service.counts).toMatchObject({ issued: 2, apiRequests: 2 });
  expect(rejections()).toBe(1);
});

test('a large answer whose clone was not read, or only begun, arrives whole', async () => {
  const body = 'x'.repeat(3_000_000);
  const begin = async ({ body }: Response) => {
    const reader = body?.getReader();
    await reader?.read();
    reader?.releaseLock();
    return false;
  };
  for (const rule of [() => false, begin]) {
    const { service, url, authFetch } = await connect(rule);
    service.api.next({ status: 200, body });
    expect((await (await authFetch(url)).text()).length).toBe(body.length);
  }
});

/** A fetch that answers once with a body that never ends, and a list of what became of it. */
function createEndless(status: number) {
  const became: string[] = [];
  const source = {
    pull: (controller: ReadableStreamDefaultController) => controller.enqueue(new Uint8Array(1)),
    cancel: () => void became.push('cancelled'),
  };
  const answers = [new Response(new ReadableStream(source, { highWaterMark: 0 }), { status })];
  return { became, fetch: async (..._given: Parameters<typeof fetch>) => answers.shift() ?? new Response('{}') };
}

test('the answer that was rejected is freed with its clone', async () => {
  const service = await startService();
  const { became, fetch } = createEndless(403);
  const authFetch = createAuthFetch(createAuth(service), { fetch, isRejected: ({ status }) => status === 403 });
  expect((await authFetch(`${service.baseUrl}/api/v1/`)).status).toBe(200);
  expect(became).toEqual(['cancelled']);
});

test('a caller that cancels the answer frees it, because the clone is freed already', async () => {
  const service = await startService();
  const { became, fetch } = createEndless(200);
  const authFetch = createAuthFetch(createAuth(service), { fetch, isRejected: () => false });
  const response = await authFetch(`${service.baseUrl}/api/v1/`);
  await response.body?.cancel();
  expect(became).toEqual(['cancelled']);
});

test('the answer is freed when the rule throws, and that is what the call rejects with', async () => {
  const service = await startService();
  const { became, fetch } = createEndless(200);
  const error = new Error('of the rule');
  const isRejected = () => {
    throw error;
  };
  const authFetch = createAuthFetch(createAuth(service), { fetch, isRejected });
  await expect(authFetch(`${service.baseUrl}/api/v1/`)).rejects.toBe(error);
  expect(became).toEqual(['cancelled']);
});

test('without a rule nothing is cloned', async () => {
  const service = await startService();
  const fetch = async (..._given: Parameters<typeof globalThis.fetch>) =>
    Object.assign(new Response('{}'), {
      clone() {
        throw new Error('was cloned');
      },
    });
  expect((await createAuthFetch(createAuth(service), { fetch })(`${service.baseUrl}/api/v1/`)).status).toBe(200);
});

test('an answer without a body is no problem, and the clone knows the redirects before it', async () => {
  const seen: [status: number, redirected: boolean][] = [];
  const { service, url, authFetch } = await connect(({ status, redirected }) => {
    seen.push([status, redirected]);
    return false;
  });
  service.api.next({ status: 302, headers: { location: '/api/v1/on' } }, { status: 204 });
  expect((await authFetch(url)).status).toBe(204);
  expect(seen).toEqual([[204, true]]);
});

test('the rule gets the answers of the fetch that was given', async () => {
  const auth = createAuth(await startService());
  const ofUndici = createAuthFetch(auth, {
    fetch: undici.fetch,
    isRejected(response) {
      expectTypeOf(response).toEqualTypeOf<undici.Response>();
      return false;
    },
  });
  expectTypeOf(ofUndici).toEqualTypeOf<typeof undici.fetch>();
  const ofGlobal = createAuthFetch(auth, {
    isRejected(response) {
      expectTypeOf(response).toEqualTypeOf<Response>();
      return false;
    },
  });
  expectTypeOf(ofGlobal).toEqualTypeOf<typeof fetch>();
});

test('a rule that is no function is refused at once', async () => {
  const auth = createAuth(await startService());
  const message = '[service-auth/fetch] The option `isRejected` must be a function.';
  expect(() => createAuthFetch(auth, { isRejected: 403 as never })).toThrow(new TypeError(message));
});

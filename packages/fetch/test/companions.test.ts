import { createAuth, startService } from '@service-auth/test-support/service';
import ky from 'ky';
import { createFetch, ofetch } from 'ofetch';
import createClient from 'openapi-fetch';
import { expect, test } from 'vitest';
import { createAuthFetch } from '../src/index.ts';

interface Paths {
  '/items': {
    get: { responses: { 200: { content: { 'application/json': { bearer: string } } } } };
    post: {
      requestBody: { content: { 'application/json': { name: string } } };
      responses: { 200: { content: { 'application/json': { bearer: string } } } };
    };
  };
}

const item = { name: 'Grüße' };

test('ky sends the token, and what it is told to send again', async () => {
  const service = await startService();
  const auth = createAuth(service);
  const api = ky.create({
    baseUrl: `${service.baseUrl}/api/v1/`,
    fetch: createAuthFetch(auth, { bufferRequests: true }),
    retry: 0,
  });
  expect(await api.get('items').json()).toMatchObject({ bearer: 'valid' });
  service.revoke('all');
  expect(await api.post('items', { json: item }).json()).toMatchObject({
    bearer: 'valid',
    body: { text: JSON.stringify(item) },
  });
  expect(service.counts).toMatchObject({ issued: 2, apiUnauthorized: 1 });
});

test('ky covers the wait for a token by its timeout', async () => {
  const service = await startService();
  const paused = service.tokenEndpoint.pauseNext();
  const api = ky.create({ fetch: createAuthFetch(createAuth(service)), retry: 0, timeout: 20 });
  await expect(api.get(`${service.baseUrl}/api/v1/`)).rejects.toMatchObject({ name: 'TimeoutError' });
  paused.resume();
});

test.each([
  ['ky', (url: string, fetch: typeof globalThis.fetch) => ky.get(url, { fetch, retry: 0, timeout: 1_500 })],
  [
    'ofetch',
    (url: string, fetch: typeof globalThis.fetch) => createFetch({ fetch })(url, { retry: 0, timeout: 1_500 }),
  ],
])('a time-out of %s that ends the wait for a token is told by an event', async (_, get) => {
  const service = await startService();
  const auth = createAuth(service);
  const paused = service.tokenEndpoint.pauseNext();
  await expect(get(`${service.baseUrl}/api/v1/`, createAuthFetch(auth))).rejects.toMatchObject({
    message: expect.stringMatching(/time|abort/i),
  });
  const pending = { code: 'ERR_TOKEN_PENDING', waitsFor: 'token_endpoint', count: 1 };
  expect(auth.events).toMatchObject([{ type: 'token_unavailable', ...pending }]);
  paused.resume();
});

test('openapi-fetch sends the token, and what it is told to send again', async () => {
  const service = await startService();
  const auth = createAuth(service);
  const api = createClient<Paths>({
    baseUrl: `${service.baseUrl}/api/v1`,
    fetch: createAuthFetch(auth, { bufferRequests: true }),
  });
  expect((await api.GET('/items')).data).toMatchObject({ bearer: 'valid' });
  service.revoke('all');
  expect((await api.POST('/items', { body: item })).data).toMatchObject({
    bearer: 'valid',
    body: { text: JSON.stringify(item) },
  });
  expect(service.counts).toMatchObject({ issued: 2, apiUnauthorized: 1 });
});

test('ofetch sends the token, and the same request again', async () => {
  const service = await startService();
  const auth = createAuth(service);
  const api = ofetch.create({ baseURL: `${service.baseUrl}/api/v1` }, { fetch: createAuthFetch(auth) });
  expect(await api('/items')).toMatchObject({ bearer: 'valid' });
  service.revoke('all');
  expect(await api('/items', { method: 'POST', body: item })).toMatchObject({
    bearer: 'valid',
    body: { text: JSON.stringify(item) },
  });
  expect(service.counts).toMatchObject({ issued: 2, apiUnauthorized: 1 });
});

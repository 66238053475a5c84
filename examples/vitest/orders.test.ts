// Tests of an application with vitest: each has a service of its own on loopback. Nothing is mocked.
import { clearMemoryStore, startTestService, type TestService } from '@service-auth/testing';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

let service: TestService;
let readOrder: typeof import('./orders.ts').readOrder;

beforeEach(async () => {
  service = await startTestService();
  for (const [name, value] of Object.entries(service.env)) vi.stubEnv(name, value);
  // The module creates its client when it is imported, and the client keeps its token, so each test imports the module anew.
  vi.resetModules();
  ({ readOrder } = await import('./orders.ts'));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  clearMemoryStore();
  await service.close();
});

test('orders are read with one token', async () => {
  const orders = await Promise.all([readOrder(1), readOrder(2)]);
  expect(orders.map(({ path }) => path)).toEqual(['/api/v1/orders/1', '/api/v1/orders/2']);
  expect(service.counts).toMatchObject({ issued: 1, apiUnauthorized: 0 });
});

test('a revoked token is replaced', async () => {
  await readOrder(1);
  service.revoke('all');
  await readOrder(2);
  expect(service.counts.issued).toBe(2);
});

test('without a token, the error says when to try again', async () => {
  service.tokenEndpoint.always({ status: 503 });
  const expected = { code: 'ERR_TOKEN_ENDPOINT', retryAt: expect.any(Number) };
  await expect(readOrder(1)).rejects.toMatchObject(expected);
  expect(service.counts.apiRequests).toBe(0);
});

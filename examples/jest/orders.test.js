/**
 * Tests of an application with Jest: each has a service of its own on loopback. Nothing is mocked.
 *
 * @jest-environment node
 */
const { clearMemoryStore, startTestService } = require('@service-auth/testing');

let service;
let readOrder;

beforeEach(async () => {
  service = await startTestService();
  process.env.SERVICE_AUTH_URL = service.authUrl;
  process.env.SERVICE_BASE_URL = service.baseUrl;
  process.env.SERVICE_AUTH_AUDIENCE = service.credentials.audience;
  process.env.SERVICE_AUTH_CLIENT_ID = service.credentials.clientId;
  process.env.SERVICE_AUTH_CLIENT_SECRET = service.credentials.clientSecret;
  // The module reads the environment when it is required, so each test requires it anew.
  jest.resetModules();
  ({ readOrder } = require('./orders.js'));
});

afterEach(async () => {
  // Clients without a store share the memory of the process, whatever module created them.
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
  await expect(readOrder(1)).rejects.toMatchObject({ code: 'ERR_TOKEN_ENDPOINT', retryAt: expect.any(Number) });
  expect(service.counts.apiRequests).toBe(0);
});

test('a module that is required again has no token of the one before, once the memory is cleared', async () => {
  await readOrder(1);
  jest.resetModules();
  await require('./orders.js').readOrder(2);
  expect(service.counts.issued).toBe(1);
  clearMemoryStore();
  jest.resetModules();
  await require('./orders.js').readOrder(3);
  expect(service.counts.issued).toBe(2);
});

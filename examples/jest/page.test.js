/**
 * A test of a page in jsdom, which has neither `fetch` nor `TextEncoder`. The page may import Service Auth all the same, and its API is a mock.
 *
 * @jest-environment jsdom
 */
jest.mock('./orders.js', () => ({ readOrder: async (id) => ({ path: `/api/v1/orders/${id}` }) }));
const { isServiceAuthError } = require('@service-auth/core');
const { readOrder } = require('./orders.js');

test('the page shows an order', async () => {
  document.body.textContent = (await readOrder(1)).path;
  expect(document.body.innerHTML).toBe('/api/v1/orders/1');
  expect(isServiceAuthError(new Error('no order'))).toBe(false);
});
